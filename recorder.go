package loadtest

import (
	"slices"
	"time"

	"github.com/loadtest-go/loadtest/internal/tally"
)

// A recorder counts what one worker has seen. It belongs to the worker, which is the only one to touch it until it is joined; nothing here
// is shared, so nothing here is atomic.
type recorder struct {
	// Of the current slice of the timeline; handed over when the worker's next request begins in another.
	slice sliceBuffer

	// Of the whole run.
	firstByte, total, failed, connect tally.Counts

	errors   [failures]failureCount
	statuses []statusCount

	requests, drained                int64 // of the measured interval
	warmed, warmFailed               int64 // of the warm-up
	read, written, body              int64 // of the measured interval
	resent, unwritten                int64 // of both
	connections, hungUp, unsolicited int64 // of both
	sample                           Sample
	warmErr                          error // the first failure of the warm-up
}

// A statusCount counts responses of one status. A run sees one or two, which are found faster in a list than in a map.
type statusCount struct {
	status int
	n      int64
}

// record counts x, whose outcome is known and which began in the measured interval, that ends at end.
func (r *recorder) record(x *exchange, end time.Duration) {
	r.requests++
	r.slice.requests++
	if x.done > end {
		r.drained++
	}
	r.transferred(x)
	if x.status != 0 {
		r.countStatus(x.status)
	}
	if x.kind != failNone {
		r.slice.failed++
		r.failed.Record(int64(x.done - x.begun))
		r.errors[x.kind].add(x.done, x.err)
		return
	}
	r.slice.success(int64(x.done - x.sent))
	r.total.Record(int64(x.done - x.begun))
	if x.first != 0 {
		r.firstByte.Record(int64(x.first - x.sent))
	}
	r.keepSample(x)
}

// keepSample keeps what the first accepted response looked like; also in the warm-up.
func (r *recorder) keepSample(x *exchange) {
	if r.sample.Status == 0 {
		r.sample = x.sample
	}
}

// warm counts x, which began in the warm-up.
func (r *recorder) warm(x *exchange) {
	r.warmed++
	r.keepSample(x)
	if x.kind == failNone {
		return
	}
	if r.warmFailed == 0 {
		r.warmErr = x.err
	}
	r.warmFailed++
}

// transferred counts what went over the wire for x, whatever became of it.
func (r *recorder) transferred(x *exchange) {
	r.read += x.read
	r.written += x.written
	r.body += x.body
}

// opened counts what x did to connections and transmissions: in the warm-up too, since the server counts those.
func (r *recorder) opened(x *exchange) {
	r.resent += int64(x.resent)
	if x.hungUp {
		r.hungUp++
	}
	if x.unsolicited {
		r.unsolicited++
	}
	if x.unsent && !x.givenUp {
		r.unwritten++
	}
	if x.opened == 0 {
		return
	}
	r.connections += int64(x.opened)
	for _, d := range x.dials[:x.dialed] {
		r.connect.Record(int64(d))
	}
}

func (r *recorder) countStatus(status int) {
	for i := range r.statuses {
		if r.statuses[i].status == status {
			r.statuses[i].n++
			return
		}
	}
	r.statuses = append(r.statuses, statusCount{status, 1})
}

// addTo adds what was counted over the whole run to res. The slices are the timeline's to add.
func (r *recorder) addTo(res *Result) {
	res.Requests += r.requests
	res.Drained += r.drained
	res.WarmupRequests += r.warmed
	res.WarmupFailed += r.warmFailed
	res.Resent += r.resent
	res.Unwritten += r.unwritten
	res.Connections += r.connections
	res.BytesRead += r.read
	res.BytesWritten += r.written
	res.BodyBytes += r.body
	res.FirstByte.add(&r.firstByte)
	res.TotalTime.add(&r.total)
	res.FailedLatency.add(&r.failed)
	res.Connect.add(&r.connect)
	for _, s := range r.statuses {
		if res.Statuses == nil {
			res.Statuses = make(map[int]int64)
		}
		res.Statuses[s.status] += s.n
	}
	if res.Sample.Status == 0 {
		res.Sample = r.sample
	}
}

// errorCounts returns the failures that all recorders have counted, by name, and their number.
func errorCounts(rs []*recorder) (byKind map[string]ErrorCount, n int64) {
	for kind := range failures {
		var sum failureCount
		for _, r := range rs {
			sum.merge(&r.errors[kind])
		}
		if sum.n == 0 {
			continue
		}
		if byKind == nil {
			byKind = make(map[string]ErrorCount)
		}
		byKind[kind.String()] = ErrorCount{Count: sum.n, Sample: sum.sample, First: sum.first, Last: sum.last}
		n += sum.n
	}
	return byKind, n
}

// spread returns the least, the middle and the greatest number of requests of a client.
func spread(rs []*recorder) Spread {
	counts := make([]int64, len(rs))
	for i, r := range rs {
		counts[i] = r.requests
	}
	slices.Sort(counts)
	return Spread{Min: counts[0], Median: counts[len(counts)/2], Max: counts[len(counts)-1]}
}
