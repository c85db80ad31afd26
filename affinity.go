package loadtest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// A CPUSet is a list of logical CPU numbers in ascending order, each once. Its text form, in JSON too, is "0-3,8"; see [ParseCPUSet].
// Empty means "not pinned".
//
// On Linux the numbers are the kernel's. On Windows, processor groups are laid end to end: with two groups of 40 CPUs, number 45 is
// CPU 5 of group 1.
type CPUSet []int

// maxCPUs bounds CPU numbers, so that a slip like "0-999999999" is an error and not a heap of memory. Linux stops at 8192, Windows
// at 64 in each of some tens of groups.
const maxCPUs = 1 << 16

// ParseCPUSet reads a list of CPUs as taskset -c and the kernel's own files write it. Items are separated by commas, with spaces
// around them if need be:
//
//	7           one CPU
//	0-3         a range, both ends included
//	0-31:2      every second CPU of a range, from its start on
//	0x55555555  a mask, CPU 0 being the lowest bit
//
// Items may be in any order and overlap. The empty string is the empty set, but an empty item, or a mask that selects nothing, is an
// error, as is a CPU number over 65535. The CPUs need not exist.
func ParseCPUSet(s string) (CPUSet, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	chosen := make([]bool, maxCPUs)
	for item := range strings.SplitSeq(s, ",") {
		if err := chooseItem(chosen, strings.TrimSpace(item)); err != nil {
			return nil, fmt.Errorf("loadtest: CPU list: item %q: %w", item, err)
		}
	}
	var set CPUSet
	for cpu, ok := range chosen {
		if ok {
			set = append(set, cpu)
		}
	}
	return set, nil
}

var errCPUItem = errors.New(`want a CPU "7", a range "0-3", a stride "0-31:2" or a mask "0x5"`)

// chooseItem marks the CPUs of one item.
func chooseItem(chosen []bool, item string) error {
	if len(item) > 1 && item[0] == '0' && item[1]|0x20 == 'x' {
		return chooseMask(chosen, item[2:])
	}
	span, stride, strided := strings.Cut(item, ":")
	low, high, ranged := strings.Cut(span, "-")
	if !ranged {
		high = low
	}
	first, err := parseCPU(low)
	if err != nil {
		return err
	}
	last, err := parseCPU(high)
	if err != nil {
		return err
	}
	step := 1
	if strided {
		if step, err = parseCPU(stride); err != nil {
			return err
		}
	}
	switch {
	case strided && (!ranged || step == 0):
		return errCPUItem
	case last < first:
		return fmt.Errorf("the range ends (%d) before it starts (%d)", last, first)
	}
	for cpu := first; cpu <= last; cpu += step {
		chosen[cpu] = true
	}
	return nil
}

func parseCPU(digits string) (int, error) {
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, errCPUItem
	case err != nil || n >= maxCPUs:
		return 0, fmt.Errorf("%s is more than %d", digits, maxCPUs-1)
	}
	return int(n), nil
}

// chooseMask marks the bits of a hexadecimal number of any length.
func chooseMask(chosen []bool, digits string) error {
	some := false
	for i := range len(digits) {
		digit, err := strconv.ParseUint(digits[i:i+1], 16, 8)
		if err != nil {
			return errCPUItem
		}
		lowest := 4 * (len(digits) - 1 - i)
		for bit := range 4 {
			if digit>>bit&1 == 0 {
				continue
			}
			if lowest+bit >= maxCPUs {
				return fmt.Errorf("the mask has bits over %d", maxCPUs-1)
			}
			chosen[lowest+bit] = true
			some = true
		}
	}
	if !some {
		return errors.New("the mask selects no CPU")
	}
	return nil
}

// String returns the shortest list of numbers and ranges, "0-3,8", in ascending order. [ParseCPUSet] reads it back.
func (s CPUSet) String() string {
	sorted := slices.Compact(slices.Sorted(slices.Values(s)))
	var b []byte
	for i := 0; i < len(sorted); {
		end := i + 1
		for end < len(sorted) && sorted[end] == sorted[end-1]+1 {
			end++
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(sorted[i]), 10)
		if end-i > 1 {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(sorted[end-1]), 10)
		}
		i = end
	}
	return string(b)
}

