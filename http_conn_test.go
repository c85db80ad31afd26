package loadtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/testserver"
)

// swallow answers the first request of a connection, reads the second, and closes the connection without an answer.
func swallow(c *testserver.Conn) {
	if c.Next() {
		c.Text(200, "test")
		c.Next()
	}
}

func TestHTTPIdleConnectionClosed(t *testing.T) {
	for _, tt := range []struct {
		name        string
		script      testserver.Script
		method      string
		think       time.Duration
		tls         bool
		looks       bool  // the client sees the end of the connection before it writes
		ok          int64 // of 20
		resent      int64
		connections int64
		requests    int64 // that the server has read
	}{
		{name: "silently", script: testserver.CloseAfter(5, "test"), ok: 20, resent: 3, connections: 4, requests: 20},
		{name: "silently, DELETE", method: "DELETE", script: testserver.CloseAfter(5, "test"), ok: 20, resent: 3, connections: 4, requests: 20},
		{name: "silently, POST", method: "POST", script: testserver.CloseAfter(5, "test"), ok: 17, connections: 4, requests: 17},
		{name: "silently, PATCH", method: "PATCH", script: testserver.CloseAfter(1, "test"), ok: 10, connections: 10, requests: 10},
		{name: "announced", script: testserver.AnnounceClose(5, "test"), ok: 20, connections: 4, requests: 20},
		{name: "announced, POST", method: "POST", script: testserver.AnnounceClose(5, "test"), ok: 20, connections: 4, requests: 20},
		{name: "announced, closed late", script: func(c *testserver.Conn) {
			if c.Next() {
				c.LastText(200, "test")
				c.WaitFor(time.Minute)
			}
		}, ok: 20, connections: 20, requests: 20},
		{name: "during think time", think: 5 * time.Millisecond, script: testserver.CloseAfter(1, "test"), looks: true, ok: 20, connections: 20, requests: 20},
		{name: "during think time, POST", method: "POST", think: 5 * time.Millisecond, script: testserver.CloseAfter(1, "test"), looks: true, ok: 20, connections: 20, requests: 20},
		{name: "request read", script: swallow, ok: 20, resent: 19, connections: 20, requests: 39},
		{name: "request read, POST", method: "POST", script: swallow, ok: 10, connections: 10, requests: 20},
		{name: "silently, TLS", tls: true, script: testserver.CloseAfter(5, "test"), ok: 20, resent: 3, connections: 4, requests: 20},
		{name: "without TLS's goodbye", tls: true, think: 3 * time.Millisecond, script: func(c *testserver.Conn) {
			c.Next()
			c.Text(200, "test")
			c.Drop()
		}, ok: 20, resent: 19, connections: 20, requests: 20},
		{name: "never an answer", script: func(c *testserver.Conn) { c.Next() }, ok: 0, connections: 20, requests: 20},
		{name: "reset while idle", think: 5 * time.Millisecond, looks: true, script: func(c *testserver.Conn) {
			c.Next()
			c.Text(200, "test")
			c.Reset()
		}, ok: 20, connections: 20, requests: 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.looks {
				skipUnlessPeeking(t)
			}
			t.Parallel()
			srv := testserver.StartWith(t, testserver.Options{TLS: tt.tls}, tt.script)
			h := &HTTP{URL: srv.URL, Method: tt.method, TLS: trust(srv)}
			r := mustRun(t, h, Options{Concurrency: 1, Requests: 20, ThinkTime: tt.think})
			account(t, r, srv)
			if r.Requests != 20 || r.Succeeded() != tt.ok || r.Resent != tt.resent || r.Connections != tt.connections || srv.Requests() != tt.requests {
				t.Errorf("%d of %d succeeded, %d sent again, %d connections, %d seen by the server; want %d of 20, %d, %d, %d; %v",
					r.Succeeded(), r.Requests, r.Resent, r.Connections, srv.Requests(), tt.ok, tt.resent, tt.connections, tt.requests, r.Errors)
			}
			if n := r.Errors["eof"].Count + r.Errors["reset"].Count; n != r.Failed {
				t.Errorf("%d failed, %v; want eof or reset", r.Failed, r.Errors)
			}
			if r.Latency.Max() > 10*time.Second {
				t.Errorf("Latency.Max() = %v: it waited for the end of a connection", r.Latency.Max())
			}
		})
	}
}

