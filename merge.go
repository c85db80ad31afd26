package loadtest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// minOverlap is the share of the merged measured interval in which all parts must have been measuring, to go without a warning.
const minOverlap = 0.9

// Merge adds up r and others, parts of one run that several generators made of the same target at the same time, and leaves all of
// them as they are. Which part is r makes no difference but to the name.
//
//   - Counts, bytes, connections, statuses and failures are added. The sample of a failure is that of the part that had it first.
//   - Histograms are merged, never averaged: a quantile of the result is that of all requests together.
//   - Start is the earliest, Elapsed the longest; times of failures count from the earliest Start.
//   - Of Options, Concurrency and Rate are added, and so are Requests and Threads if each part has them. Durations are the longest.
//     Seed is 0 if the parts' differ. CPUs are all those of the parts, or empty if two parts name the same one: on which machine?
//   - Intervals that line up, all with the same offsets and lengths (but for the end of the last), are added. P50, P99 and Max are then
//     the greatest of the parts, an upper bound of what all requests together had. Otherwise there are none, and a [Warning] of kind
//     "intervals-dropped": ThroughputCI cannot be had.
//   - Clients.Min and Max are exact. Median is the middle of the parts' medians, each as often as the part has clients.
//   - Generator is added up, as of processes of their own. Server is the one with the most CPU time, since all parts saw the same server.
//   - Warnings are those of the parts, each once; those that depend on how many samples there are, are judged anew.
//
// It is an error if a part is nil, if the targets differ or some loops are open and others closed, or if there is no moment in which all
// were measuring. If that was less than 90 % of the time, the warning "skewed-parts" says that no such load was ever on the target.
func (r *Result) Merge(others ...*Result) (*Result, error) {
	parts := append([]*Result{r}, others...)
	if err := checkParts(parts); err != nil {
		return nil, fmt.Errorf("loadtest: Merge: %w", err)
	}
	m := &Result{
		Options: mergeOptions(parts), Target: r.Target, Engine: joinDistinct(parts, func(p *Result) string { return p.Engine }),
		Host: mergeHosts(parts), Start: r.Start,
		Latency: new(Histogram), ServiceTime: new(Histogram), TotalTime: new(Histogram), FailedLatency: new(Histogram),
		Connect: new(Histogram), FirstByte: new(Histogram), SendLag: new(Histogram), QueueWait: new(Histogram),
		Clients: mergeSpreads(parts),
	}
	for _, p := range parts {
		if p.Start.Before(m.Start) {
			m.Start = p.Start
		}
		m.Elapsed = max(m.Elapsed, p.Elapsed)
	}
	for _, p := range parts {
		m.addCounts(p)
		m.addErrors(p)
		m.addHistograms(p)
		for _, w := range p.Warnings {
			if w.Kind != warnFewSamples && w.Kind != warnUnsteady { // what more samples change is judged anew
				m.addWarnings(w)
			}
		}
	}
	m.mergeSamples(parts)
	m.mergeUsage(parts)
	m.mergeIntervals(parts)
	if share := overlap(parts); share < minOverlap {
		m.addWarnings(Warning{"skewed-parts", fmt.Sprintf("the parts were measuring all at once for %s of the time only, "+
			"so the load was less than their sum for the rest of it", formatShare(share))})
	}
	judgeSamples(m, func(kind, format string, args ...any) { m.addWarnings(Warning{kind, fmt.Sprintf(format, args...)}) })
	slices.SortFunc(m.Warnings, func(a, b Warning) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text)) })
	return m, nil
}

func checkParts(parts []*Result) error {
	if i := slices.Index(parts, nil); i >= 0 {
		return fmt.Errorf("part %d of %d is nil", i+1, len(parts))
	}
	for i, p := range parts {
		if p.Target != parts[0].Target {
			return fmt.Errorf("the parts have different targets: %q and, part %d, %q", parts[0].Target, i+1, p.Target)
		}
		if p.openLoop() != parts[0].openLoop() {
			return errors.New("some parts are of an open loop and others of a closed one: their latencies are not the same thing")
		}
	}
	if overlap(parts) < 0 {
		return errors.New("the parts were never measuring at the same time: they are not of one run")
	}
	return nil
}

// measured returns when the measured interval began and ended.
func (r *Result) measured() (begin, end time.Time) {
	begin = r.Start.Add(r.Options.Warmup)
	return begin, begin.Add(r.Elapsed)
}

