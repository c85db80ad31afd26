package loadtest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What reports say in words of the load, its extent, the generator and the machine.

func describeLoad(r *Result) string {
	o := r.Options
	parts := []string{loopName(r)}
	switch {
	case len(o.Stages) > 0:
		parts[0] += " in " + plural(int64(len(o.Stages)), "stage")
	case r.offered() > 0:
		parts[0] += ", " + formatRate(r.offered()) + " req/s offered"
	}
	if o.Poisson {
		parts = append(parts, "Poisson arrivals")
	}
	parts = append(parts, plural(int64(o.Concurrency), "client"))
	if o.ThinkTime > 0 {
		parts = append(parts, "think time "+formatDuration(o.ThinkTime))
	}
	if o.Timeout > 0 {
		parts = append(parts, "timeout "+formatDuration(o.Timeout))
	} else if o.Timeout < 0 {
		parts = append(parts, "no timeout")
	}
	return strings.Join(parts, ", ")
}

// loopName names the load as the vocabulary of the package does.
func loopName(r *Result) string {
	if r.openLoop() {
		return "open loop"
	}
	return "closed loop"
}

func (r *Result) openLoop() bool { return r.offered() > 0 || len(r.Options.Stages) > 0 }

// offered returns the offered load in requests per second; 0 in the closed loop, and for a load in stages.
func (r *Result) offered() float64 { return max(finite(r.Options.Rate), 0) }

func describeExtent(r *Result) string {
	s := formatDuration(r.Elapsed)
	if n := r.Options.Requests; n > 0 {
		s += ", bounded by " + plural(n, "request")
	}
	if d := r.Options.Duration; d > 0 && r.Elapsed < d-d/100 {
		s += " of " + formatDuration(d)
	}
	if r.Options.Warmup > 0 {
		s += ", after a warm-up of " + formatDuration(r.Options.Warmup)
	}
	return s
}

func describeGenerator(r *Result) string {
	s := "engine " + printable(cmp.Or(r.Engine, "unknown"), 100)
	if len(r.Options.CPUs) > 0 {
		s += ", pinned to " + nounCPUs(r.Options.CPUs)
	} else {
		s += ", not pinned"
	}
	if r.Options.Threads > 0 {
		s += ", " + plural(int64(r.Options.Threads), "thread")
	}
	if r.Options.Poll {
		s += ", polling"
	}
	return s
}

func nounCPUs(s CPUSet) string {
	if len(s) == 1 {
		return "CPU " + s.String()
	}
	return "CPUs " + s.String()
}

// describeUsage says what a request cost, and how near to their limit the CPUs were.
func describeUsage(r *Result, u Usage) string {
	total := u.User + u.System
	if total <= 0 {
		return ""
	}
	var parts []string
	if r.Requests > 0 {
		parts = append(parts, formatDuration(total/time.Duration(r.Requests))+" a request")
	}
	if r.Elapsed > 0 {
		parts = append(parts, describeBusy(r, u))
	}
	if u.MaxRSS > 0 {
		parts = append(parts, "memory "+formatBytes(float64(u.MaxRSS)))
	}
	return strings.Join(parts, ", ")
}

func describeBusy(r *Result, u Usage) string {
	busy := r.busyCPUs(u)
	text := strconv.FormatFloat(busy, 'f', 2, 64)
	cpus := len(u.CPUs)
	if cpus == 0 {
		cpus = r.Host.CPUs
	}
	if cpus == 0 {
		return text + " CPUs busy"
	}
	return fmt.Sprintf("%s of %s busy (%s)", text, plural(int64(cpus), "CPU"), formatShare(busy/float64(cpus)))
}

func describeHost(h Host) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, printable(s, 200))
		}
	}
	add(h.CPU)
	if h.CPUs > 0 {
		add(plural(int64(h.CPUs), "CPU"))
	}
	if h.OS != "" || h.Arch != "" {
		add(strings.Trim(h.OS+"/"+h.Arch, "/"))
	}
	add(h.Kernel)
	add(h.GoVersion)
	if h.Race {
		add("race detector on")
	}
	return strings.Join(parts, ", ")
}
