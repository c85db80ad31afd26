package loadtest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFormatDuration(t *testing.T) {
	check := func(d time.Duration, want string) {
		t.Helper()
		if got := formatDuration(d); got != want {
			t.Errorf("formatDuration(%d) = %q, want %q", d, got, want)
		}
	}
	check(0, "0s")
	check(1, "1ns")
	check(999, "999ns")
	check(1000, "1.00us")
	check(87340, "87.3us")
	check(999499, "999us")
	check(999500, "1.00ms")
	check(9996*time.Microsecond, "10.0ms")
	check(12*time.Millisecond, "12.0ms")
	check(999500*time.Microsecond, "1.00s")
	check(1250*time.Millisecond, "1.25s")
	check(100*time.Second, "1m40s")
	check(125*time.Second, "2m5s")
	check(180*time.Second, "3m")
	check(90*time.Minute, "1h30m")
	check(-1250*time.Millisecond, "-1.25s")
	check(math.MinInt64, "-2562047h47m16s")
	check(math.MaxInt64, "2562047h47m16s")
}

func TestFormatRate(t *testing.T) {
	check := func(f float64, want string) {
		t.Helper()
		if got := formatRate(f); got != want {
			t.Errorf("formatRate(%v) = %q, want %q", f, got, want)
		}
	}
	check(0, "0")
	check(0.00001234, "0.0000123")
	check(0.5, "0.5")
	check(9.994, "9.99")
	check(9.996, "10.0")
	check(26.2, "26.2")
	check(999.94, "999.9")
	check(999.96, "1,000")
	check(110515.99, "110,516")
	check(1e20, "100,000,000,000,000,000,000")
}

func TestFormatCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 3688: "3,688", 123456: "123,456", 1234567: "1,234,567", -1000: "-1,000", -100: "-100",
		math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := formatCount(n); got != want {
			t.Errorf("formatCount(%d) = %q, want %q", n, got, want)
		}
	}
	if got := groupDigits("12345.6789"); got != "12,345.6789" {
		t.Errorf("a fraction is grouped: %q", got)
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 1023.4 * 1024: "1023 KiB", 1023.6 * 1024: "1.00 MiB", 223 << 20: "223 MiB", 1 << 50: "1024 TiB",
	} {
		if got := formatBytes(n); got != want {
			t.Errorf("formatBytes(%v) = %q, want %q", n, got, want)
		}
	}
}

func TestFormatShare(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0 %", 1e-9: "under 0.01 %", 0.00123: "0.12 %", 0.0123: "1.23 %", 0.107142: "10.7 %", 0.95: "95 %", 0.9993: "99.9 %",
		0.99999: "over 99.9 %", 1: "100 %", 1.5: "150 %", -1: "0 %",
	} {
		if got := formatShare(f); got != want {
			t.Errorf("formatShare(%v) = %q, want %q", f, got, want)
		}
	}
}

func TestFormatPlain(t *testing.T) {
	check := func(f float64, digits int, want string) {
		t.Helper()
		if got := formatPlain(f, digits); got != want {
			t.Errorf("formatPlain(%v, %d) = %q, want %q", f, digits, got, want)
		}
	}
	check(0, 7, "0")
	check(110515.98765, 7, "110516")
	check(92.8, 7, "92.8")
	check(1.0/3, 3, "0.333")
	check(1e-7, 3, "0.0000001")
	check(1234567, 3, "1230000")
	check(-2.5, 7, "-2.5")
	if s := formatPlain(math.MaxFloat64, 3); strings.ContainsAny(s, "eEIN") || len(s) != 309 {
		t.Errorf("the largest number is %q", s)
	}
}

func TestDurationScale(t *testing.T) {
	check := func(want string, ds ...time.Duration) {
		t.Helper()
		s := durationScale(ds...)
		var cells []string
		for _, d := range ds {
			cells = append(cells, s.format(float64(d)))
		}
		if got := strings.Join(append(cells, s.unit), " "); got != want {
			t.Errorf("%v are written %s, want %s", ds, got, want)
		}
	}
	check("us")
	check("0 us", 0)
	check("0.500 120.000 us", 500, 120*time.Microsecond)
	check("50.0 2,000.0 us", 50*time.Microsecond, 2*time.Millisecond)
	check("1.23 250.00 ms", 1230*time.Microsecond, 250*time.Millisecond)
	check("1.23 4,000.00 ms", 1230*time.Microsecond, 4*time.Second)
	check("0.500 12.000 s", 500*time.Millisecond, 12*time.Second)
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "plain ü €": "plain ü €", "a\nb\t\x1b[31m\x00": `a\nb\t\x1b[31m\x00`, "\xff\xfe": `\xff\xfe`, "\uFFFD": "\uFFFD", "\u202e": `\u202e`, `a"b'c`: `a"b'c`,
	} {
		if got := printable(s, 100); got != want {
			t.Errorf("printable(%q) = %q, want %q", s, got, want)
		}
	}
	if got := printable("abcdef", 3); got != "abc…" {
		t.Errorf("cut to 3 characters: %q", got)
	}
	if got := printable("abc", 3); got != "abc" {
		t.Errorf("3 characters of 3: %q", got)
	}
}

func TestWrap(t *testing.T) {
	check := func(text string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, wrap(text, 10)); diff != "" {
			t.Errorf("wrap(%q) (-want +got):\n%s", text, diff)
		}
	}
	check("", "")
	check("one two", "one two")
	check("one two three four", "one two", "three four")
	check("üüüüü üüüü x", "üüüüü üüüü", "x")
	check("a verylongwordindeed b", "a", "verylongwordindeed", "b")
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 client": plural(1, "client"), "64 clients": plural(64, "client"), "0 successes": plural(0, "success"), "1 success": plural(1, "success"),
		"3,688 successes": plural(3688, "success"),
	} {
		if got != want {
			t.Errorf("plural: %q, want %q", got, want)
		}
	}
}
