package loadtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
)

// canPoll is nil where connections can be polled.
func canPoll() error { return nil }

// A pollConn is a connection whose Read asks the kernel again and again instead of sleeping until there is something: the wake-up of a
// sleeping thread takes longer than many a response.
type pollConn struct {
	net.Conn
	raw    syscall.RawConn
	pinned bool // the goroutine has a thread, and the thread a CPU, of its own

	// Of the Read under way. They are here, and try is made once, because asking happens millions of times a second and must not allocate.
	buf []byte
	n   int
	err error
	try func(fd uintptr) bool
}

func newPollConn(conn net.Conn, pinned bool) (net.Conn, error) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("poll a %T: %w", conn, errors.ErrUnsupported)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	c := &pollConn{Conn: conn, raw: raw, pinned: pinned}
	c.try = func(fd uintptr) bool {
		c.n, c.err = syscall.Read(int(fd), c.buf)
		return true
	}
	return c, nil
}

// SyscallConn makes a pollConn a syscall.Conn.
func (c *pollConn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

func (c *pollConn) Read(b []byte) (int, error) {
	c.buf = b
	for {
		// raw.Read fails once the deadline has passed, and so does not keep an interruption waiting.
		waitErr := c.raw.Read(c.try)
		switch {
		case waitErr != nil:
			return 0, waitErr
		case c.err == syscall.EAGAIN || c.err == syscall.EINTR:
			// For a locked goroutine to yield is to switch threads twice, which is what polling is to avoid; the runtime preempts it
			// when it needs to.
			if !c.pinned {
				runtime.Gosched()
			}
		case c.err != nil:
			err := os.NewSyscallError("read", c.err)
			return 0, &net.OpError{Op: "read", Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
		case c.n == 0:
			return 0, io.EOF
		default:
			return c.n, nil
		}
	}
}
