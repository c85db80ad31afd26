package loadtest

import (
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/loadtest-go/loadtest/internal/sys"
)

func TestParseCPUSet(t *testing.T) {
	check := func(in string, want CPUSet, text string) {
		t.Helper()
		got, err := ParseCPUSet(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseCPUSet(%q) = %v, %v, want %v", in, []int(got), err, []int(want))
		}
		if got.String() != text {
			t.Errorf("ParseCPUSet(%q).String() = %q, want %q", in, got.String(), text)
		}
	}
	check("", nil, "")
	check("  ", nil, "")
	check("0", CPUSet{0}, "0")
	check("0-3,8", CPUSet{0, 1, 2, 3, 8}, "0-3,8")
	check("8,3,2-2,1,0,3", CPUSet{0, 1, 2, 3, 8}, "0-3,8")
	check(" 1 ,\t4-5\n", CPUSet{1, 4, 5}, "1,4-5")
	check("0-6:3", CPUSet{0, 3, 6}, "0,3,6")
	check("1-2:7", CPUSet{1}, "1")
	check("0x1", CPUSet{0}, "0")
	check("0XfF", CPUSet{0, 1, 2, 3, 4, 5, 6, 7}, "0-7")
	check("0x3, 9", CPUSet{0, 1, 9}, "0-1,9")
	check("0x8000000000000000"+strings.Repeat("0", 16), CPUSet{127}, "127")
	check("0x"+strings.Repeat("0", 99999)+"4", CPUSet{2}, "2")
	check("65535", CPUSet{65535}, "65535")
}

// The pairs are those of taskset's manual and help.
func TestParseCPUSetMasks(t *testing.T) {
	for _, pair := range [][2]string{{"0-31:2", "0x55555555"}, {"0,3,7-11", "0xF89"}} {
		list, err := ParseCPUSet(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		mask, err := ParseCPUSet(pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(list, mask) {
			t.Errorf("%s is %v, but %s is %v", pair[0], list, pair[1], mask)
		}
	}
}

func TestParseCPUSetErrors(t *testing.T) {
	check := func(in, want string) {
		t.Helper()
		got, err := ParseCPUSet(in)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "loadtest: ") {
			t.Errorf("ParseCPUSet(%q) = %v, %v, want an error with %q", in, got, err, want)
		}
	}
	check(",", `item "": want a CPU`)
	check("0,,1", `item ""`)
	check("0,x", `item "x": want a CPU`)
	check("-1", `want a CPU`)
	check("+1", `want a CPU`)
	check("1_0", `want a CPU`)
	check("0-", `want a CPU`)
	check("0 - 3", `want a CPU`)
	check("0-1-2", `want a CPU`)
	check("4:2", `want a CPU`)
	check("0-4:0", `want a CPU`)
	check("0-4:", `want a CPU`)
	check("3-1", `ends (1) before it starts (3)`)
	check("0-999999999", `999999999 is more than 65535`)
	check("99999999999999999999", `is more than 65535`)
	check("65536", `is more than 65535`)
	check("0x", `selects no CPU`)
	check("0x00", `selects no CPU`)
	check("0x1g", `want a CPU`)
	check("0x1"+strings.Repeat("0", maxCPUs/4), `bits over 65535`)
}

func FuzzParseCPUSet(f *testing.F) {
	for _, seed := range []string{"", "0-3,8", "0-31:2", "0x55555555", " 1 , 2-4:2,0xF89", "0-999999999", "65535,0x", "3-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		set, err := ParseCPUSet(in)
		if err != nil {
			return
		}
		if !slices.IsSorted(set) || len(slices.Compact(slices.Clone(set))) != len(set) {
			t.Fatalf("ParseCPUSet(%q) = %v is not sorted and unique", in, []int(set))
		}
		text, err := set.MarshalText()
		if err != nil {
			t.Fatalf("MarshalText of %v: %v", []int(set), err)
		}
		var back CPUSet
		if err := back.UnmarshalText(text); err != nil || !slices.Equal(back, set) {
			t.Fatalf("%q reads back as %v, %v, want %v", text, []int(back), err, []int(set))
		}
	})
}

