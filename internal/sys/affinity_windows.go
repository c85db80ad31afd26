package sys

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// CPU numbers. Windows numbers logical CPUs within processor groups of at most 64, and a thread's mask lies in one group. Here
// the groups are laid end to end without gaps: CPU n is the n-th active processor, counted through group 0, then group 1, and
// so on. With groups of 40 and 40, CPU 45 is number 5 of group 1. On a machine with one group these are Windows' own numbers.

var (
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")

	procGetActiveProcessorGroupCount = kernel32.NewProc("GetActiveProcessorGroupCount")
	procGetActiveProcessorCount      = kernel32.NewProc("GetActiveProcessorCount")
	procGetProcessAffinityMask       = kernel32.NewProc("GetProcessAffinityMask")
	procGetProcessGroupAffinity      = kernel32.NewProc("GetProcessGroupAffinity")
	procSetThreadGroupAffinity       = kernel32.NewProc("SetThreadGroupAffinity")
	procGetThreadGroupAffinity       = kernel32.NewProc("GetThreadGroupAffinity")
	procGetCurrentProcessorNumberEx  = kernel32.NewProc("GetCurrentProcessorNumberEx")
)

// groupAffinity is GROUP_AFFINITY of winnt.h.
type groupAffinity struct {
	mask  uintptr
	group uint16
	_     [3]uint16
}

// SetThreadAffinity confines the calling thread to cpus, which must not be empty and must lie in one processor group, or the error
// is [errors.ErrUnsupported]. The caller has locked its goroutine to the thread. Does not block.
func SetThreadAffinity(cpus []int) error {
	sizes := groupSizes()
	var to groupAffinity
	for _, cpu := range cpus {
		group, bit, ok := locate(sizes, cpu)
		if !ok {
			return fmt.Errorf("there is no CPU %d", cpu)
		}
		if to.mask != 0 && to.group != group {
			return fmt.Errorf("CPUs of more than one processor group for one thread: %w", errors.ErrUnsupported)
		}
		to.group = group
		to.mask |= 1 << bit
	}
	ok, _, err := procSetThreadGroupAffinity.Call(uintptr(windows.CurrentThread()), uintptr(unsafe.Pointer(&to)), 0)
	if ok == 0 {
		return os.NewSyscallError("SetThreadGroupAffinity", err)
	}
	return nil
}

// ThreadAffinity returns the CPUs that the calling thread may use, in ascending order. Does not block.
func ThreadAffinity() ([]int, error) {
	var at groupAffinity
	ok, _, err := procGetThreadGroupAffinity.Call(uintptr(windows.CurrentThread()), uintptr(unsafe.Pointer(&at)))
	if ok == 0 {
		return nil, os.NewSyscallError("GetThreadGroupAffinity", err)
	}
	return at.cpus(groupSizes()), nil
}

// AllowedCPUs returns the CPUs that this process may use, in ascending order. A process that was confined, as by "start /affinity",
// may use that mask of its group; one that was not may put threads into every group. Does not block.
func AllowedCPUs() ([]int, error) {
	sizes := groupSizes()
	var process, system uintptr
	ok, _, err := procGetProcessAffinityMask.Call(uintptr(windows.CurrentProcess()),
		uintptr(unsafe.Pointer(&process)), uintptr(unsafe.Pointer(&system)))
	if ok == 0 {
		return nil, os.NewSyscallError("GetProcessAffinityMask", err)
	}
	if len(sizes) > 1 && process == system { // not confined; both are 0 if its threads are in several groups
		var cpus []int
		for cpu := range total(sizes) {
			cpus = append(cpus, cpu)
		}
		return cpus, nil
	}
	own := groupAffinity{mask: process}
	if len(sizes) > 1 {
		// The first of the process's groups is the one that the masks are of.
		groups := make([]uint16, len(sizes))
		n := uint16(len(groups))
		ok, _, err := procGetProcessGroupAffinity.Call(uintptr(windows.CurrentProcess()),
			uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(&groups[0])))
		if ok == 0 {
			return nil, os.NewSyscallError("GetProcessGroupAffinity", err)
		}
		own.group = groups[0]
	}
	return own.cpus(sizes), nil
}

// CurrentCPU returns the CPU that the calling thread runs on at this moment. Does not block.
func CurrentCPU() (int, error) {
	var at struct { // PROCESSOR_NUMBER of winnt.h
		group  uint16
		number uint8
		_      uint8
	}
	procGetCurrentProcessorNumberEx.Call(uintptr(unsafe.Pointer(&at))) // cannot fail
	sizes := groupSizes()
	return total(sizes[:min(int(at.group), len(sizes))]) + int(at.number), nil
}

// OnMainThread returns false. It matters where a process's mask is that of its main thread, and here a process has its own.
func OnMainThread() bool { return false }

// groupSizes returns how many active CPUs each processor group has.
func groupSizes() []int {
	n, _, _ := procGetActiveProcessorGroupCount.Call()
	sizes := make([]int, uint16(n))
	for group := range sizes {
		count, _, _ := procGetActiveProcessorCount.Call(uintptr(group))
		sizes[group] = int(uint32(count))
	}
	return sizes
}

// locate finds the group of a CPU and its number in it.
func locate(sizes []int, cpu int) (group uint16, bit int, ok bool) {
	if cpu < 0 {
		return 0, 0, false
	}
	for group, size := range sizes {
		if cpu < size {
			return uint16(group), cpu, true
		}
		cpu -= size
	}
	return 0, 0, false
}

// cpus is the inverse of locate, for a whole mask.
func (g groupAffinity) cpus(sizes []int) []int {
	if int(g.group) >= len(sizes) {
		return nil
	}
	before := total(sizes[:g.group])
	cpus := make([]int, 0, bits.OnesCount64(uint64(g.mask)))
	for mask := uint64(g.mask); mask != 0; mask &= mask - 1 {
		cpus = append(cpus, before+bits.TrailingZeros64(mask))
	}
	return cpus
}

func total(sizes []int) int {
	n := 0
	for _, size := range sizes {
		n += size
	}
	return n
}
