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

// checkPoll reports why Options.Poll makes no sense beside the other options.
func checkPoll(opts Options) error {
	if !opts.Poll || len(opts.CPUs) == 0 {
		return nil
	}
	used := len(opts.CPUs)
	if opts.Threads > 0 {
		used = min(used, opts.Threads)
	}
	if opts.Concurrency > used {
		return fmt.Errorf("loadtest: Options.Poll: with the net engine a pinned client that polls uses the whole of a CPU: "+
			"Concurrency must not exceed the number of CPUs, nor Threads (got %d clients, CPUs %v, Threads %d)",
			opts.Concurrency, opts.CPUs, opts.Threads)
	}
	return nil
}

// A pollConn is a connection whose Read asks the kernel again and again instead of sleeping until there is something: the wake-up of a
// sleeping thread takes longer than many a response.
type pollConn struct {
	net.Conn
	raw syscall.RawConn

	// Of the Read under way. They are here, and try is made once, because asking happens millions of times a second and must not allocate.
	buf []byte
	n   int
	err error
	try func(fd uintptr) bool
}

func newPollConn(conn net.Conn) (net.Conn, error) {
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
	c := &pollConn{Conn: conn, raw: raw}
	c.try = func(fd uintptr) bool {
		c.n, c.err = syscall.Read(int(fd), c.buf)
		return true
	}
	return c, nil
}

func (c *pollConn) Read(b []byte) (int, error) {
	c.buf = b
	for {
		// raw.Read fails once the deadline has passed, and so does not keep an interruption waiting.
		waitErr := c.raw.Read(c.try)
		switch {
		case waitErr != nil:
			return 0, waitErr
		case c.err == syscall.EAGAIN || c.err == syscall.EINTR:
			runtime.Gosched()
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