func TestHTTPManyClientsOnClosingServer(t *testing.T) {
	srv := testserver.Start(t, testserver.CloseAfter(7, "test"))
	r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 16, Requests: 2000})
	account(t, r, srv)
	if r.Failed != 0 || r.Requests != 2000 || srv.Requests() != 2000 {
		t.Errorf("%d requests, %d seen, %v", r.Requests, srv.Requests(), r.Errors)
	}
}

// A public bug of another tool: each request took as long as the server's lingering close.
func TestHTTPDisableKeepAlive(t *testing.T) {
	srv := testserver.Start(t, testserver.Each(func(c *testserver.Conn) {
		c.Text(200, "test")
		c.WaitFor(time.Minute) // lingers, unless the client goes
	}))
	r := mustRun(t, &HTTP{URL: srv.URL, DisableKeepAlive: true}, Options{Concurrency: 2, Requests: 20})
	account(t, r, srv)
	if r.Failed != 0 || r.Connections != 20 || r.TotalTime.Max() > 10*time.Second {
		t.Errorf("%d failed, %d connections, slowest %v; want 0, 20 and no minute", r.Failed, r.Connections, r.TotalTime.Max())
	}
}

func TestHTTPConnectionsAreReused(t *testing.T) {
	srv := testserver.Start(t, testserver.Text(strings.Repeat("x", 64<<10)))
	r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 4, Requests: 500})
	account(t, r, srv)
	if srv.Accepted() > 4 {
		t.Errorf("%d connections, want 4 at most", srv.Accepted())
	}
}

func TestHTTPRefused(t *testing.T) {
	addr := testserver.ClosedAddr(t)
	missing := "unix:" + filepath.Join(t.TempDir(), "none")
	for name, h := range map[string]*HTTP{
		"tcp":  {URL: "http://" + addr},
		"unix": {URL: "http://nonexistent.invalid/", Addr: missing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mustRun(t, h, Options{Concurrency: 4, Duration: 500 * time.Millisecond})
			// Pauses of 1, 2, 4 … 128 and 250 ms: some ten attempts each.
			if n := r.Errors["connect"].Count; n != r.Requests || n < 8 || n > 44 || r.Connections != 0 {
				t.Errorf("%d requests, %v; want from 8 to 44, all of kind connect", r.Requests, r.Errors)
			}
			if r.BytesWritten != 0 || len(r.Statuses) != 0 {
				t.Errorf("%d bytes written, statuses %v", r.BytesWritten, r.Statuses)
			}
		})
		t.Run(name+", by requests", func(t *testing.T) {
			t.Parallel()
			r := mustRun(t, h, Options{Concurrency: 2, Requests: 8})
			if r.Requests != 8 || r.Errors["connect"].Count != 8 {
				t.Errorf("%d requests, %v; want 8 of kind connect", r.Requests, r.Errors)
			}
		})
	}
}

func TestHTTPServerRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	srv := testserver.Start(t, testserver.Delay(time.Millisecond, "test"))
	restarted := make(chan int64, 1)
	go func() {
		srv.Await(5*time.Second, func() bool { return srv.Requests() > 50 })
		srv.Kill()
		time.Sleep(50 * time.Millisecond)
		if err := srv.Restart(); err != nil {
			t.Error(err)
		}
		restarted <- srv.Requests()
	}()
	r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 4, Duration: time.Second})
	before := <-restarted
	if kinds := r.Errors["connect"].Count + r.Errors["reset"].Count + r.Errors["eof"].Count; kinds != r.Failed || r.Errors["connect"].Count == 0 {
		t.Errorf("errors %v, want connect, and reset or eof", r.Errors)
	}
	if r.Errors["connect"].Count > 4*12 {
		t.Errorf("%d attempts while the server was gone", r.Errors["connect"].Count)
	}
	if srv.Requests() <= before {
		t.Errorf("%d requests before the restart, %d after all", before, srv.Requests())
	}
	// A request that was lost with its connection, and found no other to be sent on again, has failed to connect, but was written.
	lost := resendable(r) + max(r.Errors["connect"].Count-r.Unwritten, 0)
	if seen, issued := srv.Requests(), r.Requests+r.Abandoned-r.Unwritten; seen < issued-lost || seen > issued+r.Resent {
		t.Errorf("the server has seen %d of %d requests, %d sent again", seen, issued, r.Resent)
	}
}

