package sys

import (
	"syscall"
	"time"
	"unsafe"
)

var (
	procQueryPerformanceCounter   = kernel32.NewProc("QueryPerformanceCounter")
	procQueryPerformanceFrequency = kernel32.NewProc("QueryPerformanceFrequency")
)

// CounterFrequency returns the ticks per second of [Counter], which never change while the system is up. Does not block.
func CounterFrequency() int64 {
	var frequency int64
	syscall.SyscallN(procQueryPerformanceFrequency.Addr(), uintptr(unsafe.Pointer(&frequency)))
	return frequency
}

// Counter reads the performance counter: monotonic, the same on all CPUs, 100 ns or finer on every Windows that Go supports, and
// counted from some moment in the past. It cannot fail there, so no error is returned. Does not block or allocate.
func Counter() int64 {
	var ticks int64
	syscall.SyscallN(procQueryPerformanceCounter.Addr(), uintptr(unsafe.Pointer(&ticks)))
	return ticks
}

// CounterDuration converts ticks of a counter of the given frequency. In two parts, since ticks times a second overflows in
// 15 minutes at 10 MHz.
func CounterDuration(ticks, frequency int64) time.Duration {
	second := int64(time.Second)
	return time.Duration(ticks/frequency*second + ticks%frequency*second/frequency)
}
