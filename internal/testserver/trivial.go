package testserver

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
)

// TrivialOptions are the options of a [Trivial] server.
type TrivialOptions struct {
	// Addr is the TCP address to listen on. "": a free port of 127.0.0.1.
	Addr string

	// Response is written for every request. nil: 100 bytes with status 200, framed by Content-Length.
	Response []byte

	// CloseEach closes every connection after its first response, which should then announce it; a nil Response does. Clients without keep-alive
	// that wait for the server to close, such as ab, need it.
	CloseEach bool
}

func (o TrivialOptions) withDefaults() TrivialOptions {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Response == nil {
		// Both are 100 bytes. Without the header line ab takes the connection for one that will be closed.
		if o.CloseEach {
			o.Response = Message(200, "Hello, load generator, and good-bye to it\n", "Connection: close")
		} else {
			o.Response = Message(200, "Hello, load generator, and try again\n", "Connection: keep-alive")
		}
	}
	return o
}

// Trivial is a server for measuring throughput: it answers every request head with the same bytes and does next to nothing else. It does not parse:
// it counts the empty lines that end heads, so a request body must not contain CR LF CR LF, and pipelined requests are answered in one write. On
// Linux one thread serves all connections through epoll; elsewhere each has a goroutine.
//
// It expects clients that read: a response that does not fit the socket's buffer at once ends the connection.
type Trivial struct {
	// Addr is the address to dial, URL the same as a URL.
	Addr, URL string

	opts     TrivialOptions
	ln       net.Listener
	requests atomic.Int64 // written by the serving goroutines
	accepted atomic.Int64 // likewise
	stop     func()       // makes serving end
	running  sync.WaitGroup
	once     sync.Once
}

// StartTrivial starts a trivial server. It needs no test, so that it can be a process of its own.
func StartTrivial(opts TrivialOptions) (*Trivial, error) {
	opts = opts.withDefaults()
	ln, err := net.Listen("tcp", opts.Addr)
	if err != nil {
		return nil, err
	}
	s := &Trivial{Addr: ln.Addr().String(), URL: "http://" + ln.Addr().String(), opts: opts, ln: ln}
	if err := s.start(); err != nil {
		ln.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the server and all connections.
func (s *Trivial) Close() {
	s.once.Do(func() {
		s.ln.Close()
		s.stop()
		s.running.Wait()
	})
}

// Requests is the number of requests answered so far.
func (s *Trivial) Requests() int64 { return s.requests.Load() }

// Accepted is the number of connections accepted so far.
func (s *Trivial) Accepted() int64 { return s.accepted.Load() }

// respond counts n requests and returns the responses to them: the fixed one itself, or as many as needed in buf's place.
func (s *Trivial) respond(n int, buf []byte) (response, reused []byte) {
	if n == 1 || s.opts.CloseEach {
		s.requests.Add(1)
		return s.opts.Response, buf
	}
	s.requests.Add(int64(n))
	buf = buf[:0]
	for range n {
		buf = append(buf, s.opts.Response...)
	}
	return buf, buf
}

var headEnd = []byte("\r\n\r\n")

// heads counts the ends of request heads in b. state is how many bytes of one the previous input ended in, from which it also makes the next.
func heads(state int, b []byte) (n, next int) {
	for len(b) > 0 {
		if state == 0 {
			i := bytes.Index(b, headEnd)
			if i >= 0 {
				n++
				b = b[i+len(headEnd):]
				continue
			}
			b = b[max(0, len(b)-len(headEnd)+1):]
		}
		for len(b) > 0 {
			state = step(state, b[0])
			b = b[1:]
			if state == len(headEnd) {
				n, state = n+1, 0
				break
			}
		}
	}
	return n, state
}

// step is the automaton for CR LF CR LF.
func step(state int, c byte) int {
	switch {
	case c == headEnd[state]:
		return state + 1
	case c == '\r':
		return 1
	default:
		return 0
	}
}
