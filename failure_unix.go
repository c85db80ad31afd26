//go:build !windows

package loadtest

import "syscall"

const (
	errConnRefused  = syscall.ECONNREFUSED
	errConnReset    = syscall.ECONNRESET
	errConnAborted  = syscall.ECONNABORTED
	errPipe         = syscall.EPIPE
	errAddrNotAvail = syscall.EADDRNOTAVAIL
	errAddrInUse    = syscall.EADDRINUSE
)