// MarshalText returns the text of String. It fails for a number that ParseCPUSet would refuse.
func (s CPUSet) MarshalText() ([]byte, error) {
	for _, cpu := range s {
		if cpu < 0 || cpu >= maxCPUs {
			return nil, fmt.Errorf("loadtest: CPU number %d is not within 0 to %d", cpu, maxCPUs-1)
		}
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads what [ParseCPUSet] reads.
func (s *CPUSet) UnmarshalText(text []byte) error {
	set, err := ParseCPUSet(string(text))
	if err != nil {
		return err
	}
	*s = set
	return nil
}

// AllowedCPUs returns the CPUs that this process may use: those that are online, and that its container, job or parent left to it.
// It is not affected by the pinning that this package does. On Linux it is the mask of the process's main thread, so that a
// program that has pinned that thread by other means gets the narrower set. Where the system does not tell (macOS, the BSDs), it
// is every CPU.
func AllowedCPUs() (CPUSet, error) {
	cpus, err := sys.AllowedCPUs()
	if err != nil {
		return nil, fmt.Errorf("loadtest: AllowedCPUs: %w", err)
	}
	return cpus, nil
}

// SplitCPUs divides the CPUs that this process may use between the generator and the server under test. Each side gets whole
// physical cores, so that no two hardware threads of one core work against each other, and the two sets have no CPU in common.
//
// generator is the number of cores for the generator; 0 means a quarter of them, rounded down, but at least one. The server
// gets all the others. The generator gets the cores with the highest numbers, since interrupts and the system's own work tend to be
// on CPU 0; and it gets them from as few NUMA nodes, and within a node from as few last-level caches, as taking them in order of
// node, cache and number allows.
//
// It is an error if there is only one core, since generator and server would share it, or if generator is negative or leaves no core
// to the server. Where the system does not tell which CPUs are siblings (outside Linux and Windows, or if /sys is not there),
// each CPU is taken for a core. SplitCPUs does not tell fast cores from slow ones: on a processor that has both, write the sets
// by hand. It pins nothing.
func SplitCPUs(generator int) (gen, server CPUSet, err error) {
	allowed, err := sys.AllowedCPUs()
	if err == nil {
		gen, server, err = split(cores(allowed), generator)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("loadtest: SplitCPUs: %w", err)
	}
	return gen, server, nil
}

// A core is one physical core: its CPUs that the process may use, and where it is. Node and cache are named by the lowest CPU
// number in them, among all that the system has, and 0 if unknown.
type core struct {
	cpus        CPUSet
	node, cache int
}

// singles makes each CPU a core of its own.
func singles(cpus CPUSet) []core {
	list := make([]core, len(cpus))
	for i, cpu := range cpus {
		list[i].cpus = CPUSet{cpu}
	}
	return list
}

// split gives the last generator cores, in the order of node, cache and number, to the generator.
func split(list []core, generator int) (gen, server CPUSet, err error) {
	var all CPUSet
	for _, c := range list {
		all = append(all, c.cpus...)
	}
	slices.Sort(all)
	switch {
	case generator < 0:
		return nil, nil, fmt.Errorf("the number of cores must not be negative (got %d)", generator)
	case len(all) < 2:
		return nil, nil, fmt.Errorf("this process may use one CPU only (%v); generator and server need a core each", all)
	case len(list) < 2:
		return nil, nil, fmt.Errorf("the CPUs this process may use (%v) are one core; generator and server need a core each", all)
	case generator >= len(list):
		return nil, nil, fmt.Errorf("%d cores for the generator leave none for the server: this process may use %d (CPUs %v)",
			generator, len(list), all)
	case generator == 0:
		generator = max(1, len(list)/4)
	}
	list = slices.SortedFunc(slices.Values(list), func(a, b core) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.cache, b.cache), slices.Compare(a.cpus, b.cpus))
	})
	for i, c := range list {
		if i < len(list)-generator {
			server = append(server, c.cpus...)
		} else {
			gen = append(gen, c.cpus...)
		}
	}
	slices.Sort(gen)
	slices.Sort(server)
	return gen, server, nil
}

