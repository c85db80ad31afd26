package loadtest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-go/loadtest/internal/testserver"
)

// A wrapped is what a user may make of an HTTP target: a Target of his own.
type wrapped struct {
	targets []*HTTP
	closed  atomic.Int64
}

func (w *wrapped) NewClient(ctx context.Context, i int) (Client, error) {
	c, err := w.targets[i%len(w.targets)].NewClient(ctx, i)
	if err != nil {
		return nil, err
	}
	return &wrappedClient{c, w}, nil
}

type wrappedClient struct {
	inner Client
	owner *wrapped
}

func (c *wrappedClient) Do(ctx context.Context) (int64, error) { return c.inner.Do(ctx) }

func (c *wrappedClient) Close() error {
	c.owner.closed.Add(1)
	return c.inner.Close()
}

// A handOut gives out the clients of HTTP targets as they are: what a user writes who loads several servers at once.
type handOut []*HTTP

func (o handOut) NewClient(ctx context.Context, i int) (Client, error) {
	return o[i%len(o)].NewClient(ctx, i)
}

// Whether Run drives a connection itself or a user's Target stands between: the outcome is the same.
func TestHTTPDoorsAgree(t *testing.T) {
	type outcome struct {
		Requests, Failed, Abandoned int64
		Errors                      map[string]int64
		BytesRead                   int64
		SeenRequests, SeenAccepted  int64
	}
	for _, tt := range []struct {
		name    string
		script  testserver.Script
		change  func(*HTTP)
		tls     bool
		timeout time.Duration
		bytes   bool // all that the server has sent is read
	}{
		{name: "plain", script: testserver.Text("test"), bytes: true},
		{name: "TLS", tls: true, script: testserver.Text("test")},
		{name: "chunked", script: testserver.Bytes(testserver.ChunkedMessage(200, "abcdef", 4, "X: y")), bytes: true},
		{name: "close-delimited", script: testserver.CloseDelimited("test"), bytes: true},
		{name: "statuses", script: testserver.Statuses(200, 302, 500), bytes: true},
		{name: "idle close", script: testserver.CloseAfter(3, "test"), bytes: true},
		{name: "idle close, POST", change: func(h *HTTP) { h.Method = "POST" }, script: testserver.Each(func(c *testserver.Conn) {
			if c.Request.N == 2 {
				c.Text(200, "test")
				c.CloseWrite() // and reads on, so that it is never a reset
			} else if c.Request.N < 2 {
				c.Text(200, "test")
			}
		})},
		{name: "garbage", script: testserver.Once([]byte("garbage")), bytes: true},
		{name: "cut short", script: testserver.Once([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")), bytes: true},
		{name: "reset", script: testserver.ResetAfter([]byte("HTTP/1.1 200 OK\r\n"))},
		{name: "too large", script: testserver.Text("too large"), change: func(h *HTTP) { h.MaxBody = 3 }},
		{name: "check", script: testserver.Text("test"), change: func(h *HTTP) { h.Check = func(*Response) error { return errors.New("no") } }},
		{name: "stall", script: badServer(testserver.Silent()), timeout: 500 * time.Millisecond},
		{name: "untrusted", tls: true, script: testserver.Text("test"), change: func(h *HTTP) { h.TLS = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.timeout > 0 {
				t.Skip("takes a second")
			}
			t.Parallel()
			measure := func(wrap func(h *HTTP) Target) outcome {
				srv := testserver.StartWith(t, testserver.Options{TLS: tt.tls}, tt.script)
				h := &HTTP{URL: srv.URL, TLS: trust(srv)}
				if tt.change != nil {
					tt.change(h)
				}
				r := mustRun(t, wrap(h), Options{Concurrency: 1, Requests: 9, Timeout: tt.timeout})
				o := outcome{Requests: r.Requests, Failed: r.Failed, Abandoned: r.Abandoned, SeenRequests: srv.Requests(), SeenAccepted: srv.Accepted()}
				for kind, e := range r.Errors {
					if o.Errors == nil {
						o.Errors = make(map[string]int64)
					}
					o.Errors[kind] = e.Count
				}
				if tt.bytes {
					o.BytesRead = r.BytesRead
				}
				return o
			}
			fast := measure(func(h *HTTP) Target { return h })
			w := new(wrapped)
			slow := measure(func(h *HTTP) Target { w.targets = []*HTTP{h}; return w })
			given := measure(func(h *HTTP) Target { return handOut{h} })
			if d := cmp.Diff(fast, slow); d != "" {
				t.Errorf("through Do (-by Run +by Do):\n%s", d)
			}
			if d := cmp.Diff(fast, given); d != "" {
				t.Errorf("handed out (-by Run +by Do):\n%s", d)
			}
			if w.closed.Load() != 1 {
				t.Errorf("%d clients closed, want 1", w.closed.Load())
			}
		})
	}
}

func TestHTTPThroughDoObeysItsContext(t *testing.T) {
	for name, make := range map[string]func(hs ...*HTTP) Target{
		"wrapped":    func(hs ...*HTTP) Target { return &wrapped{targets: hs} },
		"handed out": func(hs ...*HTTP) Target { return handOut(hs) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			silent, good := testserver.Start(t, testserver.Silent()), testserver.Start(t, testserver.Text("test"))
			r := mustRun(t, make(&HTTP{URL: silent.URL}, &HTTP{URL: good.URL}), Options{Concurrency: 2, Duration: 350 * time.Millisecond, Timeout: 100 * time.Millisecond, ThinkTime: time.Millisecond})
			if n := r.Errors["timeout"].Count; n < 1 || n > 4 || n != r.Failed || silent.Accepted() < n {
				t.Errorf("%v; want some three timeouts, each on a connection of its own (%d)", r.Errors, silent.Accepted())
			}
			if r.Succeeded() != good.Requests() || r.Engine != "func" {
				t.Errorf("%d succeeded, the server saw %d; engine %q", r.Succeeded(), good.Requests(), r.Engine)
			}

			start := time.Now()
			r, err := Run(t.Context(), make(&HTTP{URL: silent.URL}), Options{Concurrency: 3, Duration: 50 * time.Millisecond, Drain: 50 * time.Millisecond})
			within(t, start, 100*time.Millisecond)
			if !errors.Is(err, ErrNoRequests) || r.Abandoned != 3 || r.Failed != 0 {
				t.Errorf("%v, %d abandoned, %v; want ErrNoRequests, 3, no failure", err, r.Abandoned, r.Errors)
			}
			checkInvariants(t, r)
		})
	}
}

// A context that ends at the very moment when the response is there must not disturb the requests after it.
func TestHTTPDoAfterLateInterruption(t *testing.T) {
	for name, tls := range map[string]bool{"plain": false, "tls": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.StartWith(t, testserver.Options{TLS: tls}, testserver.Text("test"))
			h := &HTTP{URL: srv.URL, TLS: trust(srv)}
			c, err := h.NewClient(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			do := func(ctx context.Context) error {
				done := make(chan error, 1)
				go func() { _, err := c.Do(ctx); done <- err }()
				select {
				case err := <-done:
					return err
				case <-time.After(10 * time.Second):
					t.Fatal("Do does not return")
					return nil
				}
			}
			var cut int
			for i := range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%60)*10*time.Microsecond)
				if err := do(ctx); err != nil {
					cut++
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Fatalf("cut off by its context, Do returned %v", err)
					}
				}
				cancel()
				if err := do(t.Context()); err != nil {
					t.Fatalf("the request after it: %v", err)
				}
			}
			t.Logf("%d of 300 cut off, %d connections", cut, srv.Accepted())

			// And one that comes later still.
			net := c.(onlyClient).Client.(*netClient)
			earlier := net.over
			if err := do(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := srv.Accepted()
			net.interrupt(earlier)
			if err := do(t.Context()); err != nil || srv.Accepted() != before {
				t.Errorf("after an interruption of long ago: %v, %d connections more", err, srv.Accepted()-before)
			}
		})
	}
}

