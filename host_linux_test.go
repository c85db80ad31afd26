package loadtest

import (
	"os"
	"strings"
	"testing"
)

func TestParseCPUModel(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		if got := parseCPUModel(strings.NewReader(text)); got != want {
			t.Errorf("parseCPUModel(%q) = %q, want %q", text, got, want)
		}
	}
	check("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t\t: a b\n\n"+
		"processor\t: 1\nmodel name\t: Another\n", "Intel(R) Xeon(R) Processor")
	check("processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n",
		"ARM implementer 0x41 part 0xd0c")
	check("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n",
		"Raspberry Pi 4 Model B Rev 1.4")
	check("processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300.000000MHz\n", "POWER9, altivec supported")
	check("processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n", "sifive,u74-mc")
	check("", "")
}

const procStat = `cpu  60 0 40 800 10 0 20 70 5 0
cpu0 10 1 20 300 5 2 12 30 5 0
cpu2 50 0 20 500 5 0 8 40 0 0
intr 12345 0 0
ctxt 99
`

func TestParseStealTime(t *testing.T) {
	check := func(text string, cpus CPUSet, steal, total uint64, ok bool) {
		t.Helper()
		gotSteal, gotTotal, gotOK := parseStealTime(strings.NewReader(text), cpus)
		if gotSteal != steal || gotTotal != total || gotOK != ok {
			t.Errorf("parseStealTime(%v) = %d, %d, %v, want %d, %d, %v", cpus, gotSteal, gotTotal, gotOK, steal, total, ok)
		}
	}
	check(procStat, CPUSet{0}, 30, 380, true)
	check(procStat, CPUSet{0, 2}, 70, 1003, true)
	check(procStat, CPUSet{1}, 0, 0, false)    // offline, or hidden by the container
	check(procStat, CPUSet{0, 1}, 0, 0, false) // a part is no answer
	check(procStat, nil, 0, 0, false)
	check("cpu0 1 2 3 4\n", CPUSet{0}, 0, 0, false) // older than steal time
	check("cpu0 1 2 3 4 5 6 7 x 0 0\n", CPUSet{0}, 0, 0, false)
	check("", CPUSet{0}, 0, 0, false)
}

func TestStealTime(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip(err)
	}
	steal, total, ok := stealTime(nil)
	if !ok || total == 0 || steal > total {
		t.Errorf("stealTime(nil) = %d, %d, %v, want a share of some ticks", steal, total, ok)
	}
}