// checkPin reports why threads or processes of ours could not be pinned to cpus; nil if they can, or if cpus is empty. Its errors
// want the name of the field in front. The order of cpus does not matter, but negative and repeated numbers are errors.
func checkPin(cpus CPUSet) error {
	if len(cpus) == 0 {
		return nil
	}
	if _, err := sys.ThreadAffinity(); err != nil { // on a system without pinning, this says so
		return fmt.Errorf("pin to CPUs %v: %w", cpus, err)
	}
	sorted := slices.Sorted(slices.Values(cpus))
	for i, cpu := range sorted {
		if cpu < 0 {
			return fmt.Errorf("%d is not a CPU number", cpu)
		}
		if i > 0 && cpu == sorted[i-1] {
			return fmt.Errorf("CPU %d is named twice", cpu)
		}
	}
	allowed, err := sys.AllowedCPUs()
	if err != nil {
		return fmt.Errorf("find the CPUs this process may use: %w", err)
	}
	missing := slices.DeleteFunc(sorted, func(cpu int) bool { return slices.Contains(allowed, cpu) })
	if len(missing) == 0 {
		return nil
	}
	what := CPUSet(missing).String()
	if len(missing) < len(cpus) {
		what += " of " + cpus.String()
	}
	if len(missing) == 1 {
		return fmt.Errorf("%s is not among the CPUs this process may use (%v)", what, CPUSet(allowed))
	}
	return fmt.Errorf("%s are not among the CPUs this process may use (%v)", what, CPUSet(allowed))
}

// runPinned runs f on a thread that is pinned to one CPU. The caller is a goroutine that was started for this and that returns
// straight after: runPinned leaves it locked to the thread, so that the thread ends with it. That is how the pin is undone, and there
// is no other way: a thread that went back to the runtime's pool with its mask would pin whichever goroutines ran on it next, and each
// thread it cloned. If pinning fails, f is not run.
//
// What keeps the mask on this one thread:
//
//   - The runtime does not clone threads from a locked thread but leaves that to its template thread (newm in runtime/proc.go). It
//     starts the template thread in the first LockOSThread of the process, on the way in, while the thread is as it was
//     found. Hence the order here, lock and then pin, is all the precaution there is to take.
//   - A goroutine that exits locked ends its thread, which hands its P over while it still counts as locked (gdestroy, mexit).
//   - The main thread is the exception: mexit does not end it but parks it for good. The mask would stay with the process's
//     first thread, where AllowedCPUs, and every tool that goes by process id, reads it as that of the process. So if this
//     goroutine happens to be on the main thread, it holds that and lets a second goroutine, which then must be on another,
//     take its place. The second one is the one that exits locked.
//
// A process that f starts, too, inherits the mask on Linux, before its first instruction.
func runPinned(cpu int, f func()) error {
	runtime.LockOSThread()
	if !sys.OnMainThread() {
		return pinAndRun(cpu, f)
	}
	defer runtime.UnlockOSThread() // its mask was not touched
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done) // also if f calls runtime.Goexit
		runtime.LockOSThread()
		err = pinAndRun(cpu, f)
	}()
	<-done
	return err
}

// pinAndRun pins the calling thread, which is locked, checks that the system did as it said, and runs f.
func pinAndRun(cpu int, f func()) error {
	err := sys.SetThreadAffinity([]int{cpu})
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w (a sandbox may forbid it; without CPUs nothing is pinned)", err)
	}
	if err != nil {
		return fmt.Errorf("pin a thread to CPU %d: %w", cpu, err)
	}
	got, err := sys.ThreadAffinity()
	if err != nil {
		return fmt.Errorf("pin a thread to CPU %d: read back: %w", cpu, err)
	}
	if !slices.Equal(got, []int{cpu}) {
		return fmt.Errorf("pin a thread to CPU %d: the system set %v instead", cpu, CPUSet(got))
	}
	f()
	return nil
}
