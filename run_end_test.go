package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// How runs end: with failures, early, or not at all.

func TestRunCancel(t *testing.T) {
	cause := errors.New("enough")
	for _, tt := range []struct {
		name          string
		after         time.Duration
		opts          Options
		wantRequests  int64
		wantElapsed   time.Duration
		wantAbandoned int64
	}{
		{"measuring", 305 * time.Millisecond, Options{Concurrency: 2, Duration: 10 * time.Second}, 60, 305 * time.Millisecond, 2},
		{"by requests", 305 * time.Millisecond, Options{Concurrency: 2, Requests: 1e6}, 60, 305 * time.Millisecond, 2},
		{"in the warm-up", 305 * time.Millisecond, Options{Concurrency: 2, Warmup: time.Second}, 0, 0, 2},
		{"in think time", 305 * time.Millisecond, Options{Concurrency: 2, ThinkTime: time.Hour}, 2, 305 * time.Millisecond, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(tt.after, func() { cancel(cause) })
				start := time.Now()
				r, err := Run(ctx, sleeper(10*time.Millisecond), tt.opts)
				if took := time.Since(start); took != tt.after {
					t.Errorf("Run took %v, want %v", took, tt.after)
				}
				if !errors.Is(err, cause) {
					t.Errorf("err = %v, want the cause", err)
				}
				checkInvariants(t, r)
				if r.Requests != tt.wantRequests || r.Elapsed != tt.wantElapsed || r.Abandoned != tt.wantAbandoned || r.Failed != 0 {
					t.Errorf("%d requests in %v, %d abandoned, %d failed; want %d, %v, %d, 0",
						r.Requests, r.Elapsed, r.Abandoned, r.Failed, tt.wantRequests, tt.wantElapsed, tt.wantAbandoned)
				}
			})
		})
	}
}

func TestRunAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, sleeper(0), Options{}); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("Run = %v, %v; want no result and context.Canceled", r, err)
	}
}

func TestRunLeavesStuckClientsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		stuck := Func(func(ctx context.Context) error {
			if calls.Add(1) == 5 {
				time.Sleep(time.Hour)
				return nil
			}
			return sleeper(10 * time.Millisecond)(ctx)
		})
		start := time.Now()
		r, err := Run(t.Context(), stuck, Options{Concurrency: 20, Duration: time.Second, Drain: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("Run took %v, want 3s: duration, drain and patience", took)
		}
		checkInvariants(t, r)
		if r.Abandoned != 1 || !warned(r, "stuck", "1 client did") || !hasWarning(r, "abandoned") {
			t.Errorf("%d abandoned, %v; want 1 and warnings", r.Abandoned, r.Warnings)
		}
		time.Sleep(time.Hour)
	})
}

func TestRunLeavesStuckCloseBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &probe{target: sleeper(10 * time.Millisecond), closing: time.Hour}
		start := time.Now()
		r, err := Run(t.Context(), p, Options{Concurrency: 2, Requests: 10})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 1050*time.Millisecond {
			t.Errorf("Run took %v, want 1.05s: the load, and patience", took)
		}
		checkInvariants(t, r)
		if r.Requests != 10 || r.Abandoned != 0 || !hasWarning(r, "stuck") {
			t.Errorf("%d requests, %d abandoned, %v; want 10, 0 and a warning", r.Requests, r.Abandoned, r.Warnings)
		}
		time.Sleep(time.Hour)
	})
}

func TestRunClientThatVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		r, err := Run(t.Context(), Func(func(context.Context) error {
			time.Sleep(time.Millisecond)
			if calls.Add(1) == 50 {
				runtime.Goexit()
			}
			return nil
		}), Options{Concurrency: 2, Requests: 100})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		if r.Requests != 99 || r.Abandoned != 1 || !hasWarning(r, "vanished") {
			t.Errorf("%d requests, %d abandoned, %v; want 99, 1 and a warning", r.Requests, r.Abandoned, r.Warnings)
		}
	})
}

func TestRunWarmupFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r, err := Run(t.Context(), Func(func(context.Context) error {
			time.Sleep(time.Millisecond)
			if time.Since(start) < 500*time.Millisecond {
				return errors.New("not yet")
			}
			return nil
		}), Options{Concurrency: 1, Warmup: time.Second, Requests: 10})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		if r.WarmupRequests != 1000 || r.WarmupFailed != 499 || r.Failed != 0 || !warned(r, "warmup-failed", "499 of 1,000 requests in the warm-up failed: not yet") {
			t.Errorf("%d of %d failed in the warm-up, %d afterwards, %v", r.WarmupFailed, r.WarmupRequests, r.Failed, r.Warnings)
		}
	})
}

func TestRunSelfInflictedEndsAreNoFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Returns an error of its own making when it is cut off.
		f := Func(func(ctx context.Context) error {
			if sleeper(50*time.Millisecond)(ctx) != nil {
				return errors.New("the operation was canceled")
			}
			return nil
		})
		r, err := Run(t.Context(), f, Options{Concurrency: 8, Duration: 120 * time.Millisecond, Drain: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		if r.Requests != 16 || r.Abandoned != 8 || r.Failed != 0 {
			t.Errorf("%d requests, %d abandoned, %d failed; want 16, 8, 0", r.Requests, r.Abandoned, r.Failed)
		}
	})
}

func TestRunFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		f := Func(func(context.Context) error {
			time.Sleep(time.Millisecond)
			switch i := n.Add(1); i % 4 {
			case 0:
				return fmt.Errorf("message %d: %w", i, io.ErrUnexpectedEOF)
			case 1:
				return fmt.Errorf("message %d", i)
			}
			return nil
		})
		r, err := Run(t.Context(), f, Options{Concurrency: 1, Requests: 400})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		want := map[string]ErrorCount{
			"error": {Count: 100, Sample: "message 1", First: time.Millisecond, Last: 397 * time.Millisecond},
			"eof":   {Count: 100, Sample: "message 4: unexpected EOF", First: 4 * time.Millisecond, Last: 400 * time.Millisecond},
		}
		if d := cmp.Diff(want, r.Errors); d != "" {
			t.Errorf("Errors (-want +got):\n%s", d)
		}
		if got := r.Throughput(); got != 500 {
			t.Errorf("Throughput = %v, want the 500/s that succeeded", got)
		}
	})
}

func TestRunAllFailed(t *testing.T) {
	r, err := Run(t.Context(), Func(func(context.Context) error { return errors.New("no") }), Options{Requests: 10})
	if err != nil {
		t.Fatalf("failed requests are counts, not an error: %v", err)
	}
	checkInvariants(t, r)
	if r.Failed != 10 || r.ErrorRate() != 1 || r.Throughput() != 0 {
		t.Errorf("Failed = %d, rate %v, throughput %v; want 10, 1, 0", r.Failed, r.ErrorRate(), r.Throughput())
	}
}

func TestRunNothingCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Run(t.Context(), sleeper(time.Hour), Options{Concurrency: 3, Duration: time.Second, Drain: time.Second})
		if !errors.Is(err, ErrNoRequests) {
			t.Errorf("err = %v, want ErrNoRequests", err)
		}
		checkInvariants(t, r)
		if r.Abandoned != 3 || r.ErrorRate() != 1 {
			t.Errorf("%d abandoned, error rate %v; want 3, 1", r.Abandoned, r.ErrorRate())
		}
		if !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Kind == "abandoned" && strings.Contains(w.Text, "2.00s") }) {
			t.Errorf("Warnings = %v, want one of the abandoned with the age of 2s", r.Warnings)
		}
	})
}

func TestRunBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		down := time.Now().Add(500 * time.Millisecond)
		f := Func(func(context.Context) error {
			calls.Add(1)
			if time.Now().Before(down) {
				return &net.OpError{Op: "dial", Err: errConnRefused}
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		})
		r, err := Run(t.Context(), f, Options{Concurrency: 1, Duration: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, r)
		// Pauses of 1, 2, 4 … 128 and 250 ms: nine attempts until the target is up, and from 505 ms on a success every 10 ms.
		if r.Errors["connect"].Count != 9 || r.Succeeded() != 50 {
			t.Errorf("%d refused, %d succeeded; want 9, 50", r.Errors["connect"].Count, r.Succeeded())
		}
	})
}

func TestRunGivesUpOnWhatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Func(func(context.Context) error { return &net.OpError{Op: "dial", Err: errConnRefused} })
		start := time.Now()
		r, err := Run(t.Context(), f, Options{Concurrency: 2, Requests: 1000})
		if err == nil || !errors.Is(err, errConnRefused) || !strings.Contains(err.Error(), "no connection could be made") {
			t.Errorf("err = %v; want one that says why", err)
		}
		if took := time.Since(start); took < 3*time.Second || took > 3300*time.Millisecond {
			t.Errorf("Run took %v, want 3s and at most a pause", took)
		}
		checkInvariants(t, r)
		if r.Failed != r.Requests || r.Failed < 20 || r.Failed > 50 {
			t.Errorf("%d of %d failed, want all of some forty", r.Failed, r.Requests)
		}
	})
}

func TestRunCountsAtAnyCancel(t *testing.T) {
	var issued atomic.Int64
	f := Func(func(ctx context.Context) error {
		issued.Add(1)
		return sleeper(200 * time.Microsecond)(ctx)
	})
	for i := range 60 {
		issued.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*80*time.Microsecond)
		r, err := Run(ctx, f, Options{Concurrency: 7, Warmup: time.Millisecond, Requests: 50})
		cancel()
		if r == nil {
			continue // not one had begun
		}
		checkInvariants(t, r)
		if sum := r.WarmupRequests + r.Requests + r.Abandoned; sum != issued.Load() {
			t.Fatalf("warm-up %d + completed %d + abandoned %d = %d, but %d were issued (%v)", r.WarmupRequests, r.Requests, r.Abandoned, sum, issued.Load(), err)
		}
	}
}
