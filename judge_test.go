package loadtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// warned reports whether r has a warning of this kind that says text.
func warned(r *Result, kind, text string) bool {
	return slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Kind == kind && strings.Contains(w.Text, text) })
}

func TestWarnings(t *testing.T) {
	const ms = time.Millisecond
	drift := func() Func { // faster and faster
		var n int
		return func(ctx context.Context) error { n++; return sleeper(time.Duration(20-min(n/60, 10)) * ms)(ctx) }
	}
	step := func() Func { // a tenth of the speed from one moment on
		var n int
		return func(ctx context.Context) error {
			if n++; n > 300 {
				return sleeper(20 * ms)(ctx)
			}
			return sleeper(10 * ms)(ctx)
		}
	}
	for _, tt := range []struct {
		name   string
		target Func
		opts   Options
		kind   string // "": no warning but that of the race detector
		text   string
	}{
		{"calm", sleeper(10 * ms), Options{Concurrency: 8, Duration: 5 * time.Second}, "", ""},
		{"few samples", sleeper(10 * ms), Options{Concurrency: 1, Requests: 367}, "few-samples", "needs 368"},
		{"just enough samples", sleeper(10 * ms), Options{Concurrency: 1, Requests: 368}, "", ""},
		{"short run", sleeper(300 * ms), Options{Concurrency: 100, Duration: time.Second}, "short-run", "25 % of the requests"},
		{"drift", drift(), Options{Concurrency: 1, Duration: 10 * time.Second}, "unsteady", "drifted by +"},
		{"step", step(), Options{Concurrency: 1, Duration: 10 * time.Second}, "unsteady", "changed by -48 % after 3.20s"},
		{"threads without CPUs", sleeper(10 * ms), Options{Concurrency: 8, Threads: 2, Duration: 5 * time.Second}, "threads", "Threads is 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := Run(t.Context(), tt.target, tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				checkInvariants(t, r)
				r.Warnings = slices.DeleteFunc(r.Warnings, func(w Warning) bool { return w.Kind == "race" || w.Kind == "steal" })
				if tt.kind == "" && len(r.Warnings) > 0 || tt.kind != "" && !warned(r, tt.kind, tt.text) {
					t.Errorf("Warnings = %v, want %q with %q", r.Warnings, tt.kind, tt.text)
				}
			})
		})
	}
}

func TestWarningOfPinnedRunsAtOnce(t *testing.T) {
	skipUnlessPinnable(t)
	allowed, _ := AllowedCPUs()
	if len(allowed) < 2 {
		t.Skip("needs two CPUs")
	}
	if sys.ThreadAffinities() == nil {
		t.Skip("the masks of other threads can't be read here")
	}
	// The inner run takes place while the outer one has its thread pinned to the same CPU, or to another.
	for _, tt := range []struct {
		cpus CPUSet
		want bool
	}{{allowed[:1], true}, {allowed[1:2], false}} {
		var inner *Result
		outer := Func(func(ctx context.Context) (err error) {
			inner, err = Run(ctx, sleeper(0), Options{Concurrency: 1, Requests: 10, CPUs: allowed[:1]})
			return err
		})
		if _, err := Run(t.Context(), outer, Options{Concurrency: 1, Requests: 1, CPUs: tt.cpus}); err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, inner)
		if got := warnedOverlap(inner); got != tt.want {
			t.Errorf("outer run on %v, inner on %v: warned %v, want %v (%v)", tt.cpus, allowed[:1], got, tt.want, inner.Warnings)
		}
	}
}

func warnedOverlap(r *Result) bool { return warned(r, "shared-cpus", "two runs at once") }
