#!/usr/bin/env bash
# Runs the Windows tests of affinity and clocks under wine.
#
# Wanted: wine (64-bit), the MinGW compiler for x86_64, Go. On Debian: wine64 and gcc-mingw-w64-x86-64-win32. No display is needed.
# Without them the script says so and succeeds, but with CI=true it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
	echo "wine.sh: $1 is not installed; the Windows tests were not run"
	if [ "${CI:-}" = true ]; then exit 1; fi
	exit 0
}
wine=$(command -v wine || command -v wine64) || missing wine
cc=$(command -v x86_64-w64-mingw32-gcc) || missing x86_64-w64-mingw32-gcc
server=$(command -v wineserver || ls /usr/lib/wine/wineserver64 /usr/lib/wine/wineserver 2>/dev/null | head -n 1) || true
[ -n "$server" ] || missing wineserver

tmp=$(mktemp -d)
export WINEPREFIX=$tmp/prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=;bcryptprimitives=n"
unset DISPLAY WAYLAND_DISPLAY
cleanup() {
	"$server" -k 2>/dev/null || true # of this prefix only
	"$server" -w 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT

# Go's runtime takes random numbers from ProcessPrng, which wine has had since 9.0 only.
cat >"$tmp/prng.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size)
{
	return SystemFunction036(buffer, (ULONG)size);
}
C
"$cc" -shared -O1 -o "$tmp/bcryptprimitives.dll" "$tmp/prng.c" -ladvapi32

# -i waits until the prefix is complete; wine's complaint that there are no 32-bit programs is of no interest.
"$wine" wineboot -i >"$tmp/boot" 2>&1 || { cat "$tmp/boot"; exit 1; }
"$server" -w
cp "$tmp/bcryptprimitives.dll" "$WINEPREFIX/drive_c/windows/system32/"

run() { # package, pattern of tests
	local exe=$tmp/test.exe out=$tmp/out
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go test -c -o "$exe" "$1"
	echo "== $1 under $("$wine" --version 2>/dev/null)"
	if ! (cd "$1" && timeout 300 "$wine" "$exe" -test.v -test.timeout=4m -test.run "$2") >"$out" 2>"$out.err"; then
		cat "$out" "$out.err"
		echo "wine.sh: $1 failed"
		exit 1
	fi
	tr -d '\r' <"$out" | grep -E '^(---|    |PASS|ok)' || true
	if ! grep -q '^--- PASS' "$out"; then
		cat "$out.err"
		echo "wine.sh: no test of $1 ran"
		exit 1
	fi
}
run ./internal/sys .
run . 'CPUSet|AllowedCPUs|Split|Cores|Pin|Clock|CPUTime|ThisHost'
