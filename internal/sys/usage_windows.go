package sys

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	procGetThreadTimes       = kernel32.NewProc("GetThreadTimes")
	procGetProcessMemoryInfo = kernel32.NewProc("K32GetProcessMemoryInfo")
)

// ThreadUsage returns the CPU time of the calling thread, in steps of the system's clock tick (15.6 ms). Does not block.
func ThreadUsage() (user, system time.Duration, err error) {
	var created, exited, k, u windows.Filetime
	ok, _, err := procGetThreadTimes.Call(uintptr(windows.CurrentThread()), uintptr(unsafe.Pointer(&created)),
		uintptr(unsafe.Pointer(&exited)), uintptr(unsafe.Pointer(&k)), uintptr(unsafe.Pointer(&u)))
	if ok == 0 {
		return 0, 0, os.NewSyscallError("GetThreadTimes", err)
	}
	return span(u), span(k), nil
}

// memoryCounters is PROCESS_MEMORY_COUNTERS of psapi.h.
type memoryCounters struct {
	size                                                     uint32
	pageFaults                                               uint32
	peakWorkingSet, workingSet                               uintptr
	peakPagedPool, pagedPool, peakNonPagedPool, nonPagedPool uintptr
	pagefile, peakPagefile                                   uintptr
}

// ProcessUsage returns the CPU time of this process, of all its threads that are or were, and its largest working set in bytes.
// Children are not counted. Does not block.
func ProcessUsage() (user, system time.Duration, maxRSS int64, err error) {
	var created, exited, k, u windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &k, &u); err != nil {
		return 0, 0, 0, os.NewSyscallError("GetProcessTimes", err)
	}
	var m memoryCounters
	m.size = uint32(unsafe.Sizeof(m))
	ok, _, err := procGetProcessMemoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&m)), uintptr(m.size))
	if ok == 0 {
		return 0, 0, 0, os.NewSyscallError("GetProcessMemoryInfo", err)
	}
	return span(u), span(k), int64(m.peakWorkingSet), nil
}

// span reads a FILETIME that is a length of time, in units of 100 ns, and not a date, as its own method would.
func span(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
