package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/stat"
)

// Limits are the bounds that a result must keep. Zero fields are not checked, but MaxErrorRate: its zero allows no failure.
type Limits struct {
	MinThroughput                       float64 // successes/s
	MinThroughputPerCore                float64 // successes per second of server CPU time; needs Options.Server
	MaxP50, MaxP99, MaxP999, MaxLatency time.Duration
	MaxErrorRate                        float64 // Failed/Requests, in [0,1]; what is abandoned after the whole drain counts as failed
	MaxServerRSS                        int64   // bytes; needs Options.Server
	Confidence                          float64 // 0: 0.95
}

// A LimitError is one limit that a result has broken.
type LimitError struct {
	Metric     string // "throughput", "throughput-per-core", "p50", "p99", "p99.9", "max", "error-rate", "abandoned", "server-rss", "requests"
	Limit, Got string // as people read them
	Detail     string // the interval, or what failed; may be empty
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("%s is %s, and must be %s", e.Metric, e.Got, e.Limit)
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

// An InconclusiveError is a limit of which the result can't show whether it is kept.
type InconclusiveError struct {
	Metric string // as in LimitError
	Reason string // what keeps the result from showing it, and what to do
}

func (e *InconclusiveError) Error() string { return e.Metric + " is inconclusive: " + e.Reason }

// Check judges r, and returns nil if it keeps all of l. Otherwise the error joins a [*LimitError] for each limit that is broken and an
// [*InconclusiveError] for each that looks broken but can't be shown to be: the generator was saturated, so that throughput is
// only a lower bound and latency an upper one, or too few samples support the quantile.
//
// Errors count first: a server that fails fast is not fast, so that only successes count, and with the zero MaxErrorRate each failure
// breaks a limit, as does each request that has no outcome even after the drain. A result without any success breaks one whatever the limits
// are. Of a statistic with a confidence interval the limit is
// broken only if the whole interval lies beyond it; a value on the wrong side whose interval reaches the right one passes (Assert logs
// it). Under the race detector throughput, latency and memory are not checked, since it alone makes them several times worse.
func (l Limits) Check(r *Result) error {
	c := l.check(r)
	return errors.Join(c.broken...)
}

// A checkup is what Check has found.
type checkup struct {
	limits Limits
	result *Result
	broken []error
	notes  []string // what a person should know though it breaks nothing
}

func (l Limits) check(r *Result) *checkup {
	c := &checkup{limits: l, result: r}
	if err := l.validate(); err != nil {
		c.broken = append(c.broken, err)
		return c
	}
	if r == nil {
		c.broken = append(c.broken, errors.New("loadtest: Limits: there is no result to check"))
		return c
	}
	c.checkErrors()
	switch {
	case r.Succeeded() == 0:
	case r.Host.Race:
		if timed := l.timed(); timed != "" {
			c.note("the race detector is on: %s not checked", timed)
		}
	default:
		c.checkThroughput()
		c.checkLatency()
		c.checkServer()
	}
	return c
}

func (l Limits) validate() error {
	switch {
	case l.Confidence < 0 || l.Confidence >= 1 || l.Confidence != l.Confidence:
		return fmt.Errorf("loadtest: Limits.Confidence: must be 0, for 0.95, or between 0 and 1 (got %v)", l.Confidence)
	case !(l.MaxErrorRate >= 0 && l.MaxErrorRate <= 1):
		return fmt.Errorf("loadtest: Limits.MaxErrorRate: must be from 0 to 1 (got %v)", l.MaxErrorRate)
	case !(l.MinThroughput >= 0), !(l.MinThroughputPerCore >= 0):
		return fmt.Errorf("loadtest: Limits.MinThroughput, MinThroughputPerCore: must not be negative (got %v, %v)", l.MinThroughput, l.MinThroughputPerCore)
	case min(l.MaxP50, l.MaxP99, l.MaxP999, l.MaxLatency) < 0 || l.MaxServerRSS < 0:
		return errors.New("loadtest: Limits: maxima must not be negative")
	}
	return nil
}

// timed names the limits that the race detector makes meaningless.
func (l Limits) timed() string {
	var names []string
	for _, f := range []struct {
		set  bool
		name string
	}{
		{l.MinThroughput > 0, "MinThroughput"}, {l.MinThroughputPerCore > 0, "MinThroughputPerCore"},
		{l.MaxP50 > 0, "MaxP50"}, {l.MaxP99 > 0, "MaxP99"}, {l.MaxP999 > 0, "MaxP999"}, {l.MaxLatency > 0, "MaxLatency"},
		{l.MaxServerRSS > 0, "MaxServerRSS"},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

func (l Limits) confidence() float64 {
	if l.Confidence == 0 {
		return 0.95
	}
	return l.Confidence
}

func (c *checkup) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

func (c *checkup) fail(e *LimitError) { c.broken = append(c.broken, e) }

func (c *checkup) inconclusive(metric, format string, args ...any) {
	c.broken = append(c.broken, &InconclusiveError{metric, fmt.Sprintf(format, args...)})
}

func (c *checkup) checkErrors() {
	r := c.result
	if r.Requests == 0 {
		c.fail(&LimitError{Metric: "requests", Limit: "at least 1", Got: "0", Detail: "nothing completed"})
		return
	}
	if rate := r.ErrorRate(); rate > c.limits.MaxErrorRate {
		c.fail(&LimitError{
			Metric: "error-rate", Limit: "at most " + formatShare(c.limits.MaxErrorRate),
			Got:    fmt.Sprintf("%s, %s of %s requests", formatShare(rate), formatCount(r.Failed), formatCount(r.Requests)),
			Detail: r.describeErrors(),
		})
	} else if r.Succeeded() == 0 {
		c.fail(&LimitError{Metric: "requests", Limit: "at least 1 that succeeds", Got: "0", Detail: r.describeErrors()})
	}
	c.checkAbandoned()
	if r.Resent > 0 {
		c.note("%s had to be sent again, since the server closed the connection without an answer", plural(r.Resent, "request"))
	}
}

// checkAbandoned counts requests without an outcome as failures if they were given the whole of the drain: the server hung. Those that a
// cancelled run, or one without a drain, has given up may be good ones.
func (c *checkup) checkAbandoned() {
	r, o := c.result, c.result.Options
	if r.Abandoned == 0 || o.Drain <= 0 || o.Duration == 0 || r.Elapsed < o.Duration || r.OldestAbandoned < o.Drain {
		return
	}
	got := fmt.Sprintf("%s without an outcome, the oldest after %s", plural(r.Abandoned, "request"), formatDuration(r.OldestAbandoned))
	lost := float64(r.Failed+r.Abandoned) / float64(r.Requests+r.Abandoned)
	if lost > c.limits.MaxErrorRate {
		c.fail(&LimitError{Metric: "abandoned", Limit: "none, but for the failures that are allowed", Got: got})
	}
	if limit := c.limits.MaxLatency; limit > 0 && r.OldestAbandoned > limit && r.Latency.Max() <= limit && !r.Host.Race {
		c.fail(&LimitError{Metric: "max", Limit: "at most " + formatDuration(limit), Got: "more than " + formatDuration(r.OldestAbandoned), Detail: got})
	}
}

// saturated reports whether the generator was what limited the result: throughput is then a lower bound of the target's, latency
// an upper bound, and neither can break a limit.
func (r *Result) saturated() bool {
	for _, w := range r.Warnings {
		if w.Kind == warnSaturated {
			return true
		}
	}
	return false
}

const saturatedReason = "it is %s, and must be %s, but the generator was the limit: give it more CPUs, or the server fewer"

func (c *checkup) checkThroughput() {
	floor := c.limits.MinThroughput
	if floor == 0 {
		return
	}
	ci := c.result.ThroughputCI(c.limits.confidence())
	got, limit := formatRate(ci.Value)+" req/s", "at least "+formatRate(floor)+" req/s"
	switch {
	case ci.Value >= floor:
		if ci.Lo < floor {
			c.note("throughput is %s, but the floor of %s lies within its interval %s", got, formatRate(floor), describeInterval(ci))
		}
	case ci.Hi >= floor && ci.Confidence > 0:
		c.note("throughput is %s, below the floor of %s, which its interval %s still reaches: not shown to be too low", got, formatRate(floor), describeInterval(ci))
	case c.result.saturated():
		c.inconclusive("throughput", saturatedReason, got, limit)
	default:
		c.fail(&LimitError{Metric: "throughput", Limit: limit, Got: got, Detail: describeInterval(ci)})
	}
}

func describeInterval(ci Estimate) string {
	if ci.Confidence == 0 {
		return "too short a run for an interval"
	}
	return fmt.Sprintf("[%s, %s] at %s", formatRate(ci.Lo), formatRate(ci.Hi), formatShare(ci.Confidence))
}

func (c *checkup) checkLatency() {
	r := c.result
	for _, q := range []struct {
		metric string
		q      float64
		limit  time.Duration
	}{{"p50", 0.5, c.limits.MaxP50}, {"p99", 0.99, c.limits.MaxP99}, {"p99.9", 0.999, c.limits.MaxP999}} {
		if q.limit > 0 {
			c.checkQuantile(q.metric, q.q, q.limit)
		}
	}
	if limit, got := c.limits.MaxLatency, r.Latency.Max(); limit > 0 && got > limit {
		if r.saturated() {
			c.inconclusive("max", saturatedReason, formatDuration(got), "at most "+formatDuration(limit))
		} else {
			c.fail(&LimitError{Metric: "max", Limit: "at most " + formatDuration(limit), Got: formatDuration(got)})
		}
	}
}

func (c *checkup) checkQuantile(metric string, q float64, limit time.Duration) {
	r := c.result
	value := r.Latency.Quantile(q)
	lo, hi, ok := r.LatencyCI(q, c.limits.confidence())
	got, want := formatDuration(value), "at most "+formatDuration(limit)
	interval := fmt.Sprintf("[%s, %s] at %s", formatDuration(lo), formatDuration(hi), formatShare(c.limits.confidence()))
	switch {
	case ok && value <= limit:
		if hi > limit {
			c.note("%s is %s, but the limit of %s lies within its interval %s", metric, got, formatDuration(limit), interval)
		}
	case !ok && lo <= limit:
		if r.Latency.Max() > limit { // otherwise not even the slowest is too slow
			c.inconclusive(metric, "it is %s, and must be %s, but it needs %s successes and has %s: measure for longer", got, want,
				formatCount(stat.MinSamples(q, c.limits.confidence())), formatCount(r.Latency.Count()))
		}
	case lo <= limit:
		c.note("%s is %s, above the limit of %s, which its interval %s still reaches: not shown to be too high", metric, got, formatDuration(limit), interval)
	case r.saturated():
		c.inconclusive(metric, saturatedReason, got, want)
	case !ok:
		c.fail(&LimitError{Metric: metric, Limit: want, Got: got, Detail: fmt.Sprintf("at least %s at %s", formatDuration(lo), formatShare(c.limits.confidence()))})
	default:
		c.fail(&LimitError{Metric: metric, Limit: want, Got: got, Detail: interval})
	}
}

func (c *checkup) checkServer() {
	l, r := c.limits, c.result
	unknown := "the result has no server process: set Options.Server"
	if l.MinThroughputPerCore > 0 {
		switch got := r.ThroughputPerCore(); {
		case got == 0:
			c.inconclusive("throughput-per-core", "%s", unknown)
		case got < l.MinThroughputPerCore:
			c.fail(&LimitError{Metric: "throughput-per-core", Limit: "at least " + formatRate(l.MinThroughputPerCore) + " req/s", Got: formatRate(got) + " req/s"})
		}
	}
	if l.MaxServerRSS > 0 {
		switch got := r.Server.MaxRSS; {
		case got == 0:
			c.inconclusive("server-rss", "%s", unknown)
		case got > l.MaxServerRSS:
			c.fail(&LimitError{Metric: "server-rss", Limit: "at most " + formatBytes(float64(l.MaxServerRSS)), Got: formatBytes(float64(got))})
		}
	}
}

// AssertThroughput fails tb unless r has no failed request and a throughput of at least floor successes/s. It is
// [Assert] with a floor alone.
func AssertThroughput(tb testing.TB, r *Result, floor float64) {
	tb.Helper()
	Assert(tb, r, Limits{MinThroughput: floor})
}

// Assert judges a result that is already there as [Limits.Check] does, and fails tb with tb.Errorf: every broken limit at once, at the
// caller's line, with the report. What is uncertain but not broken, and under the race detector what was not checked, is logged.
// It does not end the test.
func Assert(tb testing.TB, r *Result, l Limits) {
	tb.Helper()
	c := l.check(r)
	if len(c.notes) > 0 {
		tb.Logf("loadtest: %s", strings.Join(c.notes, "\nloadtest: "))
	}
	if len(c.broken) == 0 {
		return
	}
	var b bytes.Buffer
	for _, err := range c.broken {
		fmt.Fprintf(&b, "loadtest: %s\n", strings.TrimPrefix(err.Error(), "loadtest: "))
	}
	if r != nil {
		b.WriteByte('\n')
		_ = WriteText(&b, r) // a Buffer does not fail
	}
	tb.Errorf("%s", strings.TrimRight(b.String(), "\n"))
}

// Bench runs b.N requests against target and reports them as metrics of b: req/s, p50-ns, p99-ns, and failures if there were any; ns/op is
// time per request, of all clients together. opts.Requests and opts.Duration must be zero: b.N says how many. The benchmark fails if Run
// does, or if a request failed. The result is that of the last call, for b runs a benchmark function several times.
func Bench(b *testing.B, target Target, opts Options) *Result {
	b.Helper()
	if opts.Requests != 0 || opts.Duration != 0 {
		b.Fatalf("loadtest: Bench: Options.Requests and Options.Duration must be zero, since b.N says how many (got %d, %v)", opts.Requests, opts.Duration)
	}
	opts.Requests = int64(b.N)
	if opts.Name == "" {
		opts.Name = b.Name()
	}
	if progress := opts.Progress; opts.Warmup > 0 {
		opts.Progress = func(p Progress) {
			if p.Phase == "warmup" && p.Elapsed >= p.Total {
				b.ResetTimer()
			}
			if progress != nil {
				progress(p)
			}
		}
	}
	b.ResetTimer()
	r, err := Run(b.Context(), target, opts)
	b.StopTimer()
	if err != nil {
		b.Fatalf("%v", err)
	}
	b.ReportMetric(float64(r.Elapsed.Nanoseconds())/float64(r.Requests), "ns/op")
	b.ReportMetric(r.Throughput(), "req/s")
	if r.Latency.Count() > 0 {
		b.ReportMetric(float64(r.Latency.Quantile(0.5)), "p50-ns")
		b.ReportMetric(float64(r.Latency.Quantile(0.99)), "p99-ns")
	}
	if r.Failed > 0 {
		b.ReportMetric(float64(r.Failed), "failures")
		b.Errorf("loadtest: %s of %s failed: %s", formatCount(r.Failed), plural(r.Requests, "request"), r.describeErrors())
	}
	return r
}
