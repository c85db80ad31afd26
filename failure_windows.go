package loadtest

import "syscall"

// Winsock has numbers of its own; package syscall names some of them, and invents the rest as errors that no call returns.
const (
	errConnRefused  = syscall.Errno(10061) // WSAECONNREFUSED
	errConnReset    = syscall.Errno(10054) // WSAECONNRESET
	errConnAborted  = syscall.Errno(10053) // WSAECONNABORTED
	errPipe         = syscall.Errno(10058) // WSAESHUTDOWN
	errAddrNotAvail = syscall.Errno(10049) // WSAEADDRNOTAVAIL
	errAddrInUse    = syscall.Errno(10048) // WSAEADDRINUSE
)