func TestHTTPServerOpensLate(t *testing.T) {
	srv := testserver.Start(t, testserver.Text("test"))
	srv.Stop()
	opts := Options{Concurrency: 2, Requests: 300}.withDefaults()
	target, desc, err := (&HTTP{URL: srv.URL}).prepare(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{target: atFirstClient{target, func() {
		time.AfterFunc(100*time.Millisecond, func() {
			if err := srv.Restart(); err != nil {
				t.Error(err)
			}
		})
	}}, desc: desc, opts: opts}
	r, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
	if r.Errors["connect"].Count != r.Failed || r.Failed < 2 || r.Failed > 40 || r.Succeeded() != srv.Requests() || r.Connections != srv.Accepted() || r.Connections > 2 {
		t.Errorf("%d succeeded, the server saw %d, %v, %d connections; want the same, a few of kind connect, at most 2", r.Succeeded(), srv.Requests(), r.Errors, r.Connections)
	}
}

// atFirstClient calls begins just before the load begins.
type atFirstClient struct {
	Target
	begins func()
}

func (a atFirstClient) NewClient(ctx context.Context, i int) (Client, error) {
	if i == 0 {
		a.begins()
	}
	return a.Target.NewClient(ctx, i)
}

// within fails the test if what began at start took longer than bound.
func within(t *testing.T, start time.Time, bound time.Duration) {
	t.Helper()
	if took := time.Since(start); took > bound+slack {
		t.Errorf("Run took %v, want %v at most", took, bound)
	}
}

func TestHTTPNoAnswer(t *testing.T) {
	const drain = 100 * time.Millisecond
	for _, tt := range []struct {
		name     string
		tls      bool
		script   testserver.Script
		requests int64 // that the server has read
	}{
		{name: "silent", script: testserver.Silent(), requests: 5},
		{name: "deaf", script: testserver.Deaf()},
		{name: "stalls in the head", script: waits("HTTP/1.1 2"), requests: 5},
		{name: "stalls in the body", script: waits("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), requests: 5},
		{name: "body without end", script: func(c *testserver.Conn) {
			c.Next()
			for c.WriteString("HTTP/1.1 200 OK\r\n\r\n"); c.Err() == nil; {
				c.WriteString(strings.Repeat("x", 1000))
				c.Sleep(time.Millisecond)
			}
		}, requests: 5},
		{name: "silent, TLS", tls: true, script: testserver.Silent(), requests: 5},
	} {
		for _, timeout := range []time.Duration{time.Hour, -1} {
			if timeout < 0 && !strings.HasPrefix(tt.name, "silent") {
				continue
			}
			t.Run(tt.name+"/"+timeout.String(), func(t *testing.T) {
				t.Parallel()
				srv := testserver.StartWith(t, testserver.Options{TLS: tt.tls}, tt.script)
				duration := 300 * time.Millisecond
				if tt.tls && testing.Short() {
					t.Skip("takes a second")
				} else if tt.tls {
					duration = time.Second // five handshakes on a busy machine
				}
				start := time.Now()
				r, err := Run(t.Context(), &HTTP{URL: srv.URL, TLS: trust(srv)}, Options{Concurrency: 5, Duration: duration, Drain: drain, Timeout: timeout})
				within(t, start, duration+drain)
				if !errors.Is(err, ErrNoRequests) {
					t.Errorf("err = %v, want ErrNoRequests", err)
				}
				checkInvariants(t, r)
				if r.Abandoned != 5 || r.Failed != 0 || r.Requests != 0 || srv.Requests() != tt.requests || r.Connections != 5 {
					t.Errorf("%d abandoned, %v, the server saw %d on %d connections; want 5, no failures, %d, 5", r.Abandoned, r.Errors, srv.Requests(), r.Connections, tt.requests)
				}
			})
		}
	}
}

func TestHTTPBacklogFull(t *testing.T) {
	for _, network := range []string{"tcp4", "unix"} {
		start := func(t *testing.T) *testserver.Server {
			srv := testserver.StartWith(t, testserver.Options{Network: network, Backlog: 1, HoldAccept: true}, testserver.Text("test"))
			if err := srv.Fill(); err != nil {
				t.Skip(err)
			}
			return srv
		}
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			srv := start(t)
			begun := time.Now()
			r, err := Run(t.Context(), &HTTP{URL: "http://x.invalid", Addr: srv.Addr}, Options{Concurrency: 5, Duration: 300 * time.Millisecond, Drain: 100 * time.Millisecond})
			within(t, begun, 400*time.Millisecond)
			checkInvariants(t, r)
			if network == "unix" { // which refuses at once
				if err != nil || r.Errors["connect"].Count != r.Requests || r.Requests > 5*12 {
					t.Errorf("%v, %d requests, %v; want some fifty of kind connect", err, r.Requests, r.Errors)
				}
				return
			}
			if !errors.Is(err, ErrNoRequests) || r.Requests != 0 || r.Abandoned != 0 || r.BytesWritten != 0 {
				t.Errorf("%v, %d requests, %d abandoned; want ErrNoRequests: none was even written", err, r.Requests, r.Abandoned)
			}
		})
		t.Run(network+", then accepted", func(t *testing.T) {
			if testing.Short() {
				t.Skip("TCP tries again after a second")
			}
			t.Parallel()
			srv := start(t)
			time.AfterFunc(50*time.Millisecond, srv.ReleaseAccept)
			r := mustRun(t, &HTTP{URL: "http://x.invalid", Addr: srv.Addr}, Options{Concurrency: 2, Requests: 40})
			if r.Succeeded() != srv.Requests() || r.Errors["connect"].Count != r.Failed || r.Succeeded() < 20 {
				t.Errorf("%d of %d succeeded, the server saw %d, %v", r.Succeeded(), r.Requests, srv.Requests(), r.Errors)
			}
		})
	}
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		srv := testserver.StartWith(t, testserver.Options{Backlog: 1, HoldAccept: true}, testserver.Text("test"))
		if err := srv.Fill(); err != nil {
			t.Skip(err)
		}
		r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 2, Requests: 4, Timeout: 60 * time.Millisecond})
		if r.Errors["timeout"].Count != 4 || r.FailedLatency.Min() < 60*time.Millisecond || r.Connections != 0 {
			t.Errorf("%v, the fastest in %v, %d connections; want 4 timeouts after 60ms, 0", r.Errors, r.FailedLatency.Min(), r.Connections)
		}
	})
}

