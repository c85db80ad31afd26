package testserver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Conn is one accepted connection. Its methods are for the goroutine of its script, except Close, Reset, Drop and Done, which any may call.
type Conn struct {
	// N is the number of the connection, beginning with 0, in the order of acceptance.
	N int64

	// Request is the request that Next or NextHead has read. A new one each time: it may be kept.
	Request *Request

	// Server is the server of the connection.
	Server *Server

	raw      net.Conn // the socket
	stream   net.Conn // what is read and written: the socket with its bytes counted, under TLS if there is some
	br       *bufio.Reader
	requests *atomic.Int64 // whole requests on this connection

	done     chan struct{} // closed when this side has ended the connection
	doneOnce sync.Once

	// What follows is the script's.
	next   int64  // number of the next request
	unread int64  // bytes of the current request's body that were not read
	whole  bool   // the current request was counted
	last   bool   // a response has said that it is the last
	err    error  // the first error of reading or writing
	out    []byte // reused by responses
}

func newConn(s *Server, nc net.Conn) *Conn {
	c := &Conn{Server: s, raw: nc, stream: &wire{nc, &s.count}, done: make(chan struct{})}
	if s.tls != nil {
		c.stream = tls.Server(c.stream, s.tls)
	}
	c.br = bufio.NewReader(c.stream)
	c.N, c.requests = s.count.addConn()
	return c
}

// Close closes the connection in the orderly way: with TLS's goodbye, if there is TLS, and FIN. (The kernel sends a reset in place of FIN if bytes
// were received that no one has read: see Drain.) A script that returns has the same effect.
func (c *Conn) Close() error {
	c.end()
	return c.stream.Close()
}

// Drop closes the socket. It differs from Close under TLS only: the client gets no goodbye, as if the response had been cut on the way.
func (c *Conn) Drop() error {
	c.end()
	return c.raw.Close()
}

// Reset ends the connection with RST in place of FIN. On a unix socket it closes the connection; the client then sees a reset only if it has sent
// bytes that no one has read.
func (c *Conn) Reset() error {
	c.end()
	if tc, ok := c.raw.(*net.TCPConn); ok {
		tc.SetLinger(0)
	}
	return c.raw.Close()
}

func (c *Conn) end() { c.doneOnce.Do(func() { close(c.done) }) }

// Done is closed when this side has ended the connection, by Close, Drop, Reset or a method of the server.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Next reads a whole request, head and body, and counts it. It returns false when there is none: the client or the server has closed the connection,
// the bytes were no request, or a response of Text and the like has announced that it was the last.
func (c *Conn) Next() bool { return c.NextHead() && c.ReadBody() }

// NextHead reads the head of a request and leaves the body, which ReadBody, ReadSome or the following NextHead reads. The request is counted when
// all of it was read.
func (c *Conn) NextHead() bool {
	if c.last || c.err != nil || !c.skipBody() {
		return false
	}
	if _, err := c.br.Peek(1); err != nil {
		c.err = err
		return false
	}
	r := &Request{Conn: c.N, N: c.next, At: c.Server.Elapsed()}
	if err := readHead(c.br, r); err != nil {
		c.err = err
		if errors.Is(err, errMalformed) {
			c.Server.count.addMalformed(err)
		} else {
			c.Server.count.partial.Add(1)
		}
		return false
	}
	r.Serial = c.Server.count.serial.Add(1) - 1
	c.next++
	c.Request, c.unread, c.whole = r, r.ContentLength, false
	return c.unread > 0 || c.count()
}

// ReadBody reads what is left of the request's body.
func (c *Conn) ReadBody() bool {
	for c.unread > 0 {
		if _, err := c.ReadSome(64 << 10); err != nil {
			return false
		}
	}
	return c.err == nil
}

// ReadSome reads at most n bytes of the request's body, for servers that read slowly. It returns 0 and no error at the body's end.
func (c *Conn) ReadSome(n int) (int, error) {
	if c.err != nil || c.unread == 0 {
		return 0, c.err
	}
	buf := make([]byte, min(int64(n), c.unread))
	got, err := c.br.Read(buf)
	c.Request.Body = append(c.Request.Body, buf[:got]...)
	if c.bodyRead(int64(got), err) && c.unread == 0 {
		c.count()
	}
	return got, c.err
}

func (c *Conn) skipBody() bool {
	if c.unread == 0 {
		return true
	}
	got, err := io.CopyN(io.Discard, c.br, c.unread)
	return c.bodyRead(got, err) && c.count()
}

func (c *Conn) bodyRead(n int64, err error) bool {
	c.unread -= n
	if err == nil || c.unread == 0 {
		return true
	}
	c.err = err
	c.Server.count.partial.Add(1)
	return false
}

// count counts the current request as whole, and waits while the server is frozen.
func (c *Conn) count() bool {
	if !c.whole {
		c.whole = true
		c.requests.Add(1)
		c.Server.count.addRequest(c.Request, c.Server.opts.KeepArrivals, c.Server.opts.KeepRequests)
	}
	return c.Server.flowing.wait(c.done)
}

// Err is the first error of reading or writing, io.EOF if the client closed the connection between requests.
func (c *Conn) Err() error { return c.err }

// Sleep pauses the script. It returns false if Done is closed before.
func (c *Conn) Sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.done:
		return false
	}
}

// Stall answers no more: it returns when the client or the server has closed the connection. Nothing is read beyond the few kilobytes of one
// buffer, so a client that writes a lot will block; once that buffer is full, a close of the client's is no longer seen.
func (c *Conn) Stall() { c.watch(nil, nil) }

// Wait waits until ch is closed or sends, and returns true; false if before that the client closes the connection (or half of it), or Done is
// closed. Bytes that arrive meanwhile are kept for Next, as far as one buffer holds them.
func (c *Conn) Wait(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return c.watch(ch, nil)
	}
}

// WaitFor is Wait for a time: a Sleep that notices when the client has gone.
func (c *Conn) WaitFor(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	return c.watch(nil, timer.C)
}

func (c *Conn) watch(ch <-chan struct{}, late <-chan time.Time) (ok bool) {
	gone := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := c.br.Buffered() + 1; n <= c.br.Size(); n = c.br.Buffered() + 1 {
			if _, err := c.br.Peek(n); err != nil {
				close(gone)
				return
			}
		}
	}()
	select {
	case <-ch:
		ok = true
	case <-late:
		ok = true
	case <-gone:
	case <-c.done:
	}
	c.stream.SetReadDeadline(time.Unix(1, 0)) // ends the goroutine's Peek
	<-ended
	c.stream.SetReadDeadline(time.Time{})
	return ok
}

// Drain reads and drops everything until the client closes its side or the connection ends, and returns the number of bytes. After CloseWrite it
// makes sure that the client sees FIN and no reset.
func (c *Conn) Drain() int64 {
	n, _ := io.Copy(io.Discard, c.br)
	return n
}

// wire counts the bytes of a socket.
type wire struct {
	net.Conn
	count *counts
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.count.received.Add(int64(n))
	return n, err
}

// Write counts before it writes, so that the client never has bytes that are not counted.
func (w *wire) Write(p []byte) (int, error) {
	w.count.sent.Add(int64(len(p)))
	n, err := w.Conn.Write(p)
	w.count.sent.Add(int64(n - len(p)))
	return n, err
}
