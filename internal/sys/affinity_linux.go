package sys

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxMask bounds the growth of a mask, in CPUs. Linux is built for at most 8192.
const maxMask = 1 << 16

// SetThreadAffinity confines the calling thread to cpus, which must not be empty. The caller has locked its goroutine to the thread.
// The kernel drops CPUs that are offline or outside the cpuset without a word; read the mask back with [ThreadAffinity].
// Does not block, but for the microseconds in which the kernel moves the thread to another CPU.
func SetThreadAffinity(cpus []int) error {
	top := 0
	for _, cpu := range cpus {
		if cpu < 0 || cpu >= maxMask {
			return fmt.Errorf("CPU number %d is out of range", cpu)
		}
		top = max(top, cpu)
	}
	mask := unix.NewCPUSet(top + 1)
	for _, cpu := range cpus {
		mask.Set(cpu)
	}
	// A mask shorter than the kernel's is taken as filled up with zeros.
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinityDynamic(0, mask))
}

// ThreadAffinity returns the CPUs that the calling thread may use, in ascending order. Does not block.
func ThreadAffinity() ([]int, error) { return affinity(0) }

// AllowedCPUs returns the CPUs that this process may use, in ascending order: those of its main thread, from which all others
// descend. CPUs that are offline or outside the cpuset are not among them, whereas Cpus_allowed_list in /proc/self/status goes
// on to list offline ones. Does not block.
func AllowedCPUs() ([]int, error) { return affinity(os.Getpid()) }

// affinity reads the mask of a thread; tid 0 is the calling one. The kernel refuses a buffer that is shorter than its own masks.
func affinity(tid int) ([]int, error) {
	for n := 1024; ; n *= 2 {
		mask := unix.NewCPUSet(n)
		err := unix.SchedGetaffinityDynamic(tid, mask)
		if errors.Is(err, unix.EINVAL) && n < maxMask {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("sched_getaffinity", err)
		}
		cpus := make([]int, 0, mask.Count())
		for cpu := range n {
			if mask.IsSet(cpu) {
				cpus = append(cpus, cpu)
			}
		}
		return cpus, nil
	}
}

// CurrentCPU returns the CPU that the calling thread runs on at this moment. Does not block.
func CurrentCPU() (int, error) {
	var cpu uint32
	_, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	if errno != 0 {
		return 0, os.NewSyscallError("getcpu", errno)
	}
	return int(cpu), nil
}

// OnMainThread reports whether the calling thread is the one the process began with. Does not block.
func OnMainThread() bool { return unix.Gettid() == os.Getpid() }

// ThreadAffinities returns the CPUs that each thread of this process may use, by the thread's number. Threads that end meanwhile are left
// out. Does not block, but reads a directory of /proc.
func ThreadAffinities() map[int][]int {
	entries, _ := os.ReadDir("/proc/self/task")
	masks := make(map[int][]int, len(entries))
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if cpus, err := affinity(tid); err == nil {
			masks[tid] = cpus
		}
	}
	return masks
}