// overlap returns the share of the time in which all parts were measuring, of that in which any was; negative if there was none.
func overlap(parts []*Result) float64 {
	begin, end := parts[0].measured()
	first, last := begin, end
	for _, p := range parts[1:] {
		b, e := p.measured()
		begin, end = laterOf(begin, b), earlierOf(end, e)
		first, last = earlierOf(first, b), laterOf(last, e)
	}
	common, whole := end.Sub(begin), last.Sub(first)
	switch {
	case common < 0 || common == 0 && whole > 0:
		return -1
	case whole == 0:
		return 1
	}
	return float64(common) / float64(whole)
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// longer returns the longer of two timeouts, of which a negative one has no end.
func longer(a, b time.Duration) time.Duration {
	if a < 0 || b < 0 {
		return -1
	}
	return max(a, b)
}

func mergeOptions(parts []*Result) Options {
	m := parts[0].Options
	m.Progress, m.Server = nil, nil
	m.Stages, m.CPUs = slices.Clone(m.Stages), slices.Clone(m.CPUs)
	sets := []CPUSet{parts[0].Options.CPUs}
	for _, p := range parts[1:] {
		o := p.Options
		m.Concurrency += o.Concurrency
		m.Rate = finite(m.Rate + o.Rate)
		m.Stages = addStages(m.Stages, o.Stages)
		m.Requests = addIfBoth(m.Requests, o.Requests)
		m.Threads = int(addIfBoth(int64(m.Threads), int64(o.Threads)))
		m.ThinkTime, m.Duration = max(m.ThinkTime, o.ThinkTime), max(m.Duration, o.Duration)
		m.Warmup, m.Timeout, m.Drain = max(m.Warmup, o.Warmup), longer(m.Timeout, o.Timeout), max(m.Drain, o.Drain)
		m.Poisson, m.Poll = m.Poisson || o.Poisson, m.Poll || o.Poll
		sets = append(sets, o.CPUs)
	}
	if slices.ContainsFunc(parts, func(p *Result) bool { return p.Options.Seed != m.Seed }) {
		m.Seed = 0
	}
	m.CPUs = disjointUnion(sets)
	return m
}

// addIfBoth is a+b, but 0, which means "no limit" or "by default", wins.
func addIfBoth(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a + b
}

// addStages adds stages of equal durations; others have no sum that is made of stages.
func addStages(a, b []Stage) []Stage {
	if !slices.EqualFunc(a, b, func(x, y Stage) bool { return x.Duration == y.Duration }) {
		return nil
	}
	for i := range a {
		a[i].Rate = finite(a[i].Rate + b[i].Rate)
	}
	return a
}

// disjointUnion returns all CPUs of the sets; empty if two sets have one in common, or if one of them is empty.
func disjointUnion(sets []CPUSet) CPUSet {
	var all CPUSet
	for _, s := range sets {
		if len(s) == 0 {
			return nil
		}
		all = append(all, slices.Compact(slices.Sorted(slices.Values(s)))...)
	}
	slices.Sort(all)
	if n := len(all); len(slices.Compact(slices.Clone(all))) < n {
		return nil
	}
	return all
}

// joinDistinct returns the distinct texts of the parts, "epoll, net".
func joinDistinct(parts []*Result, text func(*Result) string) string {
	var all []string
	for _, p := range parts {
		if s := text(p); s != "" {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// mergeHosts is the host of the parts or, of different ones, all that there is of each property. CPUs is then unknown.
func mergeHosts(parts []*Result) Host {
	m := parts[0].Host
	for _, p := range parts[1:] {
		if p.Host.CPUs != m.CPUs {
			m.CPUs = 0
		}
		m.Race = m.Race || p.Host.Race
	}
	m.OS = joinDistinct(parts, func(p *Result) string { return p.Host.OS })
	m.Arch = joinDistinct(parts, func(p *Result) string { return p.Host.Arch })
	m.CPU = joinDistinct(parts, func(p *Result) string { return p.Host.CPU })
	m.Kernel = joinDistinct(parts, func(p *Result) string { return p.Host.Kernel })
	m.GoVersion = joinDistinct(parts, func(p *Result) string { return p.Host.GoVersion })
	return m
}

func mergeSpreads(parts []*Result) Spread {
	m := parts[0].Clients
	var clients int
	for _, p := range parts {
		m.Min, m.Max = min(m.Min, p.Clients.Min), max(m.Max, p.Clients.Max)
		clients += p.Options.Concurrency
	}
	seen := 0
	for _, p := range slices.SortedFunc(slices.Values(parts), func(a, b *Result) int { return cmp.Compare(a.Clients.Median, b.Clients.Median) }) {
		m.Median = p.Clients.Median
		if seen += p.Options.Concurrency; 2*seen >= clients {
			break
		}
	}
	return m
}

func (r *Result) addCounts(p *Result) {
	r.Requests += p.Requests
	r.Failed += p.Failed
	r.Drained += p.Drained
	r.Abandoned += p.Abandoned
	r.Unsent += p.Unsent
	r.WarmupRequests += p.WarmupRequests
	r.WarmupFailed += p.WarmupFailed
	r.Resent += p.Resent
	r.Unwritten += p.Unwritten
	r.OldestAbandoned = max(r.OldestAbandoned, p.OldestAbandoned)
	r.BytesRead += p.BytesRead
	r.BytesWritten += p.BytesWritten
	r.BodyBytes += p.BodyBytes
	r.Connections += p.Connections
	for status, n := range p.Statuses {
		if r.Statuses == nil {
			r.Statuses = map[int]int64{}
		}
		r.Statuses[status] += n
	}
}

// addErrors adds the failures of p, by the time since r.Start.
func (r *Result) addErrors(p *Result) {
	shift := p.Start.Sub(r.Start)
	for kind, e := range p.Errors {
		e.First, e.Last = e.First+shift, e.Last+shift
		have, ok := r.Errors[kind]
		if ok {
			if c := cmp.Or(cmp.Compare(have.First, e.First), cmp.Compare(have.Sample, e.Sample)); c < 0 {
				e.First, e.Sample = have.First, have.Sample
			}
			e.Count, e.Last = e.Count+have.Count, max(e.Last, have.Last)
		}
		if r.Errors == nil {
			r.Errors = map[string]ErrorCount{}
		}
		r.Errors[kind] = e
	}
}

func (r *Result) addHistograms(p *Result) {
	r.Latency.Merge(p.Latency)
	r.ServiceTime.Merge(p.ServiceTime)
	r.TotalTime.Merge(p.TotalTime)
	r.FailedLatency.Merge(p.FailedLatency)
	r.Connect.Merge(p.Connect)
	r.FirstByte.Merge(p.FirstByte)
	r.SendLag.Merge(p.SendLag)
	r.QueueWait.Merge(p.QueueWait)
}

func (r *Result) addWarnings(ws ...Warning) {
	for _, w := range ws {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
}

// mergeSamples keeps the accepted response of the part that began first, of those that have one.
func (r *Result) mergeSamples(parts []*Result) {
	var from *Result
	for _, p := range parts {
		if p.Sample == (Sample{}) {
			continue
		}
		if from == nil || cmp.Or(p.Start.Compare(from.Start), compareSamples(p.Sample, from.Sample)) < 0 {
			from, r.Sample = p, p.Sample
		}
	}
}

func compareSamples(a, b Sample) int {
	return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Server, b.Server),
		cmp.Compare(a.BodyBytes, b.BodyBytes), cmp.Compare(a.TLS, b.TLS))
}

func (r *Result) mergeUsage(parts []*Result) {
	var sets []CPUSet
	for _, p := range parts {
		u, g := p.Generator, &r.Generator
		g.User, g.System = g.User+u.User, g.System+u.System
		g.MaxRSS, g.Processes = g.MaxRSS+u.MaxRSS, g.Processes+u.Processes
		sets = append(sets, u.CPUs)
		if compareUsage(p.Server, r.Server) > 0 {
			r.Server = p.Server
		}
	}
	r.Generator.CPUs = disjointUnion(sets)
	r.Server.CPUs = slices.Clone(r.Server.CPUs)
}

func compareUsage(a, b Usage) int {
	return cmp.Or(cmp.Compare(a.User+a.System, b.User+b.System), cmp.Compare(a.User, b.User), cmp.Compare(a.MaxRSS, b.MaxRSS),
		cmp.Compare(a.Processes, b.Processes), slices.Compare(a.CPUs, b.CPUs))
}

// mergeIntervals adds the parts' intervals if they line up.
func (r *Result) mergeIntervals(parts []*Result) {
	merged := slices.Clone(parts[0].Intervals)
	for _, p := range parts[1:] {
		if len(p.Intervals) != len(merged) {
			merged = nil
		}
		for i := range merged {
			a, b := &merged[i], p.Intervals[i]
			if a.Offset != b.Offset || a.Length != b.Length && i < len(merged)-1 {
				merged = nil
				break
			}
			a.Length = max(a.Length, b.Length)
			a.Requests, a.Failed = a.Requests+b.Requests, a.Failed+b.Failed
			a.P50, a.P99, a.Max = max(a.P50, b.P50), max(a.P99, b.P99), max(a.Max, b.Max)
		}
	}
	r.Intervals = merged
	if merged == nil && slices.ContainsFunc(parts, func(p *Result) bool { return len(p.Intervals) > 0 }) {
		r.addWarnings(Warning{"intervals-dropped", "the intervals of the parts do not line up, so there is no course over time and " +
			"no interval of the throughput"})
	}
}
