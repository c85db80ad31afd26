package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// A plan is a run that has been checked, and not begun.
type plan struct {
	target Target
	desc   description
	opts   Options
}

// A description says of a target what it is and what drives it.
type description struct {
	target string // Result.Target
	engine string // Result.Engine

	local     bool // the target is a server on this machine
	inProcess bool // the target is a server in this process
	separate  bool // what the load threads consume is the generator's alone, not the target's own work
}

// A preparer is a Target that is checked and prepared once, before a client of it is made.
type preparer interface {
	prepare(ctx context.Context, opts Options) (Target, description, error)
}

// maxPinned is how many clients can be pinned, a thread each: the Go runtime ends a process that has more than 10,000 threads.
const maxPinned = 4096

func newPlan(ctx context.Context, target Target, opts Options) (*plan, error) {
	p := &plan{target: target, opts: opts}
	if len(opts.CPUs) > 0 && opts.Concurrency > maxPinned {
		return nil, fmt.Errorf("loadtest: Options.Concurrency: must not exceed %d with Options.CPUs, since each pinned client has a thread (got %d)", maxPinned, opts.Concurrency)
	}
	switch t := target.(type) {
	case nil:
		return nil, errors.New("loadtest: Run: target must not be nil")
	case *HTTP, *handlerTarget: // by type: a user's Target that embeds one has its methods, and a NewClient of its own
		var err error
		p.target, p.desc, err = t.(preparer).prepare(ctx, opts)
		return p, err
	case fmt.Stringer:
		p.desc = description{target: t.String(), engine: "func"}
	default:
		p.desc = description{target: fmt.Sprintf("%T", target), engine: "func"}
	}
	if opts.Poll {
		return nil, errPollNeedsHTTP
	}
	return p, nil
}

var errPollNeedsHTTP = errors.New("loadtest: Options.Poll: only the connections of an *HTTP target can be polled")

// A run is a plan under way.
type run struct {
	// Immutable once the workers are let go.
	opts       Options
	clock      clock
	start, end time.Duration // of the measured interval; end math.MaxInt64: bounded by Requests alone
	ctx        context.Context
	giveUp     context.CancelCauseFunc // ends ctx: clients return at once
	workers    []*worker
	timeline   *timeline     // guards itself
	ended      chan struct{} // closed when the last loop has ended

	tickets tickets      // drawn by the workers
	running atomic.Int64 // loops that have not ended; the last closes ended
	refused atomic.Int64 // clients that could not connect at least once
	reached atomic.Bool  // a client could; written by the clients
	stopped atomic.Bool  // written by finish, read by the workers: begin no more requests
	endedAt atomic.Int64 // when finish was first called, in ns since start; 0: it was not

	// Of Run's goroutine.
	early    bool // finish was called before the run was complete
	left     int  // workers left behind
	overlaps bool // others have pinned threads to our CPUs
	atStart  readings
	atEnd    readings
}

// stuckAfter is how long a client may go on after its context has ended before it is left behind.
const stuckAfter = time.Second

func (p *plan) run(ctx context.Context) (*Result, error) {
	r := &run{opts: p.opts}
	// Not a child of ctx: a client that comes back because ctx has ended must find the run stopped.
	r.ctx, r.giveUp = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.giveUp(nil)
	if err := r.makeWorkers(ctx, p.target); err != nil {
		return nil, err
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { r.finish(context.Cause(ctx)) })()
	var progress sync.WaitGroup
	joined := make(chan struct{})
	if r.opts.Progress != nil {
		progress.Go(func() { r.reportProgress(joined) })
	}
	r.control()
	r.join()
	if ctx.Err() != nil {
		r.finish(context.Cause(ctx)) // which may not have come to it yet
	}
	r.early = r.endedEarly()
	close(joined)
	progress.Wait()
	res := r.result(p.desc)
	return res, r.verdict(res)
}

// makeWorkers makes the clients, and a worker for each.
func (r *run) makeWorkers(ctx context.Context, target Target) error {
	defer context.AfterFunc(ctx, func() {
		r.stopped.Store(true)
		r.giveUp(context.Cause(ctx))
	})()
	for i := range r.opts.Concurrency {
		c, err := target.NewClient(r.ctx, i)
		switch { // a client that comes with an error may be a nil pointer: it is not closed
		case err != nil:
		case c == nil:
			err = errors.New("NewClient returned nil")
		case ctx.Err() != nil:
			err = context.Cause(ctx)
			_ = c.Close()
		}
		if err != nil {
			for _, w := range r.workers {
				_ = w.client.Close()
			}
			return fmt.Errorf("loadtest: make client %d of %d: %w", i, r.opts.Concurrency, err)
		}
		x, ok := c.(exchanger)
		if !ok {
			statuses, _ := c.(statuser)
			x = &doer{Client: c, contexts: requestContexts{run: r.ctx, timeout: r.opts.timeout()}, statuses: statuses}
		}
		r.workers = append(r.workers, &worker{run: r, client: x, exited: make(chan struct{})})
	}
	return nil
}

