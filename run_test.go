package loadtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// sleeper returns a Func that takes d, or less if its context ends.
func sleeper(d time.Duration) Func {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestRunRequestsExact(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 7, 49, 50, 200} {
		for _, c := range []int{1, 3, 7, 50, 64} {
			t.Run(fmt.Sprintf("n=%d/c=%d", n, c), func(t *testing.T) {
				var calls atomic.Int64
				r, err := Run(t.Context(), Func(func(context.Context) error { calls.Add(1); return nil }), Options{Requests: n, Concurrency: c})
				if err != nil {
					t.Fatal(err)
				}
				checkInvariants(t, r)
				if r.Requests != n || calls.Load() != n || r.Abandoned != 0 {
					t.Errorf("Requests = %d, %d abandoned, %d calls; want %d", r.Requests, r.Abandoned, calls.Load(), n)
				}
			})
		}
	}
}

func TestRunSharesTheRemainder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Run(t.Context(), sleeper(10*time.Millisecond), Options{Requests: 100, Concurrency: 64})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		if want := 20 * time.Millisecond; r.Elapsed != want { // two waves, not 37 requests of one client
			t.Errorf("Elapsed = %v, want %v", r.Elapsed, want)
		}
		if want := (Spread{1, 2, 2}); r.Clients != want {
			t.Errorf("Clients = %+v, want %+v", r.Clients, want)
		}
	})
}

func TestRunPhases(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name    string
		service time.Duration
		opts    Options
		want    Result // the counts alone
	}{
		{"duration", 10 * ms, Options{Concurrency: 4, Duration: time.Second},
			Result{Requests: 400, Elapsed: time.Second}},
		{"warm-up", 10 * ms, Options{Concurrency: 4, Warmup: 100 * ms, Duration: time.Second},
			Result{Requests: 400, WarmupRequests: 40, Elapsed: time.Second}},
		{"requests across both borders", 30 * ms, Options{Concurrency: 2, Warmup: 100 * ms, Duration: time.Second},
			// Each begins at 0, 30, 60 and 90 in the warm-up, and at 120, 150 … 1080 in the measured interval; the last ends at 1110.
			Result{Requests: 66, WarmupRequests: 8, Drained: 2, Elapsed: time.Second}},
		{"slower than a second", 2 * time.Second, Options{Concurrency: 20, Duration: 6 * time.Second},
			Result{Requests: 60, Elapsed: 6 * time.Second}},
		{"requests before duration", 10 * ms, Options{Concurrency: 1, Requests: 5, Duration: time.Second},
			Result{Requests: 5, Elapsed: 50 * ms}},
		{"duration before requests", 10 * ms, Options{Concurrency: 1, Requests: 500, Duration: time.Second},
			Result{Requests: 100, Elapsed: time.Second}},
		{"warm-up, then requests", 10 * ms, Options{Concurrency: 2, Requests: 6, Warmup: 100 * ms},
			Result{Requests: 6, WarmupRequests: 20, Elapsed: 30 * ms}},
		{"think time", 10 * ms, Options{Concurrency: 1, ThinkTime: 90 * ms, Duration: time.Second},
			Result{Requests: 10, Elapsed: time.Second}},
		{"no think time after the last", 10 * ms, Options{Concurrency: 3, ThinkTime: time.Hour, Requests: 3},
			Result{Requests: 3, Elapsed: 10 * ms}},
		{"abandoned", 3 * time.Second, Options{Concurrency: 2, Warmup: 2900 * ms, Duration: time.Second, Drain: 500 * ms},
			// The first two began in the warm-up and ended in the measured interval; the next two had no outcome.
			Result{WarmupRequests: 2, Requests: 0, Abandoned: 2, Elapsed: time.Second}},
		{"drained", 3 * time.Second, Options{Concurrency: 2, Duration: time.Second, Drain: 5 * time.Second},
			Result{Requests: 2, Drained: 2, Elapsed: time.Second}},
		{"not drained", 3 * time.Second, Options{Concurrency: 2, Duration: 4 * time.Second, Drain: -1},
			Result{Requests: 2, Abandoned: 2, Elapsed: 4 * time.Second}},
		{"timeout", time.Minute, Options{Concurrency: 1, Requests: 3, Timeout: 50 * ms},
			Result{Requests: 3, Failed: 3, Elapsed: 150 * ms}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r, err := Run(t.Context(), sleeper(tt.service), tt.opts)
				if (err != nil) != (tt.want.Requests == 0) {
					t.Fatal(err)
				}
				checkInvariants(t, r)
				got := Result{Requests: r.Requests, Failed: r.Failed, Drained: r.Drained, Abandoned: r.Abandoned,
					WarmupRequests: r.WarmupRequests, Elapsed: r.Elapsed}
				if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(Histogram{})); d != "" {
					t.Errorf("counts (-want +got):\n%s", d)
				}
				opts := r.Options
				if bound := opts.Warmup + opts.Duration + max(opts.Drain, 0); opts.Duration > 0 && time.Since(start) > bound {
					t.Errorf("Run took %v, want %v at most", time.Since(start), bound)
				}
				if r.Latency.Count() > 0 && (r.Latency.Min() != tt.service || r.Latency.Max() != tt.service) {
					t.Errorf("latency from %v to %v, want %v", r.Latency.Min(), r.Latency.Max(), tt.service)
				}
			})
		})
	}
}

func TestRunIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Run(t.Context(), sleeper(10*time.Millisecond), Options{Concurrency: 4, Duration: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Intervals) != 50 {
			t.Fatalf("%d intervals, want 50", len(r.Intervals))
		}
		for i, iv := range r.Intervals {
			want := Interval{Offset: time.Duration(i) * 20 * time.Millisecond, Length: 20 * time.Millisecond, Requests: 8,
				P50: 10 * time.Millisecond, P99: 10 * time.Millisecond, Max: 10 * time.Millisecond}
			if iv != want {
				t.Errorf("Intervals[%d] = %+v, want %+v", i, iv, want)
			}
		}
		// Eight requests in each slice: nothing varies.
		if ci := r.ThroughputCI(0.95); ci != (Estimate{400, 400, 400, 0.95}) {
			t.Errorf("ThroughputCI = %+v, want 400 without doubt", ci)
		}
	})
}

func TestRunIntervalsOfUnknownLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Run(t.Context(), sleeper(7*time.Millisecond), Options{Concurrency: 3, Requests: 3000})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		if n := len(r.Intervals); r.Elapsed != 7*time.Second || n < 50 || n > 100 {
			t.Errorf("%d intervals of %v, want 50 to 100 of 7s", n, r.Elapsed)
		}
	})
}

func TestRunTimeoutOfDeafFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := Func(func(context.Context) error { time.Sleep(80 * time.Millisecond); return nil })
		r, err := Run(t.Context(), deaf, Options{Concurrency: 1, Requests: 2, Timeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		if e := r.Errors["timeout"]; e.Count != 2 || r.FailedLatency.Max() != 80*time.Millisecond {
			t.Errorf("Errors = %+v, failed after %v; want 2 timeouts, seen after 80ms", r.Errors, r.FailedLatency.Max())
		}
	})
}

func TestRunProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []Progress
		r, err := Run(t.Context(), sleeper(10*time.Millisecond), Options{
			Concurrency: 1, Warmup: 1500 * time.Millisecond, Duration: 2500 * time.Millisecond, Drain: time.Second,
			Progress: func(p Progress) { got = append(got, p) },
		})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		const s, ms10 = time.Second, 10 * time.Millisecond
		want := []Progress{
			{Phase: "warmup", Elapsed: s, Total: 3 * s / 2, Requests: 100, Throughput: 100},
			{Phase: "warmup", Elapsed: 3 * s / 2, Total: 3 * s / 2, Requests: 150, Throughput: 100},
			{Phase: "measure", Elapsed: s, Total: 5 * s / 2, Requests: 100, Throughput: 100, P50: ms10, P99: ms10},
			{Phase: "measure", Elapsed: 2 * s, Total: 5 * s / 2, Requests: 200, Throughput: 100, P50: ms10, P99: ms10},
			{Phase: "measure", Elapsed: 5 * s / 2, Total: 5 * s / 2, Requests: 250, Throughput: 100, P50: ms10, P99: ms10},
			{Phase: "drain", Elapsed: 0, Total: s, Requests: 250},
		}
		// A request that ends in the very moment of a call may be in it or in the next.
		for i := range got {
			if i < len(want) && want[i].Requests-got[i].Requests == 1 {
				got[i].Requests, got[i].Throughput = want[i].Requests, want[i].Throughput
			}
			if i < len(want) && got[i].Phase == "drain" {
				got[i].P50, got[i].P99, got[i].Throughput = 0, 0, 0
			} else if i < len(want) {
				got[i].Throughput = want[i].Throughput
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("progress (-want +got):\n%s", d)
		}
	})
}

func TestProgressETA(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    Progress
		want time.Duration
		ok   bool
	}{
		{"by time", Progress{Phase: "measure", Elapsed: 3 * time.Second, Total: 10 * time.Second}, 7 * time.Second, true},
		{"by count", Progress{Phase: "measure", Elapsed: 2 * time.Second, Requests: 200, Expected: 1000}, 8 * time.Second, true},
		{"by the first", Progress{Phase: "measure", Elapsed: 2 * time.Second, Total: 4 * time.Second, Requests: 200, Expected: 1000}, 2 * time.Second, true},
		{"nothing known", Progress{Phase: "measure", Elapsed: time.Second, Expected: 1000}, 0, false},
		{"overdue", Progress{Phase: "drain", Elapsed: 2 * time.Second, Total: time.Second}, 0, true},
	} {
		if got, ok := tt.p.ETA(); got != tt.want || ok != tt.ok {
			t.Errorf("%s: ETA = %v, %v; want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func hasWarning(r *Result, kind string) bool {
	return slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Kind == kind })
}

