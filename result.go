package loadtest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/loadtest-go/loadtest/internal/stat"
)

// A Result is the outcome of one Run: what was asked, where, and what was seen. Fields are raw counts and distributions; rates and
// ratios are methods. None of them is ever NaN or infinite.
//
// A request belongs to the measured interval if it began there. One that began in the warm-up is a warm-up request, whenever it ends; one
// that began in the measured interval and ended in the drain is in Requests, so that the slowest are not left out. Always:
//
//   - requests issued = WarmupRequests + Requests + Abandoned
//   - Requests = succeeded + Failed
//   - Latency.Count() = succeeded
//   - the counts in Errors add up to Failed
//   - requests the server has received = requests issued - Unwritten, and up to Resent more
type Result struct {
	Options Options // as used, with defaults filled in
	Target  string  // what was loaded, in words: "GET http://127.0.0.1:8080/"
	Engine  string  // what generated the load: "io_uring", "epoll", "net", "func"
	Host    Host
	Start   time.Time     // of the run, warm-up included
	Elapsed time.Duration // the measured interval: Options.Duration, or less if Requests or ctx ended it

	Requests       int64 // completed, failed ones included
	Failed         int64 // of those: errors, timeouts, unexpected statuses, failed checks
	Drained        int64 // of Requests: under way when the measured interval ended, and completed in the drain
	Abandoned      int64 // under way when the drain ended, or when ctx did; no outcome. Those of the warm-up are among them
	Unsent         int64 // open loop: due in the measured interval but never sent
	WarmupRequests int64 // completed, and begun before the measured interval; in no other count but the next
	WarmupFailed   int64 // of those: failed
	Resent         int64 // transmissions beyond the first of a request, in the warm-up too: see [HTTP]
	Unwritten      int64 // HTTP: failed requests, in the warm-up too, of which not a byte was written: the server has not seen them

	OldestAbandoned time.Duration // age of the oldest abandoned request when it was given up

	BytesRead, BytesWritten int64                 // HTTP: heads and bodies (inside of TLS); others: what Do returned, and 0
	BodyBytes               int64                 // response bodies alone, without the framing of chunks
	Connections             int64                 // opened, in the warm-up too
	Statuses                map[int]int64         // HTTP: responses received whole, by status code; nil: none
	Errors                  map[string]ErrorCount // failures by kind: see [ErrorCount]; nil: none

	Latency       *Histogram // of successes. Open loop: response time, from when the request was due. Closed: service time
	ServiceTime   *Histogram // of successes, from first byte written to last byte read; in the closed loop the same as Latency
	TotalTime     *Histogram // of successes, from when a client turned to the request to the last byte read: a dial included
	FailedLatency *Histogram // of failures, timeouts included, from when the client turned to the request
	Connect       *Histogram // dials (and TLS handshakes), one sample per connection opened, in the warm-up too
	FirstByte     *Histogram // of successes, from first byte written to first byte read; HTTP only
	SendLag       *Histogram // open loop: what the generator is to blame for: from when a request was due and a connection idle, to written
	QueueWait     *Histogram // open loop: what the server is to blame for: from due until a connection was idle

	Intervals []Interval // equal slices of the measured interval
	Clients   Spread     // requests per client: fairness
	Sample    Sample     // HTTP: the first response that was accepted
	Generator Usage      // CPU time and memory of the load threads
	Server    Usage      // of Options.Server's process tree; zero if there was none
	Warnings  []Warning  // reasons to doubt the numbers
}

// An ErrorCount is what is known of the failures of one kind. The kinds are few and stable:
//
//	connect          no connection: refused, unreachable, or a unix socket that isn't there
//	address          no local port left to connect from
//	descriptors      no file descriptor left
//	tls              the TLS handshake failed, or the peer sent an alert
//	timeout          no outcome within Options.Timeout
//	reset            the connection was reset
//	eof              the connection was closed before the response was whole
//	parse            what came is not an HTTP/1.1 response, or more than one
//	body-too-large   the body exceeds HTTP.MaxBody
//	status           the status is not the expected one
//	check            HTTP.Check returned an error
//	error            any other error, of a Func or a user's Client
type ErrorCount struct {
	Count       int64
	Sample      string        // the first error in full, up to 1 KiB
	First, Last time.Duration // since Start
}

// An Interval is a slice of the measured interval. The requests that began in it are counted in it; those that were abandoned in none.
// The last one of a run bounded by Requests may be shorter than the others.
type Interval struct {
	Offset, Length   time.Duration // Offset is since the measured interval began
	Requests, Failed int64
	P50, P99, Max    time.Duration // of successes; 0 if there were none
}

// A Spread is the least, the middle and the greatest of some counts.
type Spread struct{ Min, Median, Max int64 }

// A Sample is what the first accepted response looked like: enough to see that the right thing was loaded.
type Sample struct {
	Status    int    `json:"status"`
	Server    string `json:"server,omitempty"` // the Server header
	BodyBytes int64  `json:"body_bytes"`
	TLS       string `json:"tls,omitempty"` // version, cipher suite and application protocol; "" without TLS
}

// Usage is what a set of threads or processes consumed in the measured interval.
//
// For the generator these are the load threads alone if Options.CPUs pins them, and otherwise the whole of this process, since goroutines
// share its threads.
type Usage struct {
	User, System time.Duration
	CPUs         CPUSet // what they were allowed to run on; empty: unknown
	MaxRSS       int64  // bytes, the peak of the sum over the process tree; 0: unknown. Of the generator: of this process, since it started
	Processes    int
}

