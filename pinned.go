package loadtest

import (
	"slices"
	"time"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// pinnedByOthers reports whether the process has threads that are pinned to CPUs of ours and are not ours: those of another Run.
func (r *run) pinnedByOthers() bool {
	if len(r.opts.CPUs) == 0 {
		return false
	}
	ours := make(map[int]bool)
	for _, w := range r.workers {
		ours[w.thread] = true
	}
	allowed, _ := sys.AllowedCPUs()
	for id, cpus := range sys.ThreadAffinities() {
		if !ours[id] && len(cpus) < len(allowed) && slices.ContainsFunc(cpus, func(cpu int) bool { return slices.Contains(r.opts.CPUs, cpu) }) {
			return true
		}
	}
	return false
}

// awaitThreads waits until the pinned threads have ended, which they do some microseconds after their goroutines: no mask of ours is to
// be seen once Run has returned.
func (r *run) awaitThreads() {
	if len(r.opts.CPUs) == 0 {
		return
	}
	patience := time.Now().Add(100 * time.Millisecond)
	for _, w := range r.workers {
		select {
		case <-w.exited:
		default:
			continue // left behind
		}
		for sys.ThreadExists(w.thread) && time.Now().Before(patience) {
			time.Sleep(20 * time.Microsecond)
		}
	}
}