func TestHTTPTimeout(t *testing.T) {
	const timeout = 150 * time.Millisecond
	for _, tt := range []struct {
		name string
		tls  bool
		bad  testserver.Script
	}{
		{"silent", false, testserver.Silent()},
		{"deaf", false, testserver.Deaf()},
		{"stalls in the head", false, waits("HTTP/1.1 200 OK\r\nX:")},
		{"stalls in the body", false, waits("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")},
		{"stalls between chunks", false, waits("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")},
		{"dribbles", false, func(c *testserver.Conn) {
			c.Next()
			for c.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"); c.Err() == nil; c.Sleep(time.Millisecond) {
				c.WriteString("x")
			}
		}},
		{"silent, TLS", true, testserver.Silent()},
		{"interim responses without end", false, func(c *testserver.Conn) {
			for c.Next(); c.Interim(102) == nil; {
				c.Sleep(time.Millisecond)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.StartWith(t, testserver.Options{TLS: tt.tls}, badServer(tt.bad))
			r := mustRun(t, &HTTP{URL: srv.URL, TLS: trust(srv)}, Options{Concurrency: 1, Requests: 3, Timeout: timeout})
			if r.Requests != 3 || r.Errors["timeout"].Count != 1 || r.Failed != 1 || r.Connections != 2 || !strings.Contains(r.Errors["timeout"].Sample, "150ms") {
				t.Errorf("%d requests, %v, %d connections; want 3, a timeout after 150ms, 2", r.Requests, r.Errors, r.Connections)
			}
			if d := r.FailedLatency.Max(); d < timeout || d > timeout+slack {
				t.Errorf("it took %v, want %v", d, timeout)
			}
		})
	}
}

