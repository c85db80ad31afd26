package testserver

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAnswers puts scripts before net/http's client.
func TestAnswers(t *testing.T) {
	message := Message(200, "test")
	chunked := ChunkedMessage(200, "test", 3, "X-Sum: 1")
	check := func(name string, script Script, statuses []int, body string, connections int64) {
		t.Run(name, func(t *testing.T) {
			s := Start(t, script)
			c := client(t, s)
			for i, want := range statuses {
				if status, got := fetch(t, c, s); status != want || got != body {
					t.Errorf("response %d: %d %q, want %d %q", i, status, got, want, body)
				}
			}
			if s.Requests() != int64(len(statuses)) || s.Accepted() != connections {
				t.Errorf("%d requests, %d connections, want %d, %d", s.Requests(), s.Accepted(), len(statuses), connections)
			}
		})
	}
	ok3 := []int{200, 200, 200}
	check("Text", Text("test"), ok3, "test", 1)
	check("Bytes", Bytes(message), ok3, "test", 1)
	check("Bytes/chunked", Bytes(chunked), ok3, "test", 1)
	check("Split", Split(message, 3, 20), ok3, "test", 1)
	check("SplitEverywhere", SplitEverywhere(chunked), slices.Repeat(ok3, len(chunked)/3), "test", 1)
	check("ByteByByte", ByteByByte(message), []int{200}, "test", 1)
	check("Once", Once(Message(200, "test", "Connection: close")), ok3, "test", 3)
	check("AnnounceClose", AnnounceClose(2, "test"), ok3, "test", 2)
	check("CloseDelimited", CloseDelimited("test"), ok3, "test", 3)
	check("Statuses", Statuses(200, 503, 302), []int{200, 503, 302, 200}, "test", 1)
	check("Delay", Delay(time.Millisecond, "test"), ok3, "test", 1)
	check("ByConn", ByConn(AnnounceClose(1, "test"), Bytes(message)), ok3, "test", 2)
	check("Interim", Each(func(c *Conn) {
		c.Interim(103, "Link: </a>")
		c.Interim(100)
		c.Text(200, "test")
	}), ok3, "test", 1)
	check("Chunked", Each(func(c *Conn) {
		c.StartChunked(200, "X-A: b")
		c.Chunk("te", ";a=b")
		c.Chunk("", "")
		c.Chunk("st", "")
		c.EndChunked("X-Sum: 1")
	}), ok3, "test", 1)
}

func TestTextHonoursRequest(t *testing.T) {
	check := func(request string, status int, want string, last bool) {
		t.Helper()
		s := Start(t, Each(func(c *Conn) { c.Text(status, "test", "X-A: b") }))
		nc := dial(t, s)
		send(t, nc, request)
		if last {
			expectEnd(t, nc, want)
		} else {
			expect(t, nc, want)
			send(t, nc, request)
			expect(t, nc, want)
		}
	}
	const framed = "Content-Type: text/plain\r\nContent-Length: 4\r\n"
	check(get, 200, "HTTP/1.1 200 OK\r\n"+framed+"X-A: b\r\n\r\ntest", false)
	check(strings.Replace(get, "GET", "HEAD", 1), 200, "HTTP/1.1 200 OK\r\n"+framed+"X-A: b\r\n\r\n", false)
	check(get, 204, "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n", false)
	check(get, 304, "HTTP/1.1 304 Not Modified\r\n"+framed+"X-A: b\r\n\r\n", false)
	check("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200,
		"HTTP/1.1 200 OK\r\n"+framed+"Connection: close\r\nX-A: b\r\n\r\ntest", true)
	check("GET / HTTP/1.0\r\n\r\n", 200, "HTTP/1.0 200 OK\r\n"+framed+"Connection: close\r\nX-A: b\r\n\r\ntest", true)
	check("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200,
		"HTTP/1.0 200 OK\r\n"+framed+"Connection: keep-alive\r\nX-A: b\r\n\r\ntest", false)
}

func TestMessages(t *testing.T) {
	check := func(message []byte, status int, body, trailer string) {
		t.Helper()
		r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(message)), nil)
		if err != nil {
			t.Fatalf("net/http reads %q: %v", message, err)
		}
		got, err := io.ReadAll(r.Body)
		if r.StatusCode != status || string(got) != body || err != nil || r.Trailer.Get("X-Sum") != trailer {
			t.Errorf("net/http reads %q as %d %q %v %v", message, r.StatusCode, got, r.Trailer, err)
		}
	}
	long := strings.Repeat("0123456789", 100)
	check(Message(200, long, "A: b"), 200, long, "")
	check(Message(204, ""), 204, "", "")
	check(ChunkedMessage(500, long, 17), 500, long, "")
	check(ChunkedMessage(200, "", 1, "X-Sum: 7"), 200, "", "7")
	check(DelimitedMessage("HTTP/1.0", 404, long), 404, long, "")
	check(DelimitedMessage("HTTP/1.1", 404, long, "A: b"), 404, long, "")
}

func TestCloseAfterIsSilent(t *testing.T) {
	s := Start(t, CloseAfter(2, "test"))
	nc := dial(t, s)
	send(t, nc, get)
	expect(t, nc, okTest)
	send(t, nc, get)
	expectEnd(t, nc, okTest)
}

func TestLateClose(t *testing.T) {
	s := Start(t, LateClose("test", time.Hour))
	nc := dial(t, s)
	send(t, nc, get)
	expect(t, nc, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: close\r\n\r\ntest")
	if s.Open() != 1 {
		t.Errorf("Open() = %d, want 1", s.Open())
	}
}

func TestSilentCounts(t *testing.T) {
	s := Start(t, Silent())
	send(t, dial(t, s), get+get+get)
	await(t, s, "requests", func() bool { return s.Requests() == 3 })
	if s.BytesSent() != 0 {
		t.Errorf("BytesSent() = %d, want 0", s.BytesSent())
	}
}

func TestEcho(t *testing.T) {
	s := Start(t, Echo())
	nc := dial(t, s)
	send(t, nc, "PUT / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")
	got, err := io.ReadAll(nc)
	if err != nil || !strings.HasSuffix(string(got), "\r\n\r\nhello") {
		t.Errorf("read %q, %v, want the body of the request", got, err)
	}
}