func TestHTTPDoReturnsItsErrors(t *testing.T) {
	srv := testserver.Start(t, testserver.ByConn(
		testserver.Once([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")),
		testserver.Statuses(200, 503, 200, 200),
	))
	h := &HTTP{URL: srv.URL}
	c, err := h.NewClient(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Do = %v, want io.ErrUnexpectedEOF", err)
	}
	if _, err := c.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("Do = %v, want the status", err)
	}
	cause := errors.New("because")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := c.Do(ctx); !errors.Is(err, cause) {
		t.Errorf("Do = %v, want the cause", err)
	}
	if n, err := c.Do(t.Context()); err != nil || n != int64(len("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ntest")) {
		t.Errorf("Do = %d, %v; want the size of the response", n, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !srv.Await(5*time.Second, func() bool { return srv.Open() == 0 }) {
		t.Errorf("%d connections are open after Close", srv.Open())
	}
}

// One *HTTP can be the target of several runs at once: they share nothing but its fields.
func TestHTTPRunsAtOnce(t *testing.T) {
	srv := testserver.Start(t, testserver.CloseAfter(20, "test"))
	h := &HTTP{URL: srv.URL, Check: func(r *Response) error { return nil }}
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			r, err := Run(t.Context(), h, Options{Concurrency: 4, Requests: 300})
			if err != nil || r.Requests != 300 || r.Failed != 0 || r.Sample.Status != 200 {
				t.Errorf("Run = %v, %v", r, err)
			}
		})
	}
	runs.Wait()
	if srv.Requests() != 1200 {
		t.Errorf("the server saw %d requests, want 1200", srv.Requests())
	}
}
