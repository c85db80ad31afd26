package loadtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A recordingTB is a testing.TB that takes down what is said to it.
type recordingTB struct {
	testing.TB // nil: any other method panics
	errors     []string
	logs       []string
	helpers    int
}

func (tb *recordingTB) Helper() { tb.helpers++ }
func (tb *recordingTB) Logf(f string, args ...any) {
	tb.logs = append(tb.logs, fmt.Sprintf(f, args...))
}
func (tb *recordingTB) Errorf(f string, args ...any) {
	tb.errors = append(tb.errors, fmt.Sprintf(f, args...))
}

// steady returns a result of n successes of the same latency, evenly spread over a second.
func steady(n int64, latency time.Duration) *Result {
	r := &Result{
		Options: Options{Concurrency: 1}.withDefaults(), Target: "GET http://127.0.0.1:80/", Engine: "net",
		Elapsed: time.Second, Requests: n,
		Latency: new(Histogram), FailedLatency: new(Histogram),
	}
	r.Latency.RecordN(latency, n)
	for i := range 50 {
		// A little noise, so that there is an interval to speak of.
		noise := []int64{0, 3, -1, 2, -4}[i%5] * n / 50 / 100
		r.Intervals = append(r.Intervals, Interval{Offset: time.Duration(i) * 20 * time.Millisecond, Length: 20 * time.Millisecond, Requests: n/50 + noise})
	}
	return r
}

// failed turns n of the requests of r into failures.
func failed(r *Result, n int64, kind string) *Result {
	r.Failed = n
	r.Errors = map[string]ErrorCount{kind: {Count: n, Sample: "unexpected status 500"}}
	r.FailedLatency.RecordN(time.Millisecond, n)
	ok := new(Histogram)
	if r.Requests > n {
		ok.RecordN(r.Latency.Max(), r.Requests-n)
	}
	r.Latency = ok
	for i := range r.Intervals {
		r.Intervals[i].Failed = r.Intervals[i].Requests * n / r.Requests
	}
	return r
}

func with(r *Result, f func(*Result)) *Result {
	f(r)
	return r
}

func saturated(r *Result) { r.Warnings = []Warning{{"generator-saturated", "it was"}} }

func hung(r *Result) {
	r.Options.Duration = time.Second
	r.Abandoned, r.OldestAbandoned = 7, 1500*time.Millisecond
}

