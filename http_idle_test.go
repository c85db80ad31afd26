package loadtest

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/testserver"
)

// What a server does to a connection while it is idle is seen before the next request is written.
func TestHTTPIdleConnection(t *testing.T) {
	skipUnlessPeeking(t)
	for _, tt := range []struct {
		name   string
		script testserver.Script
		method string
		warns  string
	}{
		{"closed", testserver.LateClose("test", 5*time.Millisecond), "POST", "reconnects"},
		{"a 408 that nobody asked for", testserver.Each(func(c *testserver.Conn) {
			_ = c.Text(200, "test")
			c.Sleep(5 * time.Millisecond)
			_, _ = c.WriteString("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}), "GET", "unsolicited"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := testserver.Start(t, tt.script)
			r, err := Run(t.Context(), &HTTP{URL: srv.URL, Method: tt.method}, Options{Concurrency: 2, Requests: 20, ThinkTime: 40 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			checkInvariants(t, r)
			if r.Failed != 0 || r.Resent != 0 || srv.Requests() != 20 || r.Connections != srv.Accepted() || r.Connections != 20 {
				t.Errorf("%d failed %v, %d resent, %d connections; the server saw %d requests on %d; want 0, 0, 20, 20, 20",
					r.Failed, r.Errors, r.Resent, r.Connections, srv.Requests(), srv.Accepted())
			}
			if !hasWarning(r, tt.warns) {
				t.Errorf("Warnings = %v, want %q", r.Warnings, tt.warns)
			}
		})
	}
}

func skipUnlessPeeking(t *testing.T) {
	t.Helper()
	if canPoll() != nil {
		t.Skip("sockets can't be looked at here, or it was not tried")
	}
}

// A server may refuse a large request after its head, and read no further.
func TestHTTPEarlyAnswer(t *testing.T) {
	skipUnlessPeeking(t)
	srv := testserver.Start(t, func(c *testserver.Conn) {
		if c.NextHead() {
			_ = c.LastText(413, "no")
			c.Stall()
		}
	})
	body := bytes.Repeat([]byte("x"), 32<<20)
	r, err := Run(t.Context(), &HTTP{URL: srv.URL, Method: "POST", Body: body, Status: 413}, Options{Concurrency: 2, Requests: 4, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
	if r.Failed != 0 || r.Statuses[413] != 4 || r.Latency.Max() > 3*time.Second {
		t.Errorf("%d failed %v, statuses %v, after %v at most; want four times 413, at once", r.Failed, r.Errors, r.Statuses, r.Latency.Max())
	}
}

// A response that comes after the timeout is none, whoever is the slower.
func TestHTTPLateResponse(t *testing.T) {
	srv := testserver.Start(t, testserver.Delay(2*time.Millisecond, "test"))
	r, err := Run(t.Context(), &HTTP{URL: srv.URL}, Options{Concurrency: 4, Requests: 200, Timeout: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
	if r.TotalTime.Max() > 2*time.Millisecond {
		t.Errorf("a success took %v, more than the timeout", r.TotalTime.Max())
	}
}

// A Target that embeds *HTTP has a NewClient of its own.
type embedding struct {
	*HTTP
	made atomic.Int64
}

func (e *embedding) NewClient(ctx context.Context, i int) (Client, error) {
	e.made.Add(1)
	return e.HTTP.NewClient(ctx, i)
}

func TestRunTargetThatEmbedsHTTP(t *testing.T) {
	srv := testserver.Start(t, testserver.Text("test"))
	e := &embedding{HTTP: &HTTP{URL: srv.URL}}
	r, err := Run(t.Context(), e, Options{Concurrency: 3, Requests: 20})
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
	if e.made.Load() != 3 || r.Engine != "func" {
		t.Errorf("NewClient called %d times, engine %q; want 3, func", e.made.Load(), r.Engine)
	}
}

// A Client that is a nil pointer, as functions return beside an error.
type nilClient struct{ closed bool }

func (c *nilClient) Do(context.Context) (int64, error) { return 0, nil }
func (c *nilClient) Close() error                      { c.closed = true; return nil }

type nilTarget struct{}

func (nilTarget) NewClient(context.Context, int) (Client, error) {
	return (*nilClient)(nil), errors.New("the server is down")
}

func TestRunNilClientBesideAnError(t *testing.T) {
	if r, err := Run(t.Context(), nilTarget{}, Options{}); r != nil || err == nil {
		t.Errorf("Run = %v, %v; want the error", r, err)
	}
}
