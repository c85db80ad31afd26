package loadtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest/internal/h1"
	"github.com/loadtest-go/loadtest/internal/sys"
)

// A netClient drives one connection over package net, from the goroutine of its worker: the engine "net", which works everywhere.
//
// What a request costs is a write, a read, and two looks at the clock. Deadlines would cost a timer each: instead the connection's
// deadline is set once, and when it strikes, moved to that of the request under way, which can only be later.
type netClient struct {
	plan *httpPlan
	ctx  context.Context // of the run, or of the Do under way: ends dials

	resp   h1.Response
	buf    []byte
	end    int             // buf[:end] has been read and not been used
	served int             // responses on this connection
	usedAt time.Duration   // when the last of them was complete
	raw    syscall.RawConn // of a connection that can be looked at; nil: TLS
	armed  bool
	report Response // given to Check

	release func() bool // undoes what NewClient has asked of its context
	mu      sync.Mutex  // guards conn and over, for interruptions; the client's goroutine is the only one that sets them
	conn    net.Conn
	over    *interruption

	clock clock // of Do
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// An interruption is set when the client must return: the run is over.
type interruption struct{ set atomic.Bool }

const (
	minBuffer = 4 << 10
	maxBuffer = 64 << 10 // for bodies; a head may need more
)

// NewClient returns a client whose requests end when ctx does.
func (p *httpPlan) NewClient(ctx context.Context, _ int) (Client, error) {
	c := &netClient{plan: p, ctx: ctx, buf: make([]byte, minBuffer), clock: startClock()}
	c.resp.MaxBody = p.maxBody
	c.release = c.interruptAfter(ctx)
	return c, nil
}

// Do issues one request and waits for its response: what exchange does, for a Target that wraps the HTTP target.
func (c *netClient) Do(ctx context.Context) (int64, error) {
	run := c.ctx
	c.ctx = ctx
	stop := c.interruptAfter(ctx)
	x := exchange{clock: c.clock}
	x.begin(c.clock.now())
	c.exchange(&x)
	if !stop() {
		c.armed = false // the connection may live on, and have a deadline that has passed
	}
	c.ctx = run
	switch {
	case x.givenUp:
		return x.read, context.Cause(ctx)
	case x.kind != failNone:
		return x.read, &knownError{x.kind, x.err}
	}
	return x.read, nil
}

// Close closes the connection.
func (c *netClient) Close() error {
	c.release()
	c.hangUp()
	return nil
}

// interruptAfter has the client return when ctx ends, and no longer when an earlier context does.
func (c *netClient) interruptAfter(ctx context.Context) (stop func() bool) {
	over := new(interruption)
	c.mu.Lock()
	c.over = over
	c.mu.Unlock()
	return context.AfterFunc(ctx, func() { c.interrupt(over) })
}

// interrupt makes the call that is under way on the connection return. It is called from any goroutine, and may come so late that the
// client has turned to its next request: that is left alone.
func (c *netClient) interrupt(over *interruption) {
	over.set.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && c.over == over {
		_ = c.conn.SetDeadline(longAgo)
	}
}

func (c *netClient) exchange(x *exchange) {
	if c.conn != nil && x.begun-c.usedAt > restless {
		c.lookAt(x)
	}
	for again := false; ; again = true {
		if c.conn == nil && !c.dial(x) {
			return
		}
		if again {
			x.resent++
		}
		if c.attempt(x) {
			return
		}
	}
}

// restless is how long a connection may have been idle to be written to without a look at it, which costs a system call.
const restless = time.Millisecond

// lookAt closes a connection that the server has closed while it was idle, or on which it has sent what nobody asked for.
func (c *netClient) lookAt(x *exchange) {
	switch c.peek() {
	case sys.ErrNothing:
		return
	case nil:
		x.unsolicited = true
	default:
		x.hungUp = true
	}
	c.hangUp()
}

// peek tells what a read of the connection would find, as sys.Peek does. It can't look into TLS.
func (c *netClient) peek() (err error) {
	if c.raw == nil {
		return sys.ErrNothing
	}
	if ctlErr := c.raw.Control(func(fd uintptr) { err = sys.Peek(fd) }); ctlErr != nil {
		return ctlErr
	}
	return err
}

// attempt sends the request once and reads its response. False: the server had closed the idle connection, and the request is to be
// sent again.
func (c *netClient) attempt(x *exchange) (settled bool) {
	c.resp.Keep, c.resp.KeepHead = c.plan.check != nil, !c.plan.sampled.Load()
	c.resp.Reset(c.plan.head)
	c.end = 0
	if !c.armed {
		c.armed = true
		c.setDeadline(x)
	}
	err := c.write(x)
	if err == nil || err == errAnswered || classify(err) == failReset { // a server may answer, and close, before it has read all
		readErr := c.read(x)
		if readErr == nil {
			c.judge(x, err == nil)
			return true
		}
		if err == nil || err == errAnswered {
			err = readErr
		}
	}
	kind := classify(err)
	stale := x.first == 0 && c.served > 0 && (kind == failEOF || kind == failReset)
	c.drop()
	x.done, x.unsent = x.clock.now(), x.written == 0
	x.hungUp = x.hungUp || stale
	switch {
	case errors.Is(err, errInterrupted):
		x.givenUp = true
	case stale && c.plan.resend && x.resent == 0:
		return false
	case stale:
		x.fail(kind, fmt.Errorf("the server closed the connection that it had kept alive: %w", err))
	default:
		x.fail(kind, err)
	}
	return true
}

// write writes the request.
func (c *netClient) write(x *exchange) error {
	if c.plan.tls != nil {
		// A TLS connection does not survive a write that meets its deadline, so that one must be the request's own.
		c.setDeadline(x)
	}
	for rest := c.plan.request; ; {
		large := len(rest) > maxBuffer && c.raw != nil
		if large { // the server may have answered and stopped to read
			_ = c.conn.SetWriteDeadline(time.Now().Add(answerCheck))
			if c.over.set.Load() { // the deadline that was to interrupt may have been overwritten
				_ = c.conn.SetDeadline(longAgo)
			}
		}
		n, err := c.conn.Write(rest)
		x.written += int64(n)
		rest = rest[n:]
		if err == nil {
			return nil
		}
		if large && n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.peek() == nil {
			return errAnswered // and it does not read on
		}
		if err = c.endures(x, err); err != nil {
			return err
		}
	}
}

// errAnswered ends the writing of a request that has its response already.
var errAnswered = errors.New("answered before the request was written")

// answerCheck is how long the writing of a large request may be stuck until the client looks for an early response.
const answerCheck = 100 * time.Millisecond

// read reads the response, and stamps its first and its last byte.
func (c *netClient) read(x *exchange) error {
	for {
		n, err := c.conn.Read(c.buf[c.end:])
		if n > 0 {
			now := x.clock.now()
			if x.first == 0 {
				x.first = now
			}
			x.read += int64(n)
			c.end += n
			used, done, parseErr := c.resp.Parse(c.buf[:c.end])
			switch {
			case parseErr != nil:
				return parseErr
			case done:
				x.done = now
				c.end = copy(c.buf, c.buf[used:c.end]) // what is beyond the response
				return nil
			}
			c.end = copy(c.buf, c.buf[used:c.end])
			c.makeRoom(n)
		}
		if err == nil {
			continue
		}
		if err == io.EOF {
			if _, err := c.resp.EOF(); err != nil {
				return err
			}
			x.done = x.clock.now()
			c.end = 0
			return nil
		}
		if err = c.endures(x, err); err != nil {
			return err
		}
	}
}

// makeRoom grows the buffer when it is full of a head, or when a read of n bytes has filled what there was for a body.
func (c *netClient) makeRoom(n int) {
	full := c.end == len(c.buf)
	if full || n >= len(c.buf)-c.end && len(c.buf) < maxBuffer {
		c.buf = append(c.buf, make([]byte, len(c.buf))...)
	}
}

// judge decides what a response that came whole is worth, and whether its connection goes on; it can't if not all of the request was sent.
func (c *netClient) judge(x *exchange, sent bool) {
	p := c.plan
	x.status, x.body = c.resp.Status(), c.resp.BodyBytes()
	c.served++
	c.usedAt = x.done
	switch {
	case x.done-x.begun > p.opts.timeout():
		x.status = 0 // no response in time is none
		x.fail(failTimeout, fmt.Errorf("the response took longer than %v", p.opts.Timeout))
	case x.status < 100:
		x.fail(failParse, fmt.Errorf("%w: status code %03d", h1.ErrMalformed, x.status))
	case c.end > 0:
		x.fail(failParse, fmt.Errorf("%w: %s beyond the response: %.40q", h1.ErrMalformed, plural(int64(c.end), "byte"), c.buf[:c.end]))
	case p.status == 0 && (x.status < 200 || x.status > 299), p.status != 0 && x.status != p.status:
		x.fail(failStatus, statusError(x.status))
	case p.check != nil:
		c.report = Response{Status: x.status, Body: c.resp.Body(), head: &c.resp}
		if err := p.check(&c.report); err != nil {
			x.fail(failCheck, err)
		}
	}
	if x.kind == failNone && !p.sampled.Load() && p.sampled.CompareAndSwap(false, true) {
		x.sample = Sample{Status: x.status, Server: c.resp.Header("Server"), BodyBytes: x.body, TLS: describeTLS(c.conn)}
	}
	switch {
	case !sent || x.kind == failParse || c.end > 0:
		c.drop()
	case p.close:
		c.hangUp()
	case !c.resp.KeepAlive():
		x.hungUp = true
		c.hangUp()
	}
}

var errInterrupted = errors.New("the run is over")

// endures says whether the exchange goes on after an error of the connection: nil if it was but the connection's deadline, set for an
// earlier request, and this one has time left. Otherwise it returns what the error means.
func (c *netClient) endures(x *exchange, err error) error {
	if c.over.set.Load() {
		return errInterrupted
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if x.clock.now()-x.begun >= c.plan.opts.timeout() {
		return fmt.Errorf("no response within %v: %w", c.plan.opts.Timeout, err)
	}
	c.setDeadline(x)
	return nil
}

// setDeadline moves the connection's deadline to that of the request.
func (c *netClient) setDeadline(x *exchange) {
	var deadline time.Time
	if timeout := c.plan.opts.timeout(); timeout != noTimeout {
		deadline = time.Now().Add(timeout - (x.clock.now() - x.begun))
	}
	_ = c.conn.SetDeadline(deadline)
	if c.over.set.Load() { // the deadline that was to interrupt may have been overwritten
		_ = c.conn.SetDeadline(longAgo)
	}
}

// hangUp closes the connection, if there is one.
func (c *netClient) hangUp() {
	if c.conn != nil {
		c.leave(c.conn)
	}
}

// drop closes a connection on which something has gone wrong, without the goodbye of TLS: that would wait for up to five seconds for a
// peer that does not read.
func (c *netClient) drop() {
	if secure, ok := c.conn.(*tls.Conn); ok {
		c.leave(secure.NetConn())
		return
	}
	c.hangUp()
}

// leave closes conn, which is the client's connection or what that rests on.
func (c *netClient) leave(conn net.Conn) {
	_ = conn.Close()
	c.adopt(nil)
	if len(c.buf) > maxBuffer {
		c.buf = make([]byte, minBuffer)
	}
}

// adopt makes conn the client's connection.
func (c *netClient) adopt(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn, c.served, c.armed, c.raw = conn, 0, false, nil
	if sc, ok := conn.(syscall.Conn); ok {
		c.raw, _ = sc.SyscallConn()
	}
}