func TestLimitsCheck(t *testing.T) {
	const ms = time.Millisecond
	tail := func(n, slow int64) *Result {
		r := steady(n, ms)
		r.Latency = new(Histogram)
		r.Latency.RecordN(ms, n-slow)
		r.Latency.RecordN(100*ms, slow)
		return r
	}
	for _, tt := range []struct {
		name         string
		r            *Result
		l            Limits
		broken       []string // metrics of LimitErrors
		inconclusive []string // metrics of InconclusiveErrors
	}{
		{"nothing asked, nothing failed", steady(1000, ms), Limits{}, nil, nil},
		{"floor kept", steady(10000, ms), Limits{MinThroughput: 9000}, nil, nil},
		{"floor broken", steady(10000, ms), Limits{MinThroughput: 11000}, []string{"throughput"}, nil},
		{"floor within the interval", steady(10000, ms), Limits{MinThroughput: 10010}, nil, nil},
		{"floor looks broken, generator saturated", with(steady(10000, ms), saturated), Limits{MinThroughput: 11000}, nil, []string{"throughput"}},
		{"floor kept though the generator was saturated", with(steady(10000, ms), saturated), Limits{MinThroughput: 9000}, nil, nil},
		{"no interval: the value counts", with(steady(50, ms), func(r *Result) { r.Intervals = nil }), Limits{MinThroughput: 60}, []string{"throughput"}, nil},
		{"one failure, none allowed", failed(steady(10000, ms), 1, "reset"), Limits{}, []string{"error-rate"}, nil},
		{"failures within the budget", failed(steady(10000, ms), 10, "reset"), Limits{MaxErrorRate: 0.001}, nil, nil},
		{"failures beyond the budget", failed(steady(10000, ms), 11, "reset"), Limits{MaxErrorRate: 0.001}, []string{"error-rate"}, nil},
		{"fast failures are not fast", failed(steady(100000, ms), 99000, "status"), Limits{MinThroughput: 50000, MaxErrorRate: 1}, []string{"throughput"}, nil},
		{"all failed, all allowed", failed(steady(1000, ms), 1000, "status"), Limits{MaxErrorRate: 1}, []string{"requests"}, nil},
		{"nothing completed", &Result{}, Limits{MinThroughput: 1, MaxErrorRate: 1}, []string{"requests"}, nil},
		{"latency kept", steady(10000, ms), Limits{MaxP50: 2 * ms, MaxP99: 2 * ms, MaxP999: 2 * ms, MaxLatency: 2 * ms}, nil, nil},
		{"latency broken, all at once", steady(10000, 3*ms), Limits{MaxP50: 2 * ms, MaxP99: 2 * ms, MaxP999: 2 * ms, MaxLatency: 2 * ms}, []string{"p50", "p99", "p99.9", "max"}, nil},
		{"tail broken, median kept", tail(10000, 500), Limits{MaxP50: 2 * ms, MaxP99: 50 * ms}, []string{"p99"}, nil},
		{"tail may be kept", tail(10000, 101), Limits{MaxP99: 50 * ms}, nil, nil},
		{"too few samples, one is slow", tail(100, 1), Limits{MaxP99: 50 * ms}, nil, []string{"p99"}},
		{"few samples, but enough are slow", tail(100, 5), Limits{MaxP99: 50 * ms}, []string{"p99"}, nil},
		{"floor within the interval, generator saturated", with(steady(10000, ms), saturated), Limits{MinThroughput: 10010}, nil, nil},
		{"hung", with(steady(10000, ms), hung), Limits{}, []string{"abandoned"}, nil},
		{"hung for longer than allowed", with(steady(10000, ms), hung), Limits{MaxErrorRate: 0.01, MaxLatency: 500 * ms}, []string{"max"}, nil},
		{"given up without a drain", with(with(steady(10000, ms), hung), func(r *Result) { r.Options.Drain = -1 }), Limits{}, nil, nil},
		{"cancelled with a slow one under way", with(with(steady(10000, ms), hung), func(r *Result) { r.Elapsed /= 2 }), Limits{}, nil, nil},
		{"given up at a cancel", with(with(steady(10000, ms), hung), func(r *Result) { r.OldestAbandoned = 5 * ms }), Limits{}, nil, nil},
		{"too few samples, none is slow", tail(100, 0), Limits{MaxP99: 50 * ms}, nil, nil},
		{"latency of a saturated generator", with(steady(10000, 3*ms), saturated), Limits{MaxP50: 2 * ms, MaxLatency: 2 * ms}, nil, []string{"p50", "max"}},
		{"several at once", failed(steady(10000, 3*ms), 5, "eof"), Limits{MinThroughput: 20000, MaxP50: 2 * ms}, []string{"error-rate", "throughput", "p50"}, nil},
		{"no server to judge", steady(1000, ms), Limits{MinThroughputPerCore: 1, MaxServerRSS: 1}, nil, []string{"throughput-per-core", "server-rss"}},
		{"server kept", with(steady(1000, ms), func(r *Result) { r.Server = Usage{User: time.Second / 2, MaxRSS: 10} }), Limits{MinThroughputPerCore: 1999, MaxServerRSS: 10}, nil, nil},
		{"server broken", with(steady(1000, ms), func(r *Result) { r.Server = Usage{User: time.Second / 2, MaxRSS: 10} }), Limits{MinThroughputPerCore: 2001, MaxServerRSS: 9}, []string{"throughput-per-core", "server-rss"}, nil},
		{"race detector: floors not checked", with(steady(10, 3*ms), func(r *Result) { r.Host.Race = true }), Limits{MinThroughput: 1e9, MaxP50: 1}, nil, nil},
		{"race detector: errors still count", with(failed(steady(1000, ms), 1, "eof"), func(r *Result) { r.Host.Race = true }), Limits{MinThroughput: 1e9}, []string{"error-rate"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var broken, inconclusive []string
			if err := tt.l.Check(tt.r); err != nil {
				for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
					var limit *LimitError
					var open *InconclusiveError
					switch {
					case errors.As(e, &limit):
						broken = append(broken, limit.Metric)
					case errors.As(e, &open):
						inconclusive = append(inconclusive, open.Metric)
					default:
						t.Errorf("unexpected error %v", e)
					}
				}
			}
			if fmt.Sprint(broken) != fmt.Sprint(tt.broken) || fmt.Sprint(inconclusive) != fmt.Sprint(tt.inconclusive) {
				t.Errorf("broken %v, inconclusive %v; want %v, %v", broken, inconclusive, tt.broken, tt.inconclusive)
			}
		})
	}
}

func TestLimitsValidate(t *testing.T) {
	for _, l := range []Limits{{Confidence: 1}, {Confidence: -0.1}, {MaxErrorRate: 1.5}, {MaxErrorRate: -1}, {MinThroughput: -1}, {MaxP99: -1}, {MaxServerRSS: -1}} {
		if err := l.Check(steady(1000, 1)); err == nil || !strings.HasPrefix(err.Error(), "loadtest: Limits") {
			t.Errorf("%+v: error %v, want one that names the field", l, err)
		}
	}
	if err := (Limits{}).Check(nil); err == nil {
		t.Error("no result: no error")
	}
}