// A Warning is a reason to doubt a result. Kind is stable, Text is for people.
type Warning struct{ Kind, Text string } // "generator-saturated", "shared-cpus", see the package comment

// String returns kind and text, in a line that no terminal acts upon.
func (w Warning) String() string { return printable(w.Kind+": "+w.Text, 2000) }

// An Estimate is a statistic with a confidence interval. With too few samples Lo and Hi are equal to Value and Confidence is 0.
type Estimate struct{ Value, Lo, Hi, Confidence float64 }

// Succeeded returns Requests - Failed.
func (r *Result) Succeeded() int64 { return r.Requests - r.Failed }

// Throughput returns successes per second of the measured interval; 0 if there was none.
func (r *Result) Throughput() float64 { return perSecond(r.Succeeded(), r.Elapsed) }

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// ThroughputCI returns Throughput with its confidence interval, confidence in (0,1), from the successes in each of Intervals:
// neighbours are merged into 20 to 39 batches, and further for as long as batches depend on each other; then Student's t. With fewer than
// ten equal intervals, or 100 successes, there is none. It says how well this run was measured; another run, of a server started anew,
// may differ by more.
func (r *Result) ThroughputCI(confidence float64) Estimate {
	value := r.Throughput()
	b, ok := stat.BatchMean(r.intervalRates(), confidence)
	if !ok || r.Succeeded() < minForInterval {
		return Estimate{Value: value, Lo: value, Hi: value}
	}
	// The shorter interval at the end is in the value and not in the batches; what is reported holds both.
	return Estimate{Value: value, Lo: max(min(b.Low, value), 0), Hi: max(b.High, value), Confidence: confidence}
}

// minForInterval is how many successes an interval of the throughput needs at least: below, slices are all but empty.
const minForInterval = 100

// intervalRates returns the successes per second of each of the equal intervals.
func (r *Result) intervalRates() (rates []float64) {
	for _, iv := range r.Intervals {
		if iv.Length >= r.Intervals[0].Length*99/100 { // not the shorter one at the end
			rates = append(rates, perSecond(iv.Requests-iv.Failed, iv.Length))
		}
	}
	return rates
}

// ThroughputPerCore returns successes per second of the server's CPU time; 0 without Options.Server.
func (r *Result) ThroughputPerCore() float64 {
	return perSecond(r.Succeeded(), r.Server.User+r.Server.System)
}

// LatencyCI returns the confidence interval of the q-quantile of Latency, q and confidence in (0,1): the values of two ranks between which
// the true quantile lies with that probability, whatever the distribution (exact binomial order statistics), if responses are independent
// of each other. Slow ones that come in bursts make the true interval wider. ok is false if there are too few samples for an upper bound:
// p99 needs 368 for 95 %, p99.9 needs 3688; lo is then a lower bound nevertheless, or 0 if there is none.
func (r *Result) LatencyCI(q, confidence float64) (lo, hi time.Duration, ok bool) {
	i, j, ok := stat.QuantileRanks(r.Latency.Count(), q, confidence)
	if i > 0 {
		lo = r.Latency.atRank(i)
	}
	if ok {
		hi = r.Latency.atRank(j)
	}
	return lo, hi, ok
}

// Goodput returns successes per second that took no longer than limit.
func (r *Result) Goodput(limit time.Duration) float64 {
	return r.Throughput() * r.Latency.Within(0, limit)
}

// ErrorRate returns Failed/Requests, in [0,1]; 1 if nothing completed.
func (r *Result) ErrorRate() float64 {
	if r.Requests == 0 {
		return 1
	}
	return float64(r.Failed) / float64(r.Requests)
}

// String returns the result in one line.
func (r *Result) String() string {
	s := fmt.Sprintf("%s: %s req/s", printable(r.label(), 200), formatRate(r.Throughput()))
	if r.Latency.Count() > 0 {
		s += fmt.Sprintf(", p50 %s, p99 %s", formatDuration(r.Latency.Quantile(0.5)), formatDuration(r.Latency.Quantile(0.99)))
	}
	s += fmt.Sprintf(" (%d of %d succeeded in %s)", r.Succeeded(), r.Requests, formatDuration(r.Elapsed))
	if n := len(r.Warnings); n > 0 {
		s += fmt.Sprintf(", %s", plural(int64(n), "warning"))
	}
	return s
}

// label names the result in reports: the name it was given, or what was loaded.
func (r *Result) label() string {
	if r.Options.Name != "" {
		return r.Options.Name
	}
	return r.Target
}

// busyCPUs returns how many CPUs u kept busy on average over the measured interval.
func (r *Result) busyCPUs(u Usage) float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(u.User+u.System) / float64(r.Elapsed)
}

// describeErrors returns the kinds of failures, the most frequent first, with the first sample of each.
func (r *Result) describeErrors() string {
	kinds := kindsByCount(r.Errors)
	for i, kind := range kinds {
		e := r.Errors[kind]
		kinds[i] = fmt.Sprintf("%s %s: %s", formatCount(e.Count), kind, e.Sample)
	}
	return strings.Join(kinds, "; ")
}

// finite is f, or 0 where f is NaN or infinite: options come from users, and no report may hold either.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
