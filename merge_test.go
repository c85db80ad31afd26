package loadtest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var mergeStart = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// part is what one of several generators has seen of a run of ten seconds.
func part(seed uint64) *Result {
	rnd := rand.New(rand.NewPCG(seed, 0))
	n := 1000 + rnd.Int64N(100)
	r := &Result{
		Options: Options{
			Name: "part", Concurrency: 2 + int(seed), Duration: 10 * time.Second, Warmup: time.Second, Timeout: time.Second, Drain: time.Second,
			CPUs: CPUSet{int(seed)}, Threads: 1, Seed: seed,
		},
		Target: "GET http://h/", Engine: "net", Host: Host{OS: "linux", CPU: "one", CPUs: 4},
		Start: mergeStart.Add(time.Duration(seed) * 10 * time.Millisecond), Elapsed: 10 * time.Second,
		Requests: n, Failed: 10, Drained: 1, Abandoned: 2, WarmupRequests: 100, Resent: 3,
		BytesRead: 146 * n, BytesWritten: 82 * n, BodyBytes: 4 * n, Connections: 2,
		Statuses: map[int]int64{200: n - 10, 503: 10},
		Errors:   map[string]ErrorCount{"status": {Count: 10, Sample: "503", First: time.Duration(1+rnd.Int64N(9)) * time.Second, Last: 9 * time.Second}},
		Latency:  new(Histogram), ServiceTime: new(Histogram), TotalTime: new(Histogram), FailedLatency: new(Histogram),
		Connect: new(Histogram), FirstByte: new(Histogram), SendLag: new(Histogram), QueueWait: new(Histogram),
		Clients: Spread{n/3 - 5, n / 3, n/3 + 5}, Sample: Sample{Status: 200, BodyBytes: int64(seed)},
		Generator: Usage{User: time.Second, System: 2 * time.Second, CPUs: CPUSet{int(seed)}, MaxRSS: 1 << 20, Processes: 1},
		Warnings:  []Warning{{"steal", "all"}, {"threads", strings.Repeat("x", int(seed))}},
	}
	for range n - 10 {
		d := time.Duration(rnd.ExpFloat64() * 1e6)
		r.Latency.Record(d)
		r.ServiceTime.Record(d)
		r.TotalTime.Record(d + 1000)
	}
	r.FailedLatency.RecordN(time.Millisecond, 10)
	for i := range time.Duration(20) {
		r.Intervals = append(r.Intervals, Interval{Offset: i * 5e8, Length: 5e8, Requests: n / 20, P50: time.Duration(rnd.Int64N(100)), P99: 100 + time.Duration(rnd.Int64N(100)), Max: 300})
	}
	return r
}

