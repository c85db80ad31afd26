//go:build unix

package testserver

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// setBacklog calls listen(2) again on a socket that listens: its only effect is the new length of the queue.
func setBacklog(ln net.Listener, n int) error {
	sc, ok := ln.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	var listenErr error
	if err := rc.Control(func(fd uintptr) { listenErr = syscall.Listen(int(fd), n) }); err != nil {
		return err
	}
	return os.NewSyscallError("listen", listenErr)
}
