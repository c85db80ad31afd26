// Package sys holds every call to the operating system that the standard library does not offer: CPU affinity, the CPU time of one
// thread, a clock fine enough for latencies on Windows. No other package of this module imports golang.org/x/sys or unsafe.
//
// Each matter has one file per operating system (affinity_linux.go, affinity_windows.go, affinity_other.go); the files of a matter
// define the same functions, so callers need no build tags. What a system cannot do is an error that is [errors.ErrUnsupported].
//
// A failed call is an [os.SyscallError] that names the call. Every function says whether it may block; one that does not block
// keeps its P while it is in the kernel.
package sys