// The deadline of a connection is set for its first request and moved when it strikes: every request must have its full time all the same.
func TestHTTPDeadlineMoves(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const timeout = 400 * time.Millisecond
	for _, tls := range []bool{false, true} {
		for _, think := range []time.Duration{0, timeout * 5 / 4} {
			t.Run(map[bool]string{true: "tls", false: "plain"}[tls]+"/"+think.String(), func(t *testing.T) {
				t.Parallel()
				var slow atomic.Bool
				srv := testserver.StartWith(t, testserver.Options{TLS: tls}, testserver.Each(func(c *testserver.Conn) {
					switch {
					case c.Request.N > 0 && c.Server.Elapsed() > timeout*2/3 && slow.CompareAndSwap(false, true):
						c.Sleep(timeout / 2) // in time, though the deadline of the connection is past
					case slow.Load():
						c.Stall()
					default:
						c.Sleep(time.Millisecond)
					}
					c.Text(200, "test")
				}))
				h := &HTTP{URL: srv.URL, TLS: trust(srv)}
				r, err := Run(t.Context(), h, Options{Concurrency: 1, Requests: 3000, Timeout: timeout, ThinkTime: think, Duration: 2 * timeout, Drain: timeout})
				if err != nil {
					t.Fatal(err)
				}
				checkInvariants(t, r)
				if r.Failed != r.Errors["timeout"].Count || r.Latency.Max() < timeout/2 {
					t.Errorf("%v, slowest success %v; want no failure but timeouts, and a slow success", r.Errors, r.Latency.Max())
				}
				if r.Failed > 0 && r.FailedLatency.Min() < timeout {
					t.Errorf("a timeout after %v, want %v", r.FailedLatency.Min(), timeout)
				}
			})
		}
	}
}

func TestHTTPNoTimeout(t *testing.T) {
	srv := testserver.Start(t, testserver.Delay(100*time.Millisecond, "test"))
	r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 2, Requests: 4, Timeout: -1})
	account(t, r, srv)
	if r.Failed != 0 || r.Latency.Min() < 100*time.Millisecond {
		t.Errorf("%v, fastest %v", r.Errors, r.Latency.Min())
	}
}

func TestHTTPCancelAtAnyTime(t *testing.T) {
	srv := testserver.Start(t, testserver.Each(func(c *testserver.Conn) {
		if c.Request.Serial%3 == 0 {
			c.Sleep(300 * time.Microsecond)
		}
		c.Text(200, "test")
	}))
	cause := errors.New("enough")
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		before, accepted := srv.Requests()+srv.Partial(), srv.Accepted()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancelled := make(chan time.Time, 1)
		time.AfterFunc(time.Duration(random.Int64N(int64(15*time.Millisecond))), func() {
			cancelled <- time.Now()
			cancel(cause)
		})
		r, err := Run(ctx, &HTTP{URL: srv.URL}, Options{Concurrency: 4, Requests: 1e9, Warmup: 4 * time.Millisecond})
		if took := time.Since(<-cancelled); took > 50*time.Millisecond+slack {
			t.Errorf("Run went on for %v", took)
		}
		if !errors.Is(err, cause) {
			t.Fatalf("err = %v, want the cause", err)
		}
		if r == nil {
			continue // not one client had begun
		}
		if r.Failed != 0 {
			t.Errorf("%v: cancelling is no failure", r.Errors)
		}
		// All its connections are closed, so no count can go up any more.
		closed := func() bool { return srv.Open() == 0 && srv.Accepted()-accepted >= r.Connections }
		if !srv.Await(5*time.Second, closed) {
			t.Fatalf("%d connections are still open", srv.Open())
		}
		seen := srv.Requests() + srv.Partial() - before
		if issued := r.WarmupRequests + r.Requests + r.Abandoned; seen != issued {
			t.Fatalf("warm-up %d + completed %d + abandoned %d = %d, the server saw %d", r.WarmupRequests, r.Requests, r.Abandoned, issued, seen)
		}
	}
}

