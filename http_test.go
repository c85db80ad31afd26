package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/h1"
	"github.com/loadtest-go/loadtest/internal/testserver"
)

// slack is what a busy machine may add to a time that is bounded. What is found by it lasts longer: five seconds, a minute, for ever.
const slack = 2 * time.Second

// mustRun runs target and holds the result to the invariants.
func mustRun(t *testing.T, target Target, opts Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), target, opts)
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
	return r
}

// account compares r with what the server has seen: each request that was written, and each connection, once.
func account(t *testing.T, r *Result, srv *testserver.Server) {
	t.Helper()
	if !srv.Await(5*time.Second, func() bool { return srv.Open() == 0 && srv.Accepted() >= r.Connections }) {
		t.Errorf("%d connections are still open, %d of %d accepted", srv.Open(), srv.Accepted(), r.Connections)
	}
	seen := srv.Requests() + srv.Partial()
	issued := r.WarmupRequests + r.Requests + r.Abandoned - r.Unwritten
	if seen < issued-resendable(r) || seen > issued+r.Resent {
		t.Errorf("the server has seen %d requests; warm-up %d + completed %d + abandoned %d - not written %d = %d, and %d were sent again",
			seen, r.WarmupRequests, r.Requests, r.Abandoned, r.Unwritten, issued, r.Resent)
	}
	if srv.Accepted() != r.Connections {
		t.Errorf("Connections = %d, the server has accepted %d", r.Connections, srv.Accepted())
	}
}

// resendable returns how many requests may have met a connection that the server had closed, so that it has not seen them.
func resendable(r *Result) int64 { return r.Resent + r.Errors["eof"].Count + r.Errors["reset"].Count }

// A form is a response as a server may send it.
type form struct {
	name    string
	method  string
	message []byte
	status  int // 0: 200
	body    string
	closes  bool // the end of the connection is part of it, or announced in it
	accept  int  // HTTP.Status
}

func (f form) target(srv *testserver.Server) *HTTP {
	return &HTTP{URL: srv.URL, Method: f.method, Status: f.accept}
}

// script answers with the form, which write writes.
func (f form) script(write func(c *testserver.Conn, message []byte)) testserver.Script {
	return func(c *testserver.Conn) {
		for c.Next() {
			write(c, f.message)
			if f.closes {
				return
			}
		}
	}
}

func whole(c *testserver.Conn, message []byte) { c.Write(message) }

// cut writes the message byte by byte as the server's first response, and divided at another byte in each response after that.
func cut(c *testserver.Conn, message []byte) {
	if c.Request.Serial == 0 {
		c.WriteEach(message, 1)
	} else {
		c.WriteSplit(message, int(c.Request.Serial))
	}
}

