package testserver

import (
	"slices"
	"sync/atomic"
	"time"
)

// malformedKept is how many malformed requests are remembered with their reason.
const malformedKept = 16

// Requests is the number of whole requests received (head and body), answered or not.
func (s *Server) Requests() int64 { return s.count.requests.Load() }

// Partial is the number of requests that began and did not arrive whole before the connection ended.
func (s *Server) Partial() int64 { return s.count.partial.Load() }

// Accepted is the number of connections accepted so far.
func (s *Server) Accepted() int64 { return s.count.accepted.Load() }

// Open is the number of connections whose script has not ended.
func (s *Server) Open() int64 { return s.count.open.Load() }

// FailedHandshakes is the number of connections that ended in the TLS handshake: their script never ran.
func (s *Server) FailedHandshakes() int64 { return s.count.handshakes.Load() }

// BytesReceived is the number of bytes read from all connections, TLS records and handshakes included. Bytes that a client wrote and no script read
// are not in it.
func (s *Server) BytesReceived() int64 { return s.count.received.Load() }

// BytesSent is the number of bytes written to all connections, TLS records and handshakes included.
func (s *Server) BytesSent() int64 { return s.count.sent.Load() }

// PerConn is the number of whole requests on each connection, by [Conn.N].
func (s *Server) PerConn() []int64 {
	s.count.mu.Lock()
	defer s.count.mu.Unlock()
	got := make([]int64, len(s.count.perConn))
	for i, n := range s.count.perConn {
		got[i] = n.Load()
	}
	return got
}

// Arrivals is when each whole request's first byte was seen, since the server was started, in the order in which requests became whole. It needs
// [Options.KeepArrivals].
func (s *Server) Arrivals() []time.Duration {
	s.count.mu.Lock()
	defer s.count.mu.Unlock()
	return slices.Clone(s.count.arrivals)
}

// Recorded is every whole request, in the order in which they became whole. It needs [Options.KeepRequests].
func (s *Server) Recorded() []Request {
	s.count.mu.Lock()
	defer s.count.mu.Unlock()
	return slices.Clone(s.count.recorded)
}

// Malformed says why received bytes were no HTTP request, for the first few that were not. The connection of each was closed by its script, since
// Next returned false.
func (s *Server) Malformed() []error {
	s.count.mu.Lock()
	defer s.count.mu.Unlock()
	return slices.Clone(s.count.malformed)
}

// Elapsed is the time since the server was started, on the clock of [Request.At].
func (s *Server) Elapsed() time.Duration { return time.Since(s.base) }

// Await waits until cond is true and says whether it became so within limit. It is for counts that follow an event by a moment, as in
//
//	srv.Await(time.Second, func() bool { return srv.Open() == 0 })
func (s *Server) Await(limit time.Duration, cond func() bool) bool {
	start := time.Now()
	for !cond() {
		if time.Since(start) > limit {
			return false
		}
		time.Sleep(100 * time.Microsecond)
	}
	return true
}

// addConn numbers a new connection.
func (n *counts) addConn() (number int64, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	n.mu.Lock()
	n.perConn = append(n.perConn, requests)
	n.mu.Unlock()
	n.open.Add(1)
	return n.accepted.Add(1) - 1, requests
}

// addRequest counts a whole request.
func (n *counts) addRequest(r *Request, keepArrival, keepRequest bool) {
	if keepArrival || keepRequest {
		n.mu.Lock()
		if keepArrival {
			n.arrivals = append(n.arrivals, r.At)
		}
		if keepRequest {
			n.recorded = append(n.recorded, *r)
		}
		n.mu.Unlock()
	}
	n.requests.Add(1)
}

func (n *counts) addMalformed(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.malformed) < malformedKept {
		n.malformed = append(n.malformed, err)
	}
}
