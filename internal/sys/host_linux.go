package sys

import "golang.org/x/sys/unix"

// KernelRelease returns what "uname -r" prints, or "". Does not block.
func KernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