func TestHTTPUpload(t *testing.T) {
	const size = 8 << 20
	body := []byte(strings.Repeat("0123456789abcdef", size/16))
	for _, tt := range []struct {
		name   string
		script testserver.Script
		status int
		kinds  []string // allowed; nil: none may fail
	}{
		{name: "slow reader", script: func(c *testserver.Conn) {
			for c.NextHead() {
				for n, err := c.ReadSome(64 << 10); n > 0 && err == nil; n, err = c.ReadSome(64 << 10) {
					if len(c.Request.Body)%(1<<20) < 64<<10 {
						c.Sleep(time.Millisecond)
					}
				}
				status := 200
				if string(c.Request.Body) != string(body) {
					status = 400
				}
				c.Text(status, "test")
			}
		}},
		{name: "early answer, and reads on", status: 413, script: func(c *testserver.Conn) {
			for c.NextHead() {
				c.Text(413, "too large")
			}
		}},
		{name: "early answer, and a lingering close", status: 413, script: func(c *testserver.Conn) {
			c.NextHead()
			c.LastText(413, "too large")
			c.CloseWrite()
			c.Drain()
		}},
		{name: "early answer, and closed", status: 413, script: func(c *testserver.Conn) {
			c.NextHead()
			c.LastText(413, "too large")
		}, kinds: []string{"reset", "eof"}},
		{name: "early answer, unannounced close", status: 413, script: func(c *testserver.Conn) {
			c.NextHead()
			c.Text(413, "too large")
		}, kinds: []string{"reset", "eof"}},
		{name: "closed", status: 413, script: func(c *testserver.Conn) { c.NextHead() }, kinds: []string{"reset", "eof"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.StartWith(t, testserver.Options{ReadBuffer: 64 << 10}, tt.script)
			h := &HTTP{URL: srv.URL, Method: "POST", Body: body, Status: tt.status}
			r := mustRun(t, h, Options{Concurrency: 2, Requests: 4, Timeout: 30 * time.Second})
			if srv.Accepted() != r.Connections { // what of a request is not read is no request to the server
				t.Errorf("Connections = %d, the server has accepted %d", r.Connections, srv.Accepted())
			}
			var allowed int64
			for _, kind := range tt.kinds {
				allowed += r.Errors[kind].Count
			}
			if r.Requests != 4 || r.Failed != allowed || r.Resent != 0 {
				t.Errorf("%d requests, %v, %d sent again; want 4, at most %v, 0", r.Requests, r.Errors, r.Resent, tt.kinds)
			}
			all := func() bool { return srv.BytesReceived() == r.BytesWritten }
			if tt.kinds == nil && (!srv.Await(5*time.Second, all) || r.BytesWritten < 4*size) {
				t.Errorf("%d bytes written, the server has received %d", r.BytesWritten, srv.BytesReceived())
			}
		})
	}
}