// A probe is a Target of a user's own: it counts its clients.
type probe struct {
	made, closed atomic.Int64
	failAt       int
	closing      time.Duration // how long Close takes
	target       Target
}

func (p *probe) String() string { return "probe" }

func (p *probe) NewClient(ctx context.Context, i int) (Client, error) {
	if p.failAt > 0 && i == p.failAt {
		return nil, errors.New("no more")
	}
	p.made.Add(1)
	c, err := p.target.NewClient(ctx, i)
	return &probeClient{c, p}, err
}

type probeClient struct {
	Client
	probe *probe
}

func (c *probeClient) Close() error {
	c.probe.closed.Add(1)
	time.Sleep(c.probe.closing)
	return c.Client.Close()
}

func TestRunOwnTarget(t *testing.T) {
	p := &probe{target: sleeper(0)}
	r, err := Run(t.Context(), p, Options{Concurrency: 5, Requests: 100})
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
	if r.Target != "probe" || r.Engine != "func" || p.made.Load() != 5 || p.closed.Load() != 5 {
		t.Errorf("Target %q, engine %q, %d clients made, %d closed; want probe, func, 5, 5", r.Target, r.Engine, p.made.Load(), p.closed.Load())
	}
}

func TestRunClientThatCannotBeMade(t *testing.T) {
	p := &probe{target: sleeper(0), failAt: 3}
	r, err := Run(t.Context(), p, Options{Concurrency: 5, Requests: 100})
	if err == nil || r != nil || !strings.Contains(err.Error(), "client 3 of 5") {
		t.Errorf("Run = %v, %v; want an error that names client 3 of 5", r, err)
	}
	if p.made.Load() != 3 || p.closed.Load() != 3 {
		t.Errorf("%d clients made, %d closed; want 3, 3", p.made.Load(), p.closed.Load())
	}
}

func TestRunBadTargets(t *testing.T) {
	for name, target := range map[string]Target{
		"nil": nil, "nil Func": Func(nil), "nil HTTP": (*HTTP)(nil), "nil handler": Handler(nil, nil),
	} {
		if r, err := Run(t.Context(), target, Options{Requests: 1}); err == nil || r != nil || !strings.HasPrefix(err.Error(), "loadtest: ") {
			t.Errorf("%s: Run = %v, %v; want an error of this package", name, r, err)
		}
	}
}

func TestRunsAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := Run(t.Context(), sleeper(time.Millisecond), Options{Concurrency: 10, Requests: 200})
			if err != nil || r.Requests != 200 {
				t.Errorf("Run = %v, %v", r, err)
			}
		})
	}
	wg.Wait()
}

func TestRunWithCPUs(t *testing.T) {
	skipUnlessPinnable(t)
	allowed, err := AllowedCPUs()
	if err != nil || len(allowed) < 2 {
		t.Skipf("needs two CPUs, may use %v (%v)", allowed, err)
	}
	for _, cpus := range []CPUSet{allowed[:1], allowed[1:2], allowed[:2]} {
		var wrong atomic.Int64
		f := Func(func(context.Context) error {
			mask, err := sys.ThreadAffinity()
			cpu, _ := sys.CurrentCPU()
			if err != nil || len(mask) != 1 || !slices.Contains(cpus, mask[0]) || cpu != mask[0] {
				wrong.Add(1)
			}
			return nil
		})
		r, err := Run(t.Context(), f, Options{Concurrency: 4, Requests: 4000, CPUs: cpus})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		if wrong.Load() > 0 {
			t.Errorf("CPUs %v: %d of 4000 calls ran elsewhere", cpus, wrong.Load())
		}
		if !slices.Equal(r.Generator.CPUs, cpus) {
			t.Errorf("Generator.CPUs = %v, want %v", r.Generator.CPUs, cpus)
		}
		for id, mask := range threadMasks(t) { // at once, not some time after Run has returned
			if mask != allowed.String() {
				t.Errorf("thread %s may run on %s, the process on %v", id, mask, allowed)
			}
		}
	}
}

// threadMasks returns the CPUs that each thread of the process may use; empty where there is no /proc.
func threadMasks(t *testing.T) map[string]string {
	t.Helper()
	masks := make(map[string]string)
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		status, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for line := range strings.Lines(string(status)) {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				masks[filepath.Base(filepath.Dir(file))] = strings.TrimSpace(list)
			}
		}
	}
	return masks
}

func TestRunAllocatesNothingPerRequest(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var before, after runtime.MemStats
	var target Func = func(context.Context) error { return nil }
	const n = 1_000_000
	runtime.ReadMemStats(&before)
	r, err := Run(t.Context(), target, Options{Concurrency: 2, Requests: n})
	runtime.ReadMemStats(&after)
	if err != nil || r.Requests != n {
		t.Fatal(r, err)
	}
	if per := float64(after.Mallocs-before.Mallocs) / n; per > 0.01 {
		t.Errorf("%.3f allocations per request, want 0", per)
	}
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 8<<20 {
		t.Errorf("allocated %d bytes for a million requests", grown)
	}
}