func TestCPUSetText(t *testing.T) {
	if got := (CPUSet{8, 1, 0, 1, 2}).String(); got != "0-2,8" {
		t.Errorf("String of an unsorted set = %q, want 0-2,8", got)
	}
	got, err := json.Marshal(struct{ CPUs, None CPUSet }{CPUs: CPUSet{0, 1, 8}})
	if want := `{"CPUs":"0-1,8","None":""}`; err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v, want %s", got, err, want)
	}
	set := CPUSet{7}
	if err := json.Unmarshal([]byte(`"0x5"`), &set); err != nil || !slices.Equal(set, CPUSet{0, 2}) {
		t.Errorf("Unmarshal = %v, %v, want 0,2", set, err)
	}
	if err := json.Unmarshal([]byte(`"a"`), &set); err == nil || !slices.Equal(set, CPUSet{0, 2}) {
		t.Errorf("Unmarshal of nonsense = %v, %v, want an error and the set as it was", set, err)
	}
	if _, err := (CPUSet{-1}).MarshalText(); err == nil {
		t.Error("MarshalText of a negative number succeeded")
	}
	if _, err := (CPUSet{maxCPUs}).MarshalText(); err == nil {
		t.Error("MarshalText of a number that ParseCPUSet refuses succeeded")
	}
}

func TestAllowedCPUs(t *testing.T) {
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) == 0 || !slices.IsSorted(cpus) {
		t.Errorf("AllowedCPUs() = %v, want some, sorted", cpus)
	}
	if len(cpus) != runtime.NumCPU() {
		t.Errorf("AllowedCPUs() = %v, but the runtime counts %d", cpus, runtime.NumCPU())
	}
}

func TestSplit(t *testing.T) {
	// Two nodes with interleaved numbers and two caches in each; two CPUs in a core.
	var numa []core
	for i := range 8 {
		numa = append(numa, core{cpus: CPUSet{i, i + 8}, node: i % 2, cache: i % 4})
	}
	tests := []struct {
		name        string
		cores       []core
		generator   int
		gen, server string
	}{
		{"two CPUs", singles(CPUSet{0, 1}), 0, "1", "0"},
		{"three", singles(CPUSet{0, 1, 2}), 0, "2", "0-1"},
		{"a quarter", singles(CPUSet{0, 1, 2, 3, 4, 5, 6, 7}), 0, "6-7", "0-5"},
		{"a quarter rounded down", singles(CPUSet{0, 1, 2, 3, 4, 5, 6}), 0, "6", "0-5"},
		{"all but one", singles(CPUSet{2, 5, 9}), 2, "5,9", "2"},
		{"out of order", singles(CPUSet{10, 9, 2}), 1, "10", "2,9"},
		{"siblings stay together", []core{{cpus: CPUSet{0, 2}}, {cpus: CPUSet{1, 3}}}, 1, "1,3", "0,2"},
		{"one cache", numa, 2, "3,7,11,15", "0-2,4-6,8-10,12-14"},
		{"one node", numa, 4, "1,3,5,7,9,11,13,15", "0,2,4,6,8,10,12,14"},
		{"two nodes if need be", numa, 5, "1,3,5-7,9,11,13-15", "0,2,4,8,10,12"},
	}
	for _, test := range tests {
		gen, server, err := split(test.cores, test.generator)
		if err != nil || gen.String() != test.gen || server.String() != test.server {
			t.Errorf("%s: split = %v and %v, %v, want %s and %s", test.name, gen, server, err, test.gen, test.server)
		}
	}
}

func TestSplitErrors(t *testing.T) {
	tests := []struct {
		name      string
		cores     []core
		generator int
		want      string
	}{
		{"negative", singles(CPUSet{0, 1}), -1, "must not be negative (got -1)"},
		{"one CPU", singles(CPUSet{3}), 0, "one CPU only (3)"},
		{"one core", []core{{cpus: CPUSet{0, 4}}}, 1, "(0,4) are one core"},
		{"none left", singles(CPUSet{0, 1}), 2, "2 cores for the generator leave none for the server: this process may use 2 (CPUs 0-1)"},
	}
	for _, test := range tests {
		gen, server, err := split(test.cores, test.generator)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: split = %v and %v, %v, want an error with %q", test.name, gen, server, err, test.want)
		}
	}
}

