package loadtest

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsValidate(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts Options
		want []string // each in the error; none: valid
	}{
		{"zero", Options{}, nil},
		{"all that there is", Options{Name: "x", Concurrency: 3, ThinkTime: 1, Requests: 1, Duration: 1, Warmup: 1, Timeout: -1, Drain: -1, Threads: 2, Seed: 7}, nil},
		{"negative", Options{Concurrency: -1, ThinkTime: -1, Requests: -1, Duration: -1, Warmup: -1, Threads: -1},
			[]string{"Options.Concurrency", "Options.ThinkTime", "Options.Requests", "Options.Duration", "Options.Warmup", "Options.Threads"}},
		{"not built yet", Options{Rate: 5, Poisson: true, Stages: []Stage{{1, 1}}, Server: new(Server)},
			[]string{"Options.Rate: the open loop is not built yet", "Options.Poisson", "Options.Stages", "Options.Server"}},
		{"NaN", Options{Rate: math.NaN()}, []string{"Options.Rate: must be a finite number"}},
		{"infinite", Options{Rate: math.Inf(1)}, []string{"Options.Rate: must be a finite number"}},
		{"too many clients", Options{Concurrency: math.MaxInt}, []string{"Options.Concurrency: must be from 0"}},
		{"for ever", Options{Duration: math.MaxInt64, Drain: math.MaxInt64}, []string{"Options.Duration: must not exceed ten years", "Options.Drain"}},
		{"idle threads", Options{Concurrency: 2, Threads: 3}, []string{"Options.Threads: must not exceed Concurrency", "3 threads, 2 clients"}},
	} {
		err := tt.opts.validate()
		if len(tt.want) == 0 && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), "loadtest: "+want) && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want one with %q", tt.name, err, want)
			}
		}
		if err == nil {
			continue
		}
		if r, runErr := Run(t.Context(), Func(nil), tt.opts); r != nil || runErr == nil || runErr.Error() != err.Error() {
			t.Errorf("%s: Run = %v, %v; want the same error before any load", tt.name, r, runErr)
		}
	}
}

func TestOptionsCPUsOutOfReach(t *testing.T) {
	skipUnlessPinnable(t)
	allowed, _ := AllowedCPUs()
	_, err := Run(t.Context(), sleeper(0), Options{CPUs: CPUSet{4000}})
	if err == nil || !strings.Contains(err.Error(), "4000") || !strings.Contains(err.Error(), allowed.String()) {
		t.Errorf("err = %v; want one that names 4000 and %v", err, allowed)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		t.Error("pinning is supported here; the error says that it isn't")
	}
	_, err = Run(t.Context(), sleeper(0), Options{CPUs: allowed[:1], Concurrency: 9000})
	if err == nil || !strings.Contains(err.Error(), "Options.Concurrency") {
		t.Errorf("err = %v; want one that refuses 9000 pinned threads", err)
	}
}

func TestOptionsWithDefaults(t *testing.T) {
	for _, tt := range []struct{ opts, want Options }{
		{Options{}, Options{Concurrency: 64, Duration: 10 * time.Second, Timeout: 10 * time.Second, Drain: time.Second}},
		{Options{Requests: 5}, Options{Concurrency: 64, Requests: 5, Timeout: 10 * time.Second, Drain: time.Second}},
		{Options{Requests: 5, Duration: 7, Concurrency: 2, Timeout: -1, Drain: -1}, Options{Requests: 5, Duration: 7, Concurrency: 2, Timeout: -1, Drain: -1}},
	} {
		got := tt.opts.withDefaults()
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("withDefaults (-want +got):\n%s", d)
		}
		if d := cmp.Diff(got, got.withDefaults()); d != "" {
			t.Errorf("withDefaults is not idempotent:\n%s", d)
		}
	}
}

func TestOptionsDealOutCPUs(t *testing.T) {
	for _, tt := range []struct {
		threads int
		cpus    CPUSet
		want    []int
	}{
		{0, CPUSet{3}, []int{3, 3, 3, 3}},
		{0, CPUSet{2, 5}, []int{2, 5, 2, 5}},
		{1, CPUSet{2, 5}, []int{2, 2, 2, 2}},
		{3, CPUSet{2, 5}, []int{2, 5, 2, 2}},
	} {
		var got []int
		for i := range tt.want {
			got = append(got, Options{Threads: tt.threads, CPUs: tt.cpus}.cpuOf(i))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d threads on %v: clients on %v, want %v", tt.threads, tt.cpus, got, tt.want)
		}
	}
}
