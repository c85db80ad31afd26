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

	// Owned by the worker's goroutine until it has exited or was left behind.
	rec       recorder
	x         exchange
	until     time.Duration // hand the slice over when a request begins at or after this
	sliceAt   time.Duration // a moment in the slice that is being counted
	lastDone  time.Duration // of the requests of the measured interval
	lastBegun time.Duration
	warmed    int64 // warm-up requests that completed
	abandoned int64
	oldest    time.Duration // age of the oldest request that was abandoned
	unsent    bool          // the run ended while the client waited for a connection
	used      cpuTime       // CPU time of the thread in the measured interval, if it is the worker's own
	usedAt    cpuTime
	measuring bool
	refused   int // failures to connect in a row
	pinErr    error
	timer     *time.Timer

	// turn is 2n while the worker is between requests, n of them behind it; 2n+1 while it waits for one; leftBehind if the run went on
	// without it. The worker writes it, progress reads it, and so does Run when a client does not come back.
	turn   atomic.Int64
	warm   atomic.Int64 // warm-up requests: what turn counted when the measured interval began; -1: it has not
	failed atomic.Int64 // of the measured interval
}

const leftBehind = -1

// loop issues requests until the run has had enough. It returns early, without a trace, if the run has left it behind.
func (w *worker) loop() {
	r := w.run
	for !r.stopped.Load() {
		now := r.clock.now()
		measured := now >= r.start
		if measured && !w.admit(now) {
			break
		}
		if !w.issue(now) {
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
		w.warm.Store(w.turn.Load() / 2)
		w.usedAt, _ = threadCPUTime()
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

// issue has the client exchange one request. False: it came back so late that the run has left it behind, and may be over.
func (w *worker) issue(now time.Duration) bool {
	w.x.begin(now)
	turn := w.turn.Load() + 1
	w.turn.Store(turn)
	w.client.exchange(&w.x)
	return w.turn.CompareAndSwap(turn, turn+1)
}

// count counts the exchange that has just come back.
func (w *worker) count(measured bool) {
	x := &w.x
	w.rec.connected(x)
	switch {
	case x.givenUp:
		w.turn.Add(-2) // this one is not behind the worker, and will not be
		if x.unsent {
			w.unsent = true
			return
		}
		w.abandon(x.done)
		w.rec.transferred(x)
	case measured:
		w.rec.record(x, w.run.end)
		w.lastDone = x.done
		if x.kind != failNone {
			w.failed.Add(1)
		}
	default:
		w.warmed++
		w.rec.keepSample(x)
	}
}

func (w *worker) abandon(now time.Duration) {
	w.abandoned++
	w.oldest = max(w.oldest, now-w.x.begun)
}

// finish hands over what is left.
func (w *worker) finish() {
	if w.measuring {
		if at, ok := threadCPUTime(); ok {
			w.used = at.minus(w.usedAt)
		}
		w.run.timeline.handOver(&w.rec.slice, w.sliceAt, w.lastBegun)
	}
}

// A connection that could not be made is tried again after a pause, which doubles from one failure to the next: a server that is gone
// must not be answered with a storm, and one that comes back not be missed for long. If there never was one, the run is not worth its
// time.
const (
	minPause     = time.Millisecond
	maxPause     = 250 * time.Millisecond
	unreachAfter = 3 * time.Second
)

// backOff returns how long the worker is to wait because of how the last request ended.
func (w *worker) backOff() time.Duration {
	r, x := w.run, &w.x
	switch x.kind {
	case failConnect, failAddress, failDescriptors, failTLS:
	default:
		if w.refused >= 0 {
			w.refused = -1
			r.reached.Store(true)
		}
		return 0
	}
	if x.done > unreachAfter && !r.reached.Load() {
		r.cancel(fmt.Errorf("no connection could be made in %s: %w", formatDuration(x.done), x.err))
	}
	w.refused = max(w.refused, 0)
	pause := min(minPause<<min(w.refused, 16), maxPause)
	w.refused++
	return pause
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

// leave gives the worker up if it is waiting for its client: from now on its goroutine touches nothing but the client, and what it has
// counted is the caller's. False: it is not waiting, and will exit by itself.
func (w *worker) leave(now time.Duration) bool {
	turn := w.turn.Load()
	if turn%2 == 0 || !w.turn.CompareAndSwap(turn, leftBehind) {
		return false
	}
	w.abandon(now)
	if w.measuring {
		w.run.timeline.handOver(&w.rec.slice, w.sliceAt, w.lastBegun)
	}
	return true
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