// A peer that does not read must not hold up the end of the run; TLS's goodbye would wait for it.
func TestHTTPUploadToDeafServer(t *testing.T) {
	for name, tls := range map[string]bool{"plain": false, "tls": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.StartWith(t, testserver.Options{TLS: tls, ReadBuffer: 16 << 10}, testserver.Deaf())
			h := &HTTP{URL: srv.URL, Method: "POST", Body: make([]byte, 16<<20), TLS: trust(srv)}
			start := time.Now()
			r, err := Run(t.Context(), h, Options{Concurrency: 2, Duration: 200 * time.Millisecond, Drain: 50 * time.Millisecond})
			within(t, start, 250*time.Millisecond)
			if !errors.Is(err, ErrNoRequests) {
				t.Errorf("err = %v, want ErrNoRequests", err)
			}
			checkInvariants(t, r)
			if r.Abandoned != 2 || r.Failed != 0 || hasWarning(r, "stuck") {
				t.Errorf("%d abandoned, %v, %v; want 2 and no failure", r.Abandoned, r.Errors, r.Warnings)
			}
			r = mustRun(t, h, Options{Concurrency: 1, Requests: 2, Timeout: 100 * time.Millisecond})
			if r.Errors["timeout"].Count != 2 || r.FailedLatency.Max() > 100*time.Millisecond+slack {
				t.Errorf("%v, the slowest in %v; want 2 timeouts after 100ms", r.Errors, r.FailedLatency.Max())
			}
		})
	}
}

// An address that swallows everything leaves time for the next.
func TestHTTPTriesEveryAddress(t *testing.T) {
	hole := testserver.StartWith(t, testserver.Options{Backlog: 1, HoldAccept: true}, testserver.Text("never"))
	if err := hole.Fill(); err != nil {
		t.Skip(err)
	}
	srv := testserver.Start(t, testserver.Text("test"))
	for name, addrs := range map[string][]string{
		"refused":    {testserver.ClosedAddr(t), srv.Addr},
		"black hole": {hole.Addr, srv.Addr},
		"both":       {testserver.ClosedAddr(t), hole.Addr, srv.Addr},
	} {
		for _, timeout := range []time.Duration{800 * time.Millisecond, -1} {
			t.Run(name+"/"+timeout.String(), func(t *testing.T) {
				if testing.Short() && timeout < 0 {
					t.Skip("takes a second")
				}
				t.Parallel()
				opts := Options{Requests: 10, Concurrency: 1, Timeout: timeout}.withDefaults()
				target, _, err := (&HTTP{URL: srv.URL, DisableKeepAlive: true}).prepare(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				p := target.(*httpPlan)
				p.addrs = addrs
				r, err := (&plan{target: p, opts: opts}).run(t.Context())
				if err != nil || r.Failed != 0 || r.Connections != 10 {
					t.Fatalf("%v, %v, %d connections; want 10 and no failure", err, r.Errors, r.Connections)
				}
				if r.Connect.Quantile(0.8) > 500*time.Millisecond {
					t.Errorf("connecting takes %v: the address that works is not remembered", r.Connect.Quantile(0.8))
				}
			})
		}
	}
}

func TestHTTPAllocatesNothingPerRequest(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the server allocates")
	}
	srv, err := testserver.StartTrivial(testserver.TrivialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	measure := func(n int64) (objects, bytes int64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Run(t.Context(), &HTTP{URL: srv.URL}, Options{Concurrency: 4, Requests: n})
		runtime.ReadMemStats(&after)
		if err != nil || r.Requests != n || r.Failed != 0 || r.Connections > 4 {
			t.Fatal(r, err)
		}
		return int64(after.Mallocs - before.Mallocs), int64(after.TotalAlloc - before.TotalAlloc)
	}
	measure(100)
	fewObjects, fewBytes := measure(1000)
	manyObjects, manyBytes := measure(151_000)
	// What is left is the timeline's, up to a hundred slices, however many requests there are.
	if per := float64(manyObjects-fewObjects) / 150_000; per > 0.05 {
		t.Errorf("%.3f allocations per request, want 0", per)
	}
	if grown := manyBytes - fewBytes; grown > 16<<20 {
		t.Errorf("150000 requests more took %d bytes more", grown)
	}
}