// forms are the legal ways to frame a response.
func forms() []form {
	const ok = "HTTP/1.1 200 OK\r\n"
	fs := []form{
		{name: "content length", message: testserver.Message(200, "test"), body: "test"},
		{name: "empty", message: testserver.Message(200, "")},
		{name: "created", message: testserver.Message(201, "new"), status: 201, body: "new"},
		{name: "chunked", message: testserver.ChunkedMessage(200, "abcdefghijk", 4), body: "abcdefghijk"},
		{name: "chunked, trailers", message: testserver.ChunkedMessage(200, "abc", 2, "X-Sum: 1", "x-other:"), body: "abc"},
		{name: "chunked, extensions", message: []byte(ok + "transfer-encoding: Chunked\r\n\r\n5;name=\"a b\";x\r\nhello\r\n0005;y  \r\nworld\r\n000;z\r\n\r\n"), body: "helloworld"},
		{name: "chunked, empty", message: testserver.ChunkedMessage(200, "", 1)},
		{name: "close-delimited", message: testserver.DelimitedMessage("HTTP/1.1", 200, "to the end"), body: "to the end", closes: true},
		{name: "close-delimited, empty", message: testserver.DelimitedMessage("HTTP/1.1", 200, ""), closes: true},
		{name: "1.0", message: testserver.DelimitedMessage("HTTP/1.0", 200, "old", "Content-Length: 3"), body: "old", closes: true},
		{name: "1.0, close-delimited", message: testserver.DelimitedMessage("HTTP/1.0", 200, "old"), body: "old", closes: true},
		{name: "1.0, keep-alive", message: testserver.DelimitedMessage("HTTP/1.0", 200, "old", "Connection: Keep-Alive", "Content-Length: 3"), body: "old"},
		{name: "announced close", message: testserver.Message(200, "bye", "connection: foo, CLOSE"), body: "bye", closes: true},
		{name: "HEAD", method: "HEAD", message: []byte(ok + "Content-Length: 1000000\r\n\r\n")},
		{name: "HEAD, chunked", method: "HEAD", message: []byte(ok + "Transfer-Encoding: chunked\r\n\r\n")},
		{name: "HEAD, no length", method: "HEAD", message: []byte(ok + "\r\n")},
		{name: "204", message: []byte("HTTP/1.1 204 No Content\r\nX: y\r\n\r\n"), status: 204},
		{name: "304", message: []byte("HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n"), status: 304, accept: 304},
		{name: "interim", message: []byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 P\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi"), body: "hi"},
		{name: "any case", message: []byte(ok + "cOnTeNt-LeNgTh:4\r\nCONNECTION:\tkeep-alive \r\n\r\ntest"), body: "test"},
		{name: "no reason", message: []byte("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx"), body: "x"},
		{name: "bare LF", message: []byte("HTTP/1.1 200 OK\nContent-Length: 1\n\nx"), body: "x"},
		{name: "repeated length", message: []byte(ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx"), body: "x"},
	}
	for i := range fs {
		if fs[i].status == 0 {
			fs[i].status = 200
		}
	}
	return fs
}

// check runs n requests with f's answer and compares all that can be counted.
func (f form) check(t *testing.T, n int64, script testserver.Script) {
	t.Helper()
	srv := testserver.Start(t, script)
	r := mustRun(t, f.target(srv), Options{Concurrency: 1, Requests: n})
	account(t, r, srv)
	if r.Failed != 0 || r.Statuses[f.status] != n {
		t.Errorf("%d failed of %d: %v %v", r.Failed, n, r.Errors, r.Statuses)
	}
	if want := n * int64(len(f.body)); r.BodyBytes != want {
		t.Errorf("BodyBytes = %d, want %d", r.BodyBytes, want)
	}
	if r.BytesRead != srv.BytesSent() || r.BytesRead != n*int64(len(f.message)) || r.BytesWritten != srv.BytesReceived() {
		t.Errorf("%d bytes read, %d written; the server has sent %d, received %d", r.BytesRead, r.BytesWritten, srv.BytesSent(), srv.BytesReceived())
	}
	want := int64(1)
	if f.closes {
		want = n
	}
	if r.Connections != want || r.Connect.Count() != want || r.Resent != 0 {
		t.Errorf("%d connections, %d in Connect, %d sent again; want %d, %d, 0", r.Connections, r.Connect.Count(), r.Resent, want, want)
	}
	if s := r.Sample; s.Status != f.status || s.BodyBytes != int64(len(f.body)) {
		t.Errorf("Sample = %+v", s)
	}
}

func TestHTTPForms(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			// The last few are whole: they are "divided" at their end and beyond.
			f.check(t, int64(len(f.message))+3, f.script(cut))
		})
	}
}

func TestHTTPLongHeads(t *testing.T) {
	for _, size := range []int{64 << 10, 1<<20 - 200} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			f := form{status: 200, body: "test", message: testserver.Message(200, "test", "X-Long: "+strings.Repeat("x", size))}
			f.check(t, 3, testserver.Bytes(f.message))
		})
	}
}

func TestHTTPBodySizes(t *testing.T) {
	for _, size := range []int{0, 1, 4096, 65536, 65537, 4 << 20} {
		body := strings.Repeat("0123456789abcde\n", size/16+1)[:size]
		n := int64(20)
		if size > 1<<20 {
			n = 2
		}
		for _, f := range []form{
			{name: "content length", message: testserver.Message(200, body)},
			{name: "chunked", message: testserver.ChunkedMessage(200, body, 1000)},
			{name: "close-delimited", message: testserver.DelimitedMessage("HTTP/1.0", 200, body), closes: true},
		} {
			f.status, f.body = 200, body
			script := f.script(whole)
			t.Run(fmt.Sprintf("%s/%d", f.name, size), func(t *testing.T) {
				t.Parallel()
				f.check(t, n, script)
				// Once more, looking at each byte.
				srv := testserver.Start(t, script)
				h := f.target(srv)
				h.Check = func(r *Response) error {
					if string(r.Body) != body {
						return fmt.Errorf("%d bytes of another body", len(r.Body))
					}
					return nil
				}
				if r := mustRun(t, h, Options{Concurrency: 1, Requests: n}); r.Failed != 0 {
					t.Error(r.Errors)
				}
			})
		}
	}
}

