package loadtest

import (
	"math"
	"time"
)

// progressEvery is the time between two calls of Options.Progress within a phase.
const progressEvery = time.Second

// reportProgress calls Options.Progress until the workers are joined. It reads what the workers publish: their counts of requests, and the slices
// that they have handed over, never a histogram that is being written.
func (r *run) reportProgress(joined <-chan struct{}) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for _, phase := range []struct {
		name       string
		start, end time.Duration
	}{
		{"warmup", 0, r.start},
		{"measure", r.start, r.end},
		{"drain", r.end, math.MaxInt64},
	} {
		if phase.start == phase.end {
			continue
		}
		var ends <-chan time.Time
		var total time.Duration
		if phase.end != math.MaxInt64 {
			ends, total = time.After(phase.end-r.clock.now()), phase.end-phase.start
		} else if phase.name == "drain" {
			total = max(r.opts.Drain, 0)
		}
		ticker.Reset(progressEvery)
		last := sighting{at: phase.start}
		if phase.name == "drain" {
			last = r.sight(phase.name)
		}
		for over := false; !over; {
			select {
			case <-ticker.C:
			case <-ends:
				over = true
			case <-joined:
				over = true
			}
			now := r.sight(phase.name)
			if !over && phase.end-now.at < progressEvery/2 {
				continue // the last call of the phase is near
			}
			p50, p99 := r.timeline.recent()
			r.opts.Progress(Progress{
				Phase: phase.name, Elapsed: now.at - phase.start, Total: total,
				Requests: now.requests, Expected: r.opts.Requests, Failed: now.failed,
				Throughput: perSecond(now.requests-last.requests, now.at-last.at), P50: p50, P99: p99,
			})
			last = now
		}
		if last.at < phase.end {
			return // the run was over before the phase was
		}
	}
}

// A sighting is what the workers had done at a moment.
type sighting struct {
	at               time.Duration
	requests, failed int64
}

func (r *run) sight(phase string) sighting {
	s := sighting{at: r.clock.now()}
	for _, w := range r.workers {
		if phase == "warmup" {
			s.requests += w.warmed.Load()
			continue
		}
		s.requests += w.done.Load()
		s.failed += w.failed.Load()
	}
	return s
}