func TestAssert(t *testing.T) {
	for _, tt := range []struct {
		name  string
		r     *Result
		l     Limits
		wants []string // in the one error; none: passes
		logs  []string
	}{
		{"kept", steady(10000, time.Millisecond), Limits{MinThroughput: 5000}, nil, nil},
		{"broken: every limit, and the report", failed(steady(10000, 3*time.Millisecond), 7, "reset"), Limits{MinThroughput: 20000, MaxP50: time.Millisecond},
			[]string{"error-rate is 0.07 %, 7 of 10,000 requests", "at most 0 %", "7 reset: unexpected status 500", "throughput is 9,993 req/s", "at least 20,000 req/s", "95 %", "p50 is 3.00ms", "GET http://127.0.0.1:80/"}, nil},
		{"uncertain", steady(10000, time.Millisecond), Limits{MinThroughput: 10010}, nil, []string{"not shown to be too low"}},
		{"race", with(steady(10000, time.Millisecond), func(r *Result) { r.Host.Race = true }), Limits{MinThroughput: 1e9, MaxP99: 1}, nil, []string{"MinThroughput, MaxP99 not checked"}},
		{"no result", nil, Limits{}, []string{"no result"}, nil},
		{"no samples", &Result{}, Limits{}, []string{"nothing completed"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tb := new(recordingTB)
			Assert(tb, tt.r, tt.l)
			if len(tt.wants) == 0 && len(tb.errors) > 0 || len(tt.wants) > 0 && len(tb.errors) != 1 {
				t.Fatalf("%d errors, want all in one: %v", len(tb.errors), tb.errors)
			}
			for _, want := range tt.wants {
				if !strings.Contains(tb.errors[0], want) {
					t.Errorf("the error does not say %q:\n%s", want, tb.errors[0])
				}
			}
			if logs := strings.Join(tb.logs, "\n"); len(tt.logs) == 0 && logs != "" {
				t.Errorf("logged %q, want nothing", logs)
			} else {
				for _, want := range tt.logs {
					if !strings.Contains(logs, want) {
						t.Errorf("logged %q, want %q in it", logs, want)
					}
				}
			}
			if tb.helpers == 0 {
				t.Error("Assert is no helper: the failure would not be at the caller's line")
			}
		})
	}
}

func TestAssertThroughput(t *testing.T) {
	tb := new(recordingTB)
	AssertThroughput(tb, steady(10000, time.Millisecond), 9000)
	if len(tb.errors) != 0 {
		t.Errorf("floor kept: %v", tb.errors)
	}
	AssertThroughput(tb, steady(10000, time.Millisecond), 20000)
	if len(tb.errors) != 1 || tb.helpers < 2 {
		t.Errorf("floor broken: %d errors, %d helpers; want 1, and both functions", len(tb.errors), tb.helpers)
	}
}

// TestFastFailuresDoNotPass is the whole way, from a target that fails at once to the helper.
func TestFastFailuresDoNotPass(t *testing.T) {
	r, err := Run(t.Context(), Func(func(context.Context) error { return errors.New("500") }), Options{Requests: 10000})
	if err != nil {
		t.Fatal(err)
	}
	tb := new(recordingTB)
	AssertThroughput(tb, r, 1)
	if len(tb.errors) != 1 || !strings.Contains(tb.errors[0], "error-rate is 100 %") {
		t.Errorf("errors = %v, want one about the error rate", tb.errors)
	}
}

func TestBench(t *testing.T) {
	var got *Result
	br := testing.Benchmark(func(b *testing.B) {
		got = Bench(b, Func(func(context.Context) error { runtime.Gosched(); return nil }), Options{Concurrency: 4})
	})
	if got == nil {
		t.Fatal("the benchmark failed")
	}
	checkInvariants(t, got)
	if int64(br.N) != got.Requests {
		t.Errorf("b.N = %d, %d requests", br.N, got.Requests)
	}
	for _, unit := range []string{"req/s", "p50-ns", "p99-ns", "ns/op"} {
		if br.Extra[unit] <= 0 {
			t.Errorf("metric %s = %v", unit, br.Extra[unit])
		}
	}
}

func TestBenchDoesNotTimeTheWarmUp(t *testing.T) {
	br := testing.Benchmark(func(b *testing.B) {
		Bench(b, sleeper(0), Options{Concurrency: 1, Warmup: 50 * time.Millisecond})
	})
	if br.N < 100 || br.T < time.Millisecond { // with the warm-up in it, testing would have been content with few
		t.Errorf("b.N = %d in %v", br.N, br.T)
	}
}

func TestBenchFails(t *testing.T) {
	for name, bench := range map[string]func(*testing.B){
		"requests given": func(b *testing.B) { Bench(b, sleeper(0), Options{Requests: 5}) },
		"failures": func(b *testing.B) {
			Bench(b, Func(func(context.Context) error { return errors.New("no") }), Options{})
		},
		"no target": func(b *testing.B) { Bench(b, nil, Options{}) },
	} {
		// A benchmark that fails has no result; its output would go to the terminal, and is a failure's rightly.
		if br := testing.Benchmark(bench); br.N != 0 {
			t.Errorf("%s: the benchmark passed: %v", name, br)
		}
	}
}
