package loadtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"syscall"
)

// checkPoll reports why Options.Poll makes no sense beside the other options.
func checkPoll(opts Options) error {
	if opts.Poll && len(opts.CPUs) > 0 && opts.Concurrency > len(opts.CPUs) {
		return fmt.Errorf("loadtest: Options.Poll: with the net engine a pinned client that polls uses the whole of a CPU: "+
			"Concurrency must not exceed the number of CPUs (got %d clients, CPUs %v)", opts.Concurrency, opts.CPUs)
	}
	return nil
}

// A pollConn is a connection whose Read asks the kernel again and again instead of sleeping until there is something: the wake-up of a
// sleeping thread takes longer than many a response.
type pollConn struct {
	net.Conn
	raw syscall.RawConn
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
	return &pollConn{conn, raw}, nil
}

func (c *pollConn) Read(b []byte) (n int, err error) {
	for {
		// raw.Read fails once the deadline has passed, and so does not keep an interruption waiting.
		waitErr := c.raw.Read(func(fd uintptr) bool {
			n, err = syscall.Read(int(fd), b)
			return true
		})
		switch {
		case waitErr != nil:
			return 0, waitErr
		case err == syscall.EAGAIN || err == syscall.EINTR:
			runtime.Gosched()
		case err != nil:
			return 0, &net.OpError{Op: "read", Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
