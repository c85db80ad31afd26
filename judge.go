package loadtest

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/loadtest-go/loadtest/internal/stat"
)

// Kinds of warnings that are looked for elsewhere.
const (
	warnSaturated  = "generator-saturated"
	warnFewSamples = "few-samples"
	warnUnsteady   = "unsteady"
)

// The limits beyond which a reading becomes a Warning.
const (
	saturatedShare = 0.9  // of its CPUs' time that the generator used
	busyRest       = 0.2  // CPUs that the process used beside its pinned load threads
	stealShare     = 0.02 // of its CPUs' time that the hypervisor gave to others
	fewEnds        = 0.05 // of the requests that were finished after the measured interval
	reconnectShare = 0.1  // of the requests after which the server ended a connection that was to be kept alive

	minSteadySlice = 100 * time.Millisecond
)

// judge returns the reasons to doubt res.
func (r *run) judge(res *Result, desc description) (ws []Warning) {
	warn := func(kind, format string, args ...any) {
		ws = append(ws, Warning{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if res.Host.Race {
		warn("race", "the race detector is on: everything is several times slower, and timing limits are not checked")
	}
	if r.overlaps {
		warn("shared-cpus", "other threads of this process are pinned to CPUs among %v: two runs at once measure each other", r.opts.CPUs)
	}
	if desc.separate {
		r.judgeGenerator(res, desc, warn)
	}
	if a, b := r.atStart, r.atEnd; a.ticks > 0 && b.ticks > a.ticks && b.steal > a.steal {
		if share := float64(b.steal-a.steal) / float64(b.ticks-a.ticks); share > stealShare {
			warn("steal", "the hypervisor gave %.1f %% of the CPU time to others: throughput is too low and latency too high by an unknown amount", 100*share)
		}
	}
	if r.opts.Threads > 0 && len(r.opts.CPUs) == 0 {
		warn("threads", "Threads is %d, but the %q engine gives each client a goroutine, which share the threads of the Go scheduler; set CPUs too", r.opts.Threads, desc.engine)
	}
	r.judgeEnds(res, warn)
	judgeSamples(res, warn)
	r.judgeConnections(res, warn)
	return ws
}

// judgeGenerator says whether the generator was, or may have been, what limited the throughput.
func (r *run) judgeGenerator(res *Result, desc description, warn func(string, string, ...any)) {
	pinned := len(r.opts.CPUs) > 0
	cpus := float64(len(res.Generator.CPUs))
	if !pinned {
		cpus = min(cpus, float64(runtime.GOMAXPROCS(0))) // a quota lowers that
	}
	// Unpinned, the CPU time is that of the whole process, and tells nothing of the generator if the server is in it. A polling thread is
	// always busy.
	if share := res.busyCPUs(res.Generator) / cpus; cpus > 0 && share > saturatedShare && (pinned || !desc.inProcess) && !r.opts.Poll {
		whose := "the load threads used"
		if !pinned {
			whose = "this process, generator included, used"
		}
		warn(warnSaturated, "%s %.0f %% of their CPUs (%v): the throughput is a lower bound of what the target can do, the latency an upper bound", whose, 100*min(share, 1), res.Generator.CPUs)
	}
	switch rest := r.restOfProcess(res); {
	case desc.inProcess:
		warn("shared-cpus", "the server is part of this process: it and the generator take CPU time from each other, which is fit for a floor and not for a comparison of servers")
	case !desc.local:
	case !pinned:
		warn("shared-cpus", "the target is on this machine and the generator is not pinned: they may have taken CPU time from each other; set Options.CPUs, and pin the server to others")
	case rest > busyRest:
		warn("shared-cpus", "beside the load threads this process kept %.2f CPUs busy, on whichever it may use: the Go scheduler serves the %q engine from threads that are not pinned", rest, desc.engine)
	}
}

// restOfProcess returns how many CPUs this process kept busy beside the pinned load threads.
func (r *run) restOfProcess(res *Result) float64 {
	all := r.atEnd.cpu.minus(r.atStart.cpu)
	return res.busyCPUs(Usage{User: all.user, System: all.system}) - res.busyCPUs(res.Generator)
}

// judgeEnds says what the beginning and the end of the run did to the numbers.
func (r *run) judgeEnds(res *Result, warn func(string, string, ...any)) {
	if res.Abandoned > 0 {
		warn("abandoned", "%s had no outcome when the run ended, the oldest after %s: they are in no latency, so that the quantiles are too low", plural(res.Abandoned, "request"), formatDuration(res.OldestAbandoned))
	}
	if res.WarmupFailed > 0 {
		var first error
		for _, w := range r.workers {
			first = cmp.Or(first, w.rec.warmErr)
		}
		warn("warmup-failed", "%s of %s in the warm-up failed: %s", formatCount(res.WarmupFailed), plural(res.WarmupRequests, "request"), sampleOf(first))
	}
	if n := r.unconnected(); n > 0 && !r.early {
		warn("unconnected", "%s still waited for a connection when the run ended", plural(n, "client"))
	}
	if r.left > 0 {
		warn("stuck", "%s did not return within %v of the end of the context: as many goroutines were left behind", plural(int64(r.left), "client"), stuckAfter)
	}
	var vanished int64
	for _, w := range r.workers {
		if w.vanished {
			vanished++
		}
	}
	if vanished > 0 {
		warn("vanished", "%s ended the goroutine that called it (runtime.Goexit, t.FailNow): its load is missing from then on", plural(vanished, "client"))
	}
	if share := float64(res.Drained) / float64(max(res.Requests, 1)); share > fewEnds && !r.early && res.Latency.Count() > 0 {
		warn("short-run", "%.0f %% of the requests were finished after the measured interval, which is short for latencies of %s: the throughput is uncertain by as much", 100*share, formatDuration(res.Latency.Quantile(0.5)))
	}
}

// judgeSamples says what the number of samples, and their course, can't support.
func judgeSamples(res *Result, warn func(string, string, ...any)) {
	n := res.Latency.Count()
	if need := stat.MinSamples(0.99, 0.95); n > 0 && n < need {
		warn(warnFewSamples, "p99 needs %s successes for an interval of 95 %% confidence, this run has %s", formatCount(need), formatCount(n))
	}
	rates, length := res.steadyRates()
	switch s := stat.Steady(rates); s.Verdict {
	case stat.VerdictDrifting:
		warn(warnUnsteady, "the throughput drifted by %+.0f %% from the first third of the run to the last: a longer warm-up may help, or tell that there is no steady state", 100*s.Drift)
	case stat.VerdictLevelChange:
		warn(warnUnsteady, "the throughput changed by %+.0f %% after %s and stayed there: the run measured two states of the target, or of the machine", 100*s.Change.Shift(), formatDuration(time.Duration(s.Change.At)*length))
	}
}

// steadyRates returns the successes per second of slices that are long enough for their course to mean something: a tenth of a second,
// and two dozen successes, on average. It merges neighbours of Intervals; too few of them come to none.
func (r *Result) steadyRates() (rates []float64, length time.Duration) {
	fine := r.intervalRates()
	if len(fine) == 0 || r.Succeeded() == 0 {
		return nil, 0
	}
	width := r.Intervals[0].Length
	perSlice := float64(r.Succeeded()) / float64(len(fine))
	merge := max(int((minSteadySlice+width-1)/width), int(math.Ceil(24/perSlice)))
	for batch := range slices.Chunk(fine, merge) {
		if len(batch) == merge {
			var sum float64
			for _, rate := range batch {
				sum += rate
			}
			rates = append(rates, sum/float64(merge))
		}
	}
	return rates, time.Duration(merge) * width
}

// judgeConnections says when connections were ended more often than the options let expect.
func (r *run) judgeConnections(res *Result, warn func(string, string, ...any)) {
	if res.Resent > 0 {
		warn("resent", "%s had to be sent again, since the server closed a connection that it had kept alive without an answer: it may have received them twice", plural(res.Resent, "request"))
	}
	var hungUp, unsolicited int64
	for _, w := range r.workers {
		hungUp += w.rec.hungUp
		unsolicited += w.rec.unsolicited
	}
	if unsolicited > 0 {
		warn("unsolicited", "the server sent something that no request had asked for on %s: they were closed, but responses before may have been taken for those of later requests", plural(unsolicited, "idle connection"))
	}
	if all := res.Requests + res.WarmupRequests; float64(hungUp) > reconnectShare*float64(all) && all >= 10 {
		warn("reconnects", "the server ended its connection after %s of %s: much of what is measured is opening new ones", formatCount(hungUp), plural(all, "request"))
	}
}