// begin starts the workers, and lets them go together once each has its thread.
func (r *run) begin() error {
	var ready sync.WaitGroup
	release := make(chan struct{})
	r.ended = make(chan struct{})
	r.running.Store(int64(len(r.workers)))
	for i, w := range r.workers {
		ready.Add(1)
		go r.work(w, i, sync.OnceFunc(ready.Done), release)
	}
	ready.Wait()
	var pinErr error
	for _, w := range r.workers {
		pinErr = cmp.Or(pinErr, w.pinErr)
	}
	if pinErr != nil {
		r.stopped.Store(true)
	}
	r.start, r.end = r.opts.Warmup, math.MaxInt64
	if r.opts.Duration > 0 {
		r.end = r.start + r.opts.Duration
	}
	r.overlaps = r.pinnedByOthers()
	r.timeline = newTimeline(r.start, r.end, r.opts.Progress != nil)
	r.tickets.init(r.opts.Requests)
	r.atStart = takeReadings(r.opts.CPUs)
	r.clock = startClock()
	close(release)
	if pinErr != nil {
		r.join()
		return fmt.Errorf("loadtest: Options.CPUs: %w", pinErr)
	}
	return nil
}

// work is the life of worker i's goroutine.
func (r *run) work(w *worker, i int, ready func(), release <-chan struct{}) {
	defer close(w.exited)
	defer func() {
		w.vanish()
		if r.running.Add(-1) == 0 {
			close(r.ended)
		}
		w.state.CompareAndSwap(between, closing)
		_ = w.client.Close()
	}()
	loop := func() {
		w.thread = sys.ThreadID()
		ready()
		<-release
		w.loop()
	}
	if len(r.opts.CPUs) == 0 {
		loop()
		return
	}
	if err := runPinned(r.opts.cpuOf(i), loop); err != nil {
		w.pinErr = err
		ready()
	}
}

// control waits until the run is over, and takes readings at the borders of the measured interval.
func (r *run) control() {
	at := func(t time.Duration) <-chan time.Time {
		if t == math.MaxInt64 {
			return nil
		}
		return time.After(t - r.clock.now())
	}
	var starts, ends, over <-chan time.Time
	if r.start > 0 {
		starts = at(r.start)
	}
	if r.end != math.MaxInt64 {
		ends, over = at(r.end), at(r.end+max(r.opts.Drain, 0))
	}
	for {
		select {
		case <-starts:
			r.atStart = takeReadings(r.opts.CPUs)
		case <-ends:
			r.atEnd = takeReadings(r.opts.CPUs)
		case <-r.ended:
			return
		case <-over:
			r.finish(errOver)
			return
		case <-r.ctx.Done():
			return
		}
	}
}

// errOver is why clients are made to return at the end of the drain.
var errOver = errors.New("the run is over")

// finish makes the workers begin nothing more, and then the clients give up what is under way. It is called from any goroutine; the first
// cause counts.
func (r *run) finish(cause error) {
	r.stopped.Store(true)
	r.endedAt.CompareAndSwap(0, max(int64(r.clock.now()), 1))
	r.giveUp(cause)
}

// join waits for the workers, and leaves those behind whose clients do not come back.
func (r *run) join() {
	if r.atEnd == (readings{}) {
		r.atEnd = takeReadings(r.opts.CPUs)
	}
	patience := time.NewTimer(stuckAfter)
	defer patience.Stop()
	for _, w := range r.workers {
		select {
		case <-w.exited:
		case <-patience.C:
			patience.Reset(0) // there is none left for the others
			r.giveUpOn(w)
		}
	}
	r.awaitThreads()
}

// giveUpOn leaves w behind, unless it has exited. A worker that waits for nobody will soon do the one or the other.
func (r *run) giveUpOn(w *worker) {
	for {
		select {
		case <-w.exited:
			return
		default:
		}
		if w.leave(r.clock.now()) {
			r.left++
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// endedEarly reports whether the run was ended before its time, and not at a moment when it was over anyway.
func (r *run) endedEarly() bool {
	at := time.Duration(r.endedAt.Load())
	if at == 0 || errors.Is(context.Cause(r.ctx), errOver) {
		return false
	}
	complete := r.tickets.exhausted() || at >= r.end
	for _, w := range r.workers {
		complete = complete && w.abandoned == 0 && !w.unsent
	}
	return !complete
}

// verdict returns why res can't be trusted, if so.
func (r *run) verdict(res *Result) error {
	switch {
	case r.early:
		return fmt.Errorf("loadtest: Run: stopped after %s: %w", formatDuration(time.Duration(r.endedAt.Load())), context.Cause(r.ctx))
	case res.Requests == 0:
		return fmt.Errorf("loadtest: Run: %w in %s: %s under way without an outcome, %s waiting for a connection",
			ErrNoRequests, formatDuration(res.Elapsed), plural(res.Abandoned, "request"), plural(r.unconnected(), "client"))
	}
	return nil
}
