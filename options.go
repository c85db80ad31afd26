package loadtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Options says how much load, for how long, and from where. The zero value is a closed loop of DefaultConcurrency clients for
// DefaultDuration, unpinned, without a warm-up. Combinations that make no sense are errors that name the fields.
type Options struct {
	Name string // label in reports, comparisons and benchmark output

	// The load.

	Concurrency int           // clients, each with at most one request under way (times HTTP.Pipeline); 0: DefaultConcurrency
	Rate        float64       // offered load of all clients together, requests/s; 0: closed loop. Not built yet: an error
	Poisson     bool          // exponential gaps between arrivals instead of equal ones; needs Rate. Not built yet: an error
	Stages      []Stage       // piecewise linear offered load, instead of Rate; Duration is then their sum. Not built yet: an error
	ThinkTime   time.Duration // a client's pause after each response; closed loop only; 0: none

	// The extent. With both Requests and Duration the first to be reached ends the run; with neither, DefaultDuration does.

	Requests int64         // exactly this many requests, whatever Concurrency is; 0: no such limit
	Duration time.Duration // of the measured interval, without warm-up and drain
	Warmup   time.Duration // load before the measured interval, not recorded; 0: none
	Timeout  time.Duration // of one request, a connection that it has to open included; 0: DefaultTimeout; negative: none
	Drain    time.Duration // how long requests under way at the end may take to finish; 0: DefaultDrain; negative: give them up at once

	// The generator itself.

	// CPUs pins the generator's threads to these CPUs, each to one; empty: not pinned. Run fails if that can't be done: the error wraps
	// errors.ErrUnsupported where the operating system has no pinning.
	CPUs CPUSet
	// Threads is how many threads generate load; 0: one per CPU in CPUs, or as many as useful. The "net" and "func" engines give each
	// client a goroutine, and if pinned a thread, of its own: for them Threads says over how many of CPUs the clients are dealt out.
	Threads int
	// Poll makes load threads poll instead of sleeping: each uses the whole of its CPU, and the generator's own wake-up time (40 % of
	// what a sleeping client sees of a 50 us response) leaves the measurement. It wants CPUs of its own, and an HTTP target on Linux.
	Poll bool
	// Seed is that of Poisson arrivals and of every shuffle; the same seed gives the same schedule.
	Seed uint64
	// Server is the process whose CPU time and memory are accounted in Result.Server; nil: none. Not built yet: an error.
	Server *Server

	// Progress, if non-nil, is called about once a second and at the end of each phase, from one goroutine that is not a load thread.
	// Run waits for the last call to return.
	Progress func(Progress) `json:"-"`
}

// What the zero values of Options mean.
const (
	DefaultConcurrency = 64
	DefaultDuration    = 10 * time.Second
	DefaultTimeout     = 10 * time.Second
	DefaultDrain       = 1 * time.Second
)

// A Stage moves the offered load linearly from where the last stage left it (or from 0) to Rate, over Duration.
// Duration 0 is a step.
type Stage struct {
	Rate     float64
	Duration time.Duration
}

// A Server is a server process that a run can pin and account. There is no way to make one yet, and Options.Server must be nil.
type Server struct{ _ struct{} }

// maxConcurrency bounds what is allocated before the first request: more clients than the ports of several addresses.
const maxConcurrency = 1 << 20

// maxLength keeps sums of durations from overflowing.
const maxLength = 10 * 365 * 24 * time.Hour

// validate reports every field that makes no sense, by itself or beside the others.
func (o Options) validate() error {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("loadtest: Options.%s: "+format, append([]any{field}, args...)...))
	}
	if o.Concurrency < 0 || o.Concurrency > maxConcurrency {
		bad("Concurrency", "must be from 0 (the default, %d) to %d (got %d)", DefaultConcurrency, maxConcurrency, o.Concurrency)
	}
	if math.IsNaN(o.Rate) || math.IsInf(o.Rate, 0) || o.Rate < 0 {
		bad("Rate", "must be a finite number of requests per second, not negative (got %v)", o.Rate)
	} else if o.Rate > 0 {
		bad("Rate", "the open loop is not built yet: leave it 0 for a closed loop")
	}
	if o.Poisson {
		bad("Poisson", "needs the open loop, which is not built yet: leave it false")
	}
	if len(o.Stages) > 0 {
		bad("Stages", "need the open loop, which is not built yet: leave them empty")
	}
	if o.Server != nil {
		bad("Server", "server processes are not built yet: leave it nil")
	}
	for _, f := range []struct {
		field string
		value time.Duration
	}{{"ThinkTime", o.ThinkTime}, {"Duration", o.Duration}, {"Warmup", o.Warmup}, {"Timeout", o.Timeout}, {"Drain", o.Drain}} {
		if f.value < 0 && f.field != "Timeout" && f.field != "Drain" {
			bad(f.field, "must not be negative (got %v)", f.value)
		} else if f.value > maxLength {
			bad(f.field, "must not exceed ten years (got %v)", f.value)
		}
	}
	if o.Requests < 0 {
		bad("Requests", "must not be negative (got %d)", o.Requests)
	}
	if o.Threads < 0 {
		bad("Threads", "must not be negative (got %d)", o.Threads)
	} else if o.Concurrency >= 0 && o.Threads > o.withDefaults().Concurrency {
		bad("Threads", "must not exceed Concurrency: a thread without a client would be idle (got %d threads, %d clients)",
			o.Threads, o.withDefaults().Concurrency)
	}
	if err := checkPin(o.CPUs); err != nil {
		bad("CPUs", "%w", err)
	}
	return errors.Join(errs...)
}

// withDefaults returns o with zero values replaced by what they mean. Applied twice it changes nothing more.
func (o Options) withDefaults() Options {
	if o.Concurrency == 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Requests == 0 && o.Duration == 0 {
		o.Duration = DefaultDuration
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Drain == 0 {
		o.Drain = DefaultDrain
	}
	return o
}

// timeout returns Timeout as a bound to compare with.
func (o Options) timeout() time.Duration {
	if o.Timeout < 0 {
		return noTimeout
	}
	return o.Timeout
}

// checkPoll reports why the connections of an HTTP target can't be polled.
func (o Options) checkPoll() error {
	if !o.Poll {
		return nil
	}
	if err := canPoll(); err != nil {
		return fmt.Errorf("loadtest: Options.Poll: %w", err)
	}
	if used := o.usedCPUs(); len(used) > 0 && o.Concurrency > len(used) {
		return fmt.Errorf("loadtest: Options.Poll: a pinned client of the net engine that polls uses the whole of a CPU: Concurrency must not "+
			"exceed the number of CPUs, nor Threads (got %d clients, CPUs %v, Threads %d)", o.Concurrency, o.CPUs, o.Threads)
	}
	return nil
}

// usedCPUs returns those of CPUs that a client is pinned to: not all, if Concurrency or Threads is smaller.
func (o Options) usedCPUs() (used CPUSet) {
	if len(o.CPUs) == 0 {
		return nil
	}
	for i := range o.Concurrency {
		used = append(used, o.cpuOf(i))
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// cpuOf returns the CPU that client i is pinned to, in a set that is not empty: clients are dealt out over threads, threads over CPUs.
func (o Options) cpuOf(i int) int {
	threads := o.Threads
	if threads == 0 {
		threads = len(o.CPUs)
	}
	return o.CPUs[i%threads%len(o.CPUs)]
}
