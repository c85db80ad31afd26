package loadtest

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// A worker drives one client in its own goroutine, and counts what it sees for itself. It reads what the run shares with all workers, and
// writes there only to draw a ticket, and once a slice.
type worker struct {
	run    *run
	client exchanger
	exited chan struct{} // closed when the goroutine is done with everything
	thread int           // number of the worker's thread, if it has one of its own
	pinErr error         // why it has none

	// Owned by the worker's goroutine until it has exited or was left behind.
	rec       recorder
	x         exchange
	until     time.Duration // hand the slice over when a request begins at or after this
	sliceAt   time.Duration // a moment in the slice that is being counted
	lastBegun time.Duration // of the requests of the measured interval
	lastDone  time.Duration
	measuring bool
	usedAt    cpuTime       // CPU time of the worker's thread when the measured interval began
	used      cpuTime       // and since then
	pause     time.Duration // after the last request, since it could not connect
	refused   bool          // a request could not connect
	reached   bool          // a request could
	timer     *time.Timer

	// What had no outcome when the run ended.
	abandoned int64
	oldest    time.Duration // age of the oldest
	unsent    bool          // the client was still waiting for a connection
	vanished  bool          // the client has ended the goroutine

	// Written by the worker, read by progress: requests completed in the warm-up, in the measured interval, and failures of those.
	warmed, done, failed atomic.Int64

	// state is written by the worker, and by Run to leave it behind.
	state atomic.Int32
}

// The states of a worker. Run can leave one behind that waits for its client.
const (
	between    int32 = iota // requests, or before the first
	exchanging              // the client has a request under way
	closing                 // the client is being closed
	leftBehind              // the run has gone on without the worker
)

// loop issues requests until the run has had enough. It returns early, without a trace, if the run has left it behind.
func (w *worker) loop() {
	r := w.run
	w.x.clock, w.x.reached = r.clock, &r.reached
	for !r.stopped.Load() {
		now := r.clock.now()
		measured := now >= r.start
		if measured && !w.admit(now) {
			break
		}
		w.x.begin(now)
		w.state.Store(exchanging)
		w.client.exchange(&w.x)
		if !w.state.CompareAndSwap(exchanging, between) {
			return
		}
		w.count(measured)
		if pause := max(r.opts.ThinkTime, w.backOff()); pause > 0 {
			w.sleep(pause)
		}
	}
	w.finish()
}

// admit says whether one more request may begin at now, in the measured interval.
func (w *worker) admit(now time.Duration) bool {
	r := w.run
	if !w.measuring {
		w.measuring = true
		w.usedAt = w.threadTime()
	}
	if now >= r.end || !r.tickets.draw() {
		return false
	}
	if now >= w.until {
		w.until = r.timeline.handOver(&w.rec.slice, w.sliceAt, now)
		w.sliceAt = now
	}
	w.lastBegun = now
	return true
}

// count counts the exchange that has just come back.
func (w *worker) count(measured bool) {
	x := &w.x
	w.rec.opened(x)
	switch {
	case x.givenUp && x.unsent:
		w.unsent = true
	case x.givenUp:
		w.abandon(x.done)
		if measured {
			w.rec.transferred(x)
		}
	case measured:
		w.rec.record(x, w.run.end)
		w.lastDone = x.done
		w.done.Store(w.rec.requests)
		if x.kind != failNone {
			w.failed.Add(1)
		}
	default:
		w.rec.warm(x)
		w.warmed.Store(w.rec.warmed)
	}
}

func (w *worker) abandon(now time.Duration) {
	w.abandoned++
	w.oldest = max(w.oldest, now-w.x.begun)
}

// finish hands over what is left.
func (w *worker) finish() {
	if w.measuring {
		w.used = w.threadTime().minus(w.usedAt)
		w.run.timeline.handOver(&w.rec.slice, w.sliceAt, w.lastBegun)
	}
}

// threadTime returns the CPU time of the worker's thread, if it has one of its own.
func (w *worker) threadTime() (t cpuTime) {
	if len(w.run.opts.CPUs) > 0 {
		t, _ = threadCPUTime()
	}
	return t
}

// vanish counts the request whose client has ended the goroutine under the loop, by runtime.Goexit or t.FailNow.
func (w *worker) vanish() {
	if w.state.CompareAndSwap(exchanging, between) {
		w.vanished = true
		w.abandon(w.run.clock.now())
		w.finish()
	}
}

// leave gives the worker up if it is waiting for its client: from now on its goroutine touches nothing but the client, and what it has
// counted is the caller's. False: it is not waiting just now.
func (w *worker) leave(now time.Duration) bool {
	switch {
	case w.state.CompareAndSwap(exchanging, leftBehind):
		w.abandon(now)
		if w.measuring {
			w.run.timeline.handOver(&w.rec.slice, w.sliceAt, w.lastBegun)
		}
		return true
	default:
		return w.state.CompareAndSwap(closing, leftBehind)
	}
}

// A connection that could not be made is tried again after a pause, which doubles from one failure to the next: a server that is gone
// must not be answered with a storm, and one that comes back not be missed for long. If no client ever had one, the run is not worth its
// time.
const (
	minPause     = time.Millisecond
	maxPause     = 250 * time.Millisecond
	unreachAfter = 3 * time.Second
)

// backOff returns how long the worker is to wait because its last request could not connect.
func (w *worker) backOff() time.Duration {
	r, x := w.run, &w.x
	if x.givenUp {
		return 0
	}
	if !x.unconnected {
		w.pause = 0
		if !w.reached {
			w.reached = true
			r.reached.Store(true)
		}
		return 0
	}
	if !w.refused {
		w.refused = true
		r.refused.Add(1)
	}
	// A client that has not come back yet may be the one that did connect.
	if x.done > unreachAfter && !r.reached.Load() && int(r.refused.Load()) == len(r.workers) {
		r.finish(fmt.Errorf("no connection could be made in %s: %w", formatDuration(x.done), x.err))
	}
	w.pause = min(max(2*w.pause, minPause), maxPause)
	return w.pause
}

// sleep pauses for d, or until it is clear that no other request will follow.
func (w *worker) sleep(d time.Duration) {
	r := w.run
	if r.end != math.MaxInt64 {
		d = min(d, r.end-r.clock.now())
	}
	if d <= 0 {
		return
	}
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	select {
	case <-w.timer.C:
	case <-r.tickets.gone:
		w.timer.Stop()
	case <-r.ctx.Done():
		w.timer.Stop()
	}
}

// tickets lets exactly n requests of the measured interval begin, whichever clients come first. The counter is shared by all
// workers: what it costs (some nanoseconds) buys that no client holds work that an idle one could do.
type tickets struct {
	bounded bool
	left    atomic.Int64
	gone    chan struct{} // closed with the last ticket drawn; nil: not bounded
}

func (t *tickets) init(n int64) {
	if n > 0 {
		t.bounded, t.gone = true, make(chan struct{})
		t.left.Store(n)
	}
}

func (t *tickets) draw() bool {
	if !t.bounded {
		return true
	}
	left := t.left.Add(-1)
	if left == 0 {
		close(t.gone)
	}
	return left >= 0
}

func (t *tickets) exhausted() bool { return t.bounded && t.left.Load() <= 0 }
