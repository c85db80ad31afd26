package loadtest

import (
	"context"
	"errors"
	"time"
)

// ErrNoRequests is wrapped by the error of a [Run] in which not one request came to an outcome, good or bad: there is nothing to measure.
var ErrNoRequests = errors.New("no request completed")

// Run puts target under load as opts says, and reports what it measured.
//
// An error means that there is no trustworthy measurement: the options make no sense, no client could be made, not one request
// completed. Requests that failed are counts in the Result, not an error; but a run in which no connection could be made for three
// seconds, from its beginning on, ends with an error that says why. If ctx ends first, Run stops sending at once, gives up the
// requests under way, and returns the partial Result together with an error that wraps context.Cause(ctx). The Result is nil only if
// no load was generated at all.
//
// With a Duration, Run returns within Warmup + Duration + Drain and a few milliseconds, whatever the target does, once the clients are
// made; without one, when the last of Requests has an outcome. The one exception is a [Func] or [Client] that goes on after its context
// has ended: Run waits for it one second longer, then leaves it behind and says so in a [Warning].
//
// Run touches nothing global: no signal handlers, no GOMAXPROCS, no flags, no output, no environment. When it returns, no goroutine,
// file descriptor or CPU mask of its own is left. Any number of Runs may be under way at once.
func Run(ctx context.Context, target Target, opts Options) (*Result, error) {
	if ctx == nil {
		return nil, errors.New("loadtest: Run: ctx must not be nil")
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	p, err := newPlan(ctx, target, opts)
	if err != nil {
		return nil, err
	}
	return p.run(ctx)
}

// A Target is something that Run can put under load: [*HTTP], [Handler], [Func], or the user's own. If it has a String method, that names it
// in reports.
//
// Run drives *HTTP faster than it can drive a Target that wraps one: Result.Engine says what ran.
type Target interface {
	// NewClient returns client number i, 0 <= i < Options.Concurrency, for the exclusive use of one goroutine.
	// Run makes all clients, one after the other, before the warm-up starts and closes them at the end. An error ends the Run.
	// ctx lives as long as the client may send requests: when it ends, Run is over.
	NewClient(ctx context.Context, i int) (Client, error)
}

// A Client issues requests, one at a time. Run does the timing and the pacing; a Client that retries or measures by itself spoils it.
type Client interface {
	// Do issues one request and waits until its response has been consumed. It returns the size of the response in bytes.
	// It is called again and again from one goroutine, and must return soon after ctx ends: at Options.Timeout, which makes the
	// request a failure of kind "timeout", or when the run is over, which does not. Run sorts errors into few kinds by what they wrap
	// (errno values, io.EOF, context errors, TLS errors); all others are of kind "error". After an error of kind "connect" the client
	// waits before its next request, as those of HTTP do.
	//
	// A Client that waits on a connection obeys ctx by setting a deadline that has passed:
	//
	//	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	//	defer stop()
	Do(ctx context.Context) (n int64, err error)
	// Close is called once, after the last Do has returned, by the goroutine that called Do or by that of Run.
	Close() error
}

// Func adapts an ordinary function, safe for concurrent use, to a [Target]. It is called as [Client.Do] is, by all clients.
type Func func(ctx context.Context) error

// NewClient returns a client that calls f.
func (f Func) NewClient(context.Context, int) (Client, error) {
	if f == nil {
		return nil, errors.New("loadtest: Func: must not be nil")
	}
	return f, nil
}

// Do calls f.
func (f Func) Do(ctx context.Context) (int64, error) { return 0, f(ctx) }

// Close does nothing.
func (f Func) Close() error { return nil }

// Progress is how far a run has come.
type Progress struct {
	Phase      string        // "warmup", "measure", "drain"
	Elapsed    time.Duration // since the phase began
	Total      time.Duration // expected length of the phase; 0 if it is bounded by Requests alone
	Requests   int64         // completed so far, in this phase; in "drain", in the measured interval and since
	Expected   int64         // Options.Requests, or 0
	Failed     int64         // of Requests; 0 in "warmup"
	Throughput float64       // requests/s since the previous call
	P50, P99   time.Duration // of the successes recorded since the previous call; 0 if there were none
}

// ETA returns how long the phase still takes if it goes on as it has, and false if nothing can be said yet. A phase that both Total and
// Expected bound ends with the first.
func (p Progress) ETA() (time.Duration, bool) {
	left, ok := time.Duration(0), false
	if p.Total > 0 {
		left, ok = max(p.Total-p.Elapsed, 0), true
	}
	if p.Expected > 0 && p.Requests > 0 && p.Phase == "measure" {
		byCount := time.Duration(float64(p.Elapsed) / float64(p.Requests) * float64(max(p.Expected-p.Requests, 0)))
		if !ok || byCount < left {
			left, ok = byCount, true
		}
	}
	return left, ok
}