// A public bug of another tool: bodies without a Content-Length were counted as nothing.
func TestHTTPCountsChunkedBodies(t *testing.T) {
	srv := testserver.Start(t, testserver.Bytes(testserver.ChunkedMessage(200, strings.Repeat("x", 10240), 3000)))
	r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 4, Requests: 100})
	account(t, r, srv)
	if r.BodyBytes != 1_024_000 || r.BytesRead != srv.BytesSent() {
		t.Errorf("BodyBytes = %d, BytesRead = %d; want 1024000, %d", r.BodyBytes, r.BytesRead, srv.BytesSent())
	}
}

// A badServer answers the first request of its first connection badly, and then waits until the client has gone; all others well.
func badServer(bad testserver.Script) testserver.Script {
	return testserver.ByConn(bad, testserver.Text("test"))
}

// waits is a script that sends a message and keeps the connection open.
func waits(message string) testserver.Script {
	return func(c *testserver.Conn) {
		if c.Next() {
			c.WriteString(message)
			c.Stall()
		}
	}
}

func TestHTTPBadResponses(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	once := func(message string) testserver.Script { return testserver.Once([]byte(message)) }
	reset := func(message string) testserver.Script { return testserver.ResetAfter([]byte(message)) }
	for _, tt := range []struct {
		name   string
		kind   string
		script testserver.Script
		change func(*HTTP)
		sample string // in the error's text
	}{
		{name: "conflicting lengths", kind: "parse", script: waits(ok + "Content-Length: 4\r\nContent-Length: 5\r\n\r\ntest"), sample: "Content-Length"},
		{name: "conflicting lengths in one", kind: "parse", script: waits(ok + "Content-Length: 4, 5\r\n\r\ntest"), sample: "Content-Length"},
		{name: "negative length", kind: "parse", script: waits(ok + "Content-Length: -1\r\n\r\n"), sample: "Content-Length"},
		{name: "signed length", kind: "parse", script: waits(ok + "Content-Length: +4\r\n\r\ntest"), sample: "Content-Length"},
		{name: "endless length", kind: "parse", script: waits(ok + "Content-Length: 99999999999999999999\r\n\r\n"), sample: "Content-Length"},
		{name: "garbage", kind: "parse", script: waits("GARBAGE"), sample: "status line"},
		{name: "0.9", kind: "parse", script: waits("<html>hello"), sample: "status line"},
		{name: "HTTP/2 preface", kind: "parse", script: waits("\x00\x00\x12\x04\x00\x00\x00\x00\x00"), sample: "status line"},
		{name: "no status", kind: "parse", script: waits("HTTP/1.1 OK\r\n\r\n"), sample: "status"},
		{name: "status of zero", kind: "parse", script: waits("HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n"), sample: "000"},
		{name: "header without colon", kind: "parse", script: waits(ok + "nonsense\r\n\r\n"), sample: "colon"},
		{name: "control character", kind: "parse", script: waits(ok + "X: a\x00b\r\n\r\n"), sample: "header"},
		{name: "unknown coding", kind: "parse", script: waits(ok + "Transfer-Encoding: gzip\r\n\r\n"), sample: "Transfer-Encoding"},
		{name: "bad chunk size", kind: "parse", script: waits(ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), sample: "chunk"},
		{name: "huge chunk size", kind: "parse", script: waits(ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), sample: "chunk"},
		{name: "chunk without end", kind: "parse", script: waits(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n"), sample: "chunk"},
		{name: "beyond the length", kind: "parse", script: waits(ok + "Content-Length: 4\r\n\r\ntest and more"), sample: `9 bytes beyond the response: " and more"`},
		{name: "beyond the last chunk", kind: "parse", script: waits(ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nX"), sample: "1 byte beyond"},
		{name: "beyond 204", kind: "parse", script: waits("HTTP/1.1 204 No\r\n\r\nbody"), sample: "beyond"},
		{name: "body of HEAD", kind: "parse", script: waits(ok + "Content-Length: 4\r\n\r\ntest"), change: func(h *HTTP) { h.Method = "HEAD" }, sample: "beyond"},
		{name: "two responses", kind: "parse", script: waits(string(bytes.Repeat(testserver.Message(200, "a"), 2))), sample: "beyond"},
		{name: "head too large", kind: "parse", script: waits(ok + "X: " + strings.Repeat("x", 1<<20)), sample: "head too large"},
		{name: "garbage after an interim head", kind: "parse", script: waits("HTTP/1.1 100 Continue\r\n\r\n?"), sample: "status line"},

		{name: "nothing", kind: "eof", script: once("")},
		{name: "head cut short", kind: "eof", script: once("HTTP/1.1 200 OK\r\nConte")},
		{name: "body cut short", kind: "eof", script: once(ok + "Content-Length: 10\r\n\r\n12345")},
		{name: "chunk cut short", kind: "eof", script: once(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nab")},
		{name: "chunks without an end", kind: "eof", script: once(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")},
		{name: "only interim", kind: "eof", script: once("HTTP/1.1 100 Continue\r\n\r\n")},
		{name: "half-closed in the body", kind: "eof", script: func(c *testserver.Conn) {
			if c.Next() {
				c.WriteString(ok + "Content-Length: 10\r\n\r\n12345")
				c.CloseWrite()
				c.Drain()
			}
		}},
		{name: "reset at once", kind: "reset", script: reset("")},
		{name: "reset in the head", kind: "reset", script: reset("HTTP/1.1 200 OK\r\nConte")},
		{name: "reset in the body", kind: "reset", script: reset(ok + "Content-Length: 10\r\n\r\n12345")},
		{name: "reset in a close-delimited body", kind: "reset", script: reset(ok + "\r\n12345")},

		{name: "MaxBody, length", kind: "body-too-large", script: waits(ok + "Content-Length: 5\r\n\r\n"), change: func(h *HTTP) { h.MaxBody = 4 }},
		{name: "MaxBody, chunked", kind: "body-too-large", script: waits(ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n"), change: func(h *HTTP) { h.MaxBody = 4 }},
		{name: "MaxBody, close-delimited", kind: "body-too-large", script: waits(ok + "\r\n12345"), change: func(h *HTTP) { h.MaxBody = 4 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.Start(t, badServer(tt.script))
			h := &HTTP{URL: srv.URL}
			if tt.change != nil {
				tt.change(h)
			}
			r := mustRun(t, h, Options{Concurrency: 1, Requests: 5, Timeout: 20 * time.Second})
			account(t, r, srv)
			e := r.Errors[tt.kind]
			if r.Requests != 5 || r.Failed != 1 || e.Count != 1 || !strings.Contains(e.Sample, tt.sample) {
				t.Errorf("%d requests, errors %+v; want 5, one of kind %q with %q", r.Requests, r.Errors, tt.kind, tt.sample)
			}
			if r.Connections != 2 || r.Resent != 0 {
				t.Errorf("%d connections, %d sent again; want 2, 0", r.Connections, r.Resent)
			}
		})
	}
}

func TestHTTPStatus(t *testing.T) {
	for _, tt := range []struct {
		name     string
		statuses []int
		accept   int
		failed   int64
		sample   string
	}{
		{"any 2xx", []int{200, 201, 204, 299}, 0, 0, ""},
		{"redirects are not followed", []int{302, 200}, 0, 6, "unexpected status 302"},
		{"redirect accepted", []int{302}, 302, 0, ""},
		{"200 is wrong then", []int{302, 200, 200}, 302, 8, "unexpected status 200"},
		{"exact counts", []int{502, 503, 429, 200}, 0, 9, "unexpected status 502"},
		{"all wrong", []int{500}, 0, 12, "unexpected status 500"},
		{"304 is no 2xx", []int{304}, 0, 12, "unexpected status 304"},
		{"odd", []int{999, 600}, 999, 6, "unexpected status 600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.Start(t, testserver.Statuses(tt.statuses...))
			r := mustRun(t, &HTTP{URL: srv.URL, Status: tt.accept}, Options{Concurrency: 1, Requests: 12})
			account(t, r, srv)
			if r.Failed != tt.failed || r.Errors["status"].Count != tt.failed || r.Errors["status"].Sample != tt.sample {
				t.Errorf("%d failed, %v; want %d", r.Failed, r.Errors, tt.failed)
			}
			for _, s := range tt.statuses {
				if want := int64(12 / len(tt.statuses)); len(r.Statuses) == len(tt.statuses) && r.Statuses[s] != want {
					t.Errorf("Statuses = %v, want %d of %d", r.Statuses, want, s)
				}
			}
			if r.Connections != 1 {
				t.Errorf("%d connections: a wrong status is no reason to close one", r.Connections)
			}
		})
	}
}

func TestHTTPCheck(t *testing.T) {
	srv := testserver.Start(t, testserver.Each(func(c *testserver.Conn) {
		status := 200
		if c.Request.Serial%4 == 3 {
			status = 500
		}
		c.Text(status, fmt.Sprintf("body %d", c.Request.Serial), "X-Serial: "+fmt.Sprint(c.Request.Serial))
	}))
	refuse := errors.New("it is even")
	h := &HTTP{URL: srv.URL, Check: func(r *Response) error {
		if r.Status != 200 || string(r.Body) != "body "+r.Header("x-serial") || r.Header("X-None") != "" {
			return fmt.Errorf("check saw %d %q", r.Status, r.Body)
		}
		if r.Header("X-SERIAL")[len(r.Header("X-SERIAL"))-1]%2 == 0 {
			return refuse
		}
		return nil
	}}
	r := mustRun(t, h, Options{Concurrency: 1, Requests: 40})
	account(t, r, srv)
	if r.Errors["check"].Count != 20 || r.Errors["check"].Sample != refuse.Error() || r.Errors["status"].Count != 10 || r.Connections != 1 {
		t.Errorf("%v, %d connections; want 20 failed checks, 10 statuses, 1", r.Errors, r.Connections)
	}
	if (&Response{}).Header("X") != "" {
		t.Error("a Response without a head has a header")
	}
}

func TestHTTPSampleIsTheFirstAccepted(t *testing.T) {
	// Whichever client draws the only ticket; and not that of a failure.
	for range 5 {
		srv := testserver.Start(t, testserver.Each(func(c *testserver.Conn) { c.Text(200, "test", "Server: probe/1") }))
		r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 8, Requests: 1})
		if want := (Sample{Status: 200, Server: "probe/1", BodyBytes: 4}); r.Sample != want {
			t.Fatalf("Sample = %+v, want %+v", r.Sample, want)
		}
	}
	srv := testserver.Start(t, testserver.Each(func(c *testserver.Conn) {
		if c.Request.Serial < 7 {
			c.Text(503, "not yet", "Server: booting")
		} else {
			c.Text(200, "ready", "Server: probe/2")
		}
	}))
	r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 3, Requests: 30})
	if want := (Sample{Status: 200, Server: "probe/2", BodyBytes: 5}); r.Sample != want || r.Failed != 7 {
		t.Errorf("Sample = %+v, %d failed; want %+v, 7", r.Sample, r.Failed, want)
	}
}

func TestHTTPWarmupCounts(t *testing.T) {
	srv := testserver.Start(t, testserver.Delay(2*time.Millisecond, "test"))
	r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 3, Requests: 50, Warmup: 100 * time.Millisecond})
	account(t, r, srv)
	if r.Requests != 50 || r.WarmupRequests == 0 || r.Connections > 3 || r.Connect.Count() != r.Connections || r.BodyBytes != 200 {
		t.Errorf("%d requests, %d in the warm-up, %d connections, %d body bytes; want 50, some, at most 3, 200", r.Requests, r.WarmupRequests, r.Connections, r.BodyBytes)
	}
}

// A head that is as long as may be, and one byte longer.
func TestHTTPHeadLimit(t *testing.T) {
	message := func(size int) []byte {
		m := testserver.Message(200, "", "X: ")
		return testserver.Message(200, "", "X: "+strings.Repeat("x", size-len(m)))
	}
	for size, want := range map[int]int64{h1.DefaultMaxHead - 1: 0, h1.DefaultMaxHead + 1: 2} {
		srv := testserver.Start(t, testserver.Bytes(message(size)))
		r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 1, Requests: 2})
		if r.Errors["parse"].Count != want || r.Failed != want {
			t.Errorf("head of %d bytes: %v, want %d failures", size, r.Errors, want)
		}
	}
}