func TestMergeAdds(t *testing.T) {
	a, b := part(1), part(2)
	b.Host.CPU, b.Host.CPUs, b.Engine = "two", 8, "epoll"
	a.Errors["reset"] = ErrorCount{Count: 1, Sample: "reset", First: 5, Last: 6}
	beforeA, beforeB := clonedByJSON(t, a), clonedByJSON(t, b)
	m, err := a.Merge(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*Result{beforeA, beforeB}, []*Result{a, b}, sameResult); diff != "" {
		t.Errorf("Merge changed its parts:\n%s", diff)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("Requests", m.Requests, a.Requests+b.Requests)
	check("Failed", m.Failed, int64(20))
	check("Drained, Abandoned, WarmupRequests, Resent", []int64{m.Drained, m.Abandoned, m.WarmupRequests, m.Resent}, []int64{2, 4, 200, 6})
	check("bytes", []int64{m.BytesRead, m.BytesWritten, m.BodyBytes}, []int64{146 * m.Requests, 82 * m.Requests, 4 * m.Requests})
	check("Statuses", m.Statuses, map[int]int64{200: m.Requests - 20, 503: 20})
	check("Options", m.Options, Options{
		Name: "part", Concurrency: 7, Duration: 10 * time.Second, Warmup: time.Second, Timeout: time.Second, Drain: time.Second,
		CPUs: CPUSet{1, 2}, Threads: 2,
	})
	check("Host", m.Host, Host{OS: "linux", CPU: "one, two"})
	check("Engine", m.Engine, "epoll, net")
	check("Start", m.Start, a.Start)
	check("Elapsed", m.Elapsed, 10*time.Second)
	check("Generator", m.Generator, Usage{User: 2 * time.Second, System: 4 * time.Second, CPUs: CPUSet{1, 2}, MaxRSS: 2 << 20, Processes: 2})
	check("Sample", m.Sample, a.Sample)
	check("reset", m.Errors["reset"], a.Errors["reset"])
	shift := b.Start.Sub(a.Start)
	check("status", m.Errors["status"], ErrorCount{Count: 20, Sample: "503",
		First: min(a.Errors["status"].First, b.Errors["status"].First+shift), Last: 9*time.Second + shift})
	check("Warnings", m.Warnings, []Warning{{"steal", "all"}, {"threads", "x"}, {"threads", "xx"}})
	check("Clients", m.Clients, Spread{min(a.Clients.Min, b.Clients.Min), b.Clients.Median, max(a.Clients.Max, b.Clients.Max)})
	for i, iv := range m.Intervals {
		x, y := a.Intervals[i], b.Intervals[i]
		check("interval", iv, Interval{x.Offset, x.Length, x.Requests + y.Requests, 0, max(x.P50, y.P50), max(x.P99, y.P99), 300})
	}
	if ci := m.ThroughputCI(0.95); ci.Confidence == 0 {
		t.Error("the throughput of the whole has no interval")
	}
	all := a.Latency.clone()
	all.Merge(b.Latency)
	if !cmp.Equal(m.Latency, all, sameResult) || m.Latency.Count() != m.Succeeded() || m.TotalTime.Count() != m.Succeeded() {
		t.Errorf("Latency is not that of all %d successes together", m.Succeeded())
	}
}

func clonedByJSON(t *testing.T, r *Result) *Result {
	t.Helper()
	b, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	c := new(Result)
	if err := c.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMergeIsCommutative(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		parts := []*Result{part(1), part(2), part(3), part(3)}
		for _, p := range parts { // whatever may differ, differs here and there
			switch rnd.IntN(8) {
			case 0:
				p.Intervals = p.Intervals[:10]
			case 1:
				p.Start = mergeStart
			case 2:
				p.Options.Requests, p.Options.Threads = 5000, 0
			case 3:
				p.Errors["status"] = ErrorCount{Count: 10, Sample: "504", First: time.Second, Last: time.Second}
			case 4:
				p.Server = Usage{User: time.Duration(rnd.IntN(3)), System: time.Second, CPUs: CPUSet{0}}
			case 5:
				p.Host, p.Engine, p.Sample = Host{OS: "windows", CPUs: 2}, "", Sample{}
			case 6:
				p.Intervals[19].Length, p.Elapsed = 4e8, 9900*time.Millisecond
			case 7:
				p.Start = p.Start.Add(3 * time.Second)
			}
		}
		want, err := parts[0].Merge(parts[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		rnd.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		got, err := parts[0].Merge(parts[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameResult); diff != "" {
			t.Errorf("seed %d: the order of the parts makes a difference:\n%s", seed, diff)
		}
	}
}

func TestMergeOfOneIsACopy(t *testing.T) {
	want := part(1)
	got, err := want.Merge()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, sameResult); diff != "" {
		t.Errorf("-part +merged:\n%s", diff)
	}
	got.Statuses[200], got.Intervals[0].Requests, got.Options.CPUs[0] = -1, -1, -1
	got.Latency.Record(1)
	if diff := cmp.Diff(part(1), want, sameResult); diff != "" {
		t.Errorf("the copy shares memory with the part:\n%s", diff)
	}
	if m, err := new(Result).Merge(new(Result)); err != nil || m.Latency == nil {
		t.Errorf("two empty results: %v", err)
	}
}

func TestMergeIntervals(t *testing.T) {
	a, b := part(1), part(2)
	b.Intervals[19].Length = 4e8 // bounded by Requests, the end of a run is where it is
	m, err := a.Merge(b)
	if err != nil || len(m.Intervals) != 20 || m.Intervals[19].Length != 5e8 || hasWarning(m, "intervals-dropped") {
		t.Errorf("%d intervals, %v; a shorter end must not matter", len(m.Intervals), err)
	}
	b.Intervals[3].Length = 4e8
	if m, err = a.Merge(b); err != nil || m.Intervals != nil || !hasWarning(m, "intervals-dropped") {
		t.Errorf("%d intervals, warnings %v, %v; want none, and a warning", len(m.Intervals), m.Warnings, err)
	}
	a.Intervals = nil
	if m, err = a.Merge(part(3), b); err != nil || m.Intervals != nil || !hasWarning(m, "intervals-dropped") {
		t.Errorf("%d intervals, warnings %v, %v; want none, and a warning", len(m.Intervals), m.Warnings, err)
	}
}

func TestMergeOfSkewedParts(t *testing.T) {
	for late, want := range map[time.Duration]string{
		500 * time.Millisecond: "", 2 * time.Second: "skewed-parts", 9900 * time.Millisecond: "skewed-parts", 10 * time.Second: "never", time.Hour: "never",
	} {
		a, b := part(1), part(2)
		b.Start = a.Start.Add(late)
		for _, parts := range [][]*Result{{a, b}, {b, a}} {
			m, err := parts[0].Merge(parts[1])
			if want == "never" {
				if err == nil || !strings.Contains(err.Error(), "never measuring at the same time") {
					t.Errorf("%v late: error %v", late, err)
				}
			} else if err != nil || hasWarning(m, "skewed-parts") != (want != "") {
				t.Errorf("%v late: %v, warnings %v", late, err, m.Warnings)
			}
		}
	}
}

func TestMergeErrors(t *testing.T) {
	other, open := part(2), part(3)
	other.Target = "GET http://elsewhere/"
	open.Options.Rate = 5
	for _, c := range []struct {
		r      *Result
		others []*Result
		want   string
	}{
		{part(1), []*Result{part(2), nil}, "loadtest: Merge: part 3 of 3 is nil"},
		{nil, nil, "loadtest: Merge: part 1 of 1 is nil"},
		{part(1), []*Result{other}, `loadtest: Merge: the parts have different targets: "GET http://h/" and, part 2, "GET http://elsewhere/"`},
		{part(1), []*Result{open}, "loadtest: Merge: some parts are of an open loop and others of a closed one: their latencies are not the same thing"},
	} {
		if m, err := c.r.Merge(c.others...); err == nil || err.Error() != c.want || m != nil {
			t.Errorf("Merge: %v, %v; want %s", m, err, c.want)
		}
	}
}

func TestMergeSumsOnlyWhatAllHave(t *testing.T) {
	a, b := part(1), part(2)
	a.Options.Requests, a.Options.Rate, a.Options.Stages = 100, 1, []Stage{{1, time.Second}, {2, 0}}
	b.Options.Requests, b.Options.Rate, b.Options.Stages = 50, 2, []Stage{{10, time.Second}, {20, 0}}
	m, err := a.Merge(b)
	if err != nil || m.Options.Requests != 150 || m.Options.Rate != 3 || !slices.Equal(m.Options.Stages, []Stage{{11, time.Second}, {22, 0}}) {
		t.Errorf("Options = %+v, %v", m.Options, err)
	}
	b.Options.Requests, b.Options.Stages, b.Options.CPUs = 0, nil, CPUSet{1}
	m, err = a.Merge(b)
	if err != nil || m.Options.Requests != 0 || m.Options.Stages != nil || m.Options.CPUs != nil {
		t.Errorf("Options = %+v, %v; want no Requests, Stages, CPUs", m.Options, err)
	}
}
