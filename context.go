package loadtest

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// requestContexts hands out the contexts of one client's requests: each ends at the request's timeout or when the run is over. A context
// with a timer for each request would cost more than many a Func that it is given to, so the same one is handed out again and again for as
// long as nobody has looked at it.
type requestContexts struct {
	run     context.Context
	timeout time.Duration // noTimeout: none
	current *requestContext
}

// noTimeout is longer than any run.
const noTimeout = math.MaxInt64

func (c *requestContexts) begin(clock clock, begun time.Duration) *requestContext {
	if c.current == nil || c.current.used.Load() {
		c.current = &requestContext{run: c.run, start: clock.start}
	}
	if c.timeout != noTimeout {
		c.current.deadline.Store(int64(begun + c.timeout))
	}
	return c.current
}

// end makes ctx end, if anybody could know it.
func (c *requestContexts) end(ctx *requestContext) {
	if ctx.used.Load() {
		ctx.cancel()
		c.current = nil
	}
}

func (c *requestContexts) over() bool { return c.run.Err() != nil }

// A requestContext becomes a real context, with a timer, when it is first used. It may be kept beyond its request, and used from other
// goroutines, by a Func that does not know better: what they share is atomic.
type requestContext struct {
	run      context.Context
	start    time.Time
	deadline atomic.Int64 // since start; 0: none
	used     atomic.Bool
	real     atomic.Pointer[realContext]
}

type realContext struct {
	context.Context
	cancel context.CancelFunc
}

func (c *requestContext) use() context.Context {
	if r := c.real.Load(); r != nil {
		return r
	}
	c.used.Store(true)
	r := new(realContext)
	if d := c.deadline.Load(); d != 0 {
		r.Context, r.cancel = context.WithDeadline(c.run, c.start.Add(time.Duration(d)))
	} else {
		r.Context, r.cancel = context.WithCancel(c.run)
	}
	if !c.real.CompareAndSwap(nil, r) {
		r.cancel() // another goroutine was first
		return c.real.Load()
	}
	return r
}

func (c *requestContext) cancel() {
	c.use().(*realContext).cancel()
}

func (c *requestContext) Deadline() (time.Time, bool) { return c.use().Deadline() }
func (c *requestContext) Done() <-chan struct{}       { return c.use().Done() }
func (c *requestContext) Err() error                  { return c.use().Err() }
func (c *requestContext) Value(key any) any           { return c.use().Value(key) }