func TestSplitCPUs(t *testing.T) {
	allowed, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	gen, server, err := SplitCPUs(0)
	if len(cores(allowed)) < 2 {
		if err == nil {
			t.Errorf("SplitCPUs(0) = %v and %v of one core, want an error", gen, server)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if both := slices.Sorted(slices.Values(slices.Concat(gen, server))); !slices.Equal(both, allowed) {
		t.Errorf("SplitCPUs(0) = %v and %v, which together are not %v", gen, server, allowed)
	}
	if len(gen) == 0 || len(server) == 0 {
		t.Errorf("SplitCPUs(0) = %v and %v, want some for each", gen, server)
	}
}

func TestCheckPin(t *testing.T) {
	if err := checkPin(nil); err != nil {
		t.Errorf("checkPin(nil) = %v, want nil", err)
	}
	skipUnlessPinnable(t)
	allowed, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	reversed := slices.Clone(allowed)
	slices.Reverse(reversed)
	if err := checkPin(reversed); err != nil {
		t.Errorf("checkPin(%v) = %v, want nil", reversed, err)
	}
	check := func(cpus CPUSet, want string) {
		t.Helper()
		if err := checkPin(cpus); err == nil || err.Error() != want {
			t.Errorf("checkPin(%v) = %v, want %s", []int(cpus), err, want)
		}
	}
	may := " among the CPUs this process may use (" + allowed.String() + ")"
	check(CPUSet{60000}, "60000 is not"+may)
	check(CPUSet{60001, 60000}, "60000-60001 are not"+may)
	check(CPUSet{allowed[0], 60000}, "60000 of "+allowed[:1].String()+",60000 is not"+may)
	check(CPUSet{allowed[0], -1}, "-1 is not a CPU number")
	check(CPUSet{allowed[0], allowed[0]}, "CPU "+allowed[:1].String()+" is named twice")
}

// TestRunPinned pins one thread after another to each CPU and looks where it runs.
func TestRunPinned(t *testing.T) {
	skipUnlessPinnable(t)
	allowed, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range allowed[:min(len(allowed), 8)] {
		var mask []int
		var maskErr error
		elsewhere, samples := 0, 0
		err := inGoroutine(func() error {
			return runPinned(cpu, func() {
				mask, maskErr = sys.ThreadAffinity()
				for range 2000 {
					runtime.Gosched()
					if at, err := sys.CurrentCPU(); err != nil || at != cpu {
						elsewhere++
					}
					samples++
				}
			})
		})
		if err != nil || samples == 0 {
			t.Fatalf("runPinned(%d) = %v, and took %d samples", cpu, err, samples)
		}
		if maskErr != nil || !slices.Equal(mask, []int{cpu}) {
			t.Errorf("on CPU %d: the thread's mask is %v, %v", cpu, mask, maskErr)
		}
		if elsewhere > 0 {
			t.Errorf("on CPU %d: %d of %d samples were on another CPU", cpu, elsewhere, samples)
		}
	}
	if after, err := AllowedCPUs(); err != nil || !slices.Equal(after, allowed) {
		t.Errorf("AllowedCPUs() after pinning = %v, %v, want %v as before", after, err, allowed)
	}
}

func TestRunPinnedFails(t *testing.T) {
	var ran atomic.Bool
	err := inGoroutine(func() error { return runPinned(60000, func() { ran.Store(true) }) })
	if err == nil || !strings.Contains(err.Error(), "CPU 60000") {
		t.Errorf("runPinned on a CPU that there is not = %v, want an error that names it", err)
	}
	if ran.Load() {
		t.Error("f ran although pinning had failed")
	}
}

// skipUnlessPinnable skips a test that pins to some CPU. On one CPU it would pass without any pinning.
func skipUnlessPinnable(t *testing.T) {
	t.Helper()
	cpus, err := sys.ThreadAffinity()
	if errors.Is(err, errors.ErrUnsupported) {
		if err := checkPin(CPUSet{0}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("checkPin = %v, want ErrUnsupported", err)
		}
		t.Skip(err)
	}
	if len(cpus) < 2 {
		t.Skip("only one CPU is allowed")
	}
}

// inGoroutine calls f as runPinned must be: in a goroutine that ends with it.
func inGoroutine(f func() error) error {
	done := make(chan error)
	go func() { done <- f() }()
	return <-done
}
