//go:build unix

package sys

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// Peek tells what a read of the socket would find, without reading: nil if there are bytes, io.EOF if the peer has closed, ErrNothing if there
// is nothing yet, otherwise the socket's error. Does not block.
func Peek(fd uintptr) error {
	var b [1]byte
	for {
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return ErrNothing
		case err != nil:
			return err
		case n == 0:
			return io.EOF
		default:
			return nil
		}
	}
}
