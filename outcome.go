package loadtest

import (
	"math"
	"time"
)

// readings are what the operating system knew of this process and its CPUs at one moment.
type readings struct {
	cpu          cpuTime // of the whole process
	maxRSS       int64
	steal, ticks uint64 // of the load threads' CPUs: what the hypervisor gave to others, and all
}

func takeReadings(cpus CPUSet) (at readings) {
	at.cpu, at.maxRSS, _ = processCPUTime()
	at.steal, at.ticks, _ = stealTime(cpus)
	return at
}

// result puts together what the workers have counted, who have exited or were left behind.
func (r *run) result(desc description) *Result {
	res := &Result{
		Options: r.opts, Target: desc.target, Engine: desc.engine, Host: thisHost(), Start: r.clock.start, Elapsed: r.elapsed(),
		Latency: new(Histogram), TotalTime: new(Histogram), FailedLatency: new(Histogram), Connect: new(Histogram),
		FirstByte: new(Histogram), SendLag: new(Histogram), QueueWait: new(Histogram),
	}
	recs := make([]*recorder, len(r.workers))
	for i, w := range r.workers {
		recs[i] = &w.rec
		w.rec.addTo(res)
		res.Abandoned += w.abandoned
		res.OldestAbandoned = max(res.OldestAbandoned, w.oldest)
	}
	res.Errors, res.Failed = errorCounts(recs)
	res.Clients = spread(recs)
	res.Intervals = r.timeline.intervals(res.Elapsed, res.Latency)
	res.ServiceTime = res.Latency.clone()
	res.Generator = r.usage()
	res.Warnings = r.judge(res, desc)
	return res
}

// elapsed returns how long the measured interval was: up to the end asked for, the last outcome of a run bounded by Requests, or the
// moment ctx ended.
func (r *run) elapsed() time.Duration {
	var lastDone, lastBegun time.Duration
	var abandoned int64
	for _, w := range r.workers {
		lastDone = max(lastDone, w.lastDone)
		lastBegun = max(lastBegun, w.lastBegun)
		abandoned += w.abandoned
	}
	end := r.end
	switch {
	case r.early:
		// A worker that did not know yet may have begun one more.
		end = min(r.end, max(time.Duration(r.endedAt.Load()), lastBegun))
	case r.end == math.MaxInt64, r.tickets.exhausted() && abandoned == 0:
		end = min(r.end, lastDone)
	}
	return max(end-r.start, 0)
}

// usage returns what the load threads consumed: their own CPU time if they are pinned, and so nobody else's; otherwise that of the
// process whose threads they share.
func (r *run) usage() Usage {
	u := Usage{CPUs: r.opts.usedCPUs(), MaxRSS: r.atEnd.maxRSS, Processes: 1}
	used := r.atEnd.cpu.minus(r.atStart.cpu)
	if len(u.CPUs) > 0 {
		used = cpuTime{}
		for _, w := range r.workers {
			used.user += w.used.user
			used.system += w.used.system
		}
	} else {
		u.CPUs, _ = AllowedCPUs()
	}
	u.User, u.System = used.user, used.system
	return u
}

// unconnected returns how many clients waited for a connection when the run ended.
func (r *run) unconnected() (n int64) {
	for _, w := range r.workers {
		if w.unsent {
			n++
		}
	}
	return n
}
