package testserver

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPipelined(t *testing.T) {
	s := StartWith(t, Options{KeepRequests: true, KeepArrivals: true}, Each(func(c *Conn) {
		c.WriteString(c.Request.Target + string(c.Request.Body) + ";")
	}))
	nc := dial(t, s)
	send(t, nc, "GET /0 HTTP/1.1\r\nHost: x\r\n\r\nPOST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: y\r\n\r\n")
	expect(t, nc, "/0;/1abc;/2;")
	other := dial(t, s)
	send(t, other, get)
	expect(t, other, "/;")

	if got := s.PerConn(); s.Requests() != 4 || !slices.Equal(got, []int64{3, 1}) {
		t.Errorf("Requests() = %d, PerConn() = %v, want 4, [3 1]", s.Requests(), got)
	}
	var at time.Duration
	for i, r := range s.Recorded() {
		if want := int64(i); r.Serial != want || r.Conn != want/3 || r.N != want%3 {
			t.Errorf("request %d: Serial %d, Conn %d, N %d", i, r.Serial, r.Conn, r.N)
		}
		if r.At < at || s.Arrivals()[i] != r.At {
			t.Errorf("request %d at %v, Arrivals() %v, after one at %v", i, r.At, s.Arrivals()[i], at)
		}
		at = r.At
	}
	if at > s.Elapsed() {
		t.Errorf("last request at %v, Elapsed() = %v", at, s.Elapsed())
	}
}

func TestBodyInParts(t *testing.T) {
	body := strings.Repeat("b", 100_000)
	counted := make(chan int64, 3)
	s := Start(t, func(c *Conn) {
		for c.NextHead() {
			counted <- c.Server.Requests()
			if c.Request.N == 0 {
				continue // leaves the body to the next NextHead
			}
			for {
				n, err := c.ReadSome(1000)
				if n == 0 || err != nil {
					break
				}
			}
			counted <- c.Server.Requests()
			c.Text(200, string(c.Request.Body))
		}
	})
	nc := dial(t, s)
	post := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + body
	send(t, nc, post+post)
	expect(t, nc, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n"+body)
	for i, want := range []int64{0, 1, 2} {
		if got := <-counted; got != want {
			t.Errorf("Requests() at step %d = %d, want %d", i, got, want)
		}
	}
}

func TestPartialRequests(t *testing.T) {
	s := Start(t, Text("test"))
	post := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab"
	for i, text := range []string{get[:10], post, get} {
		nc := dial(t, s)
		send(t, nc, text)
		nc.Close()
		await(t, s, "connection to end", func() bool { return s.Accepted() == int64(i+1) && s.Open() == 0 })
	}
	if s.Partial() != 2 || s.Requests() != 1 {
		t.Errorf("Partial() = %d, Requests() = %d, want 2, 1", s.Partial(), s.Requests())
	}
}

func TestBytesOnTheWire(t *testing.T) {
	s := Start(t, Bytes([]byte("0123456789")))
	nc := dial(t, s)
	for range 3 {
		send(t, nc, get)
		expect(t, nc, "0123456789")
	}
	if got, want := s.BytesReceived(), int64(3*len(get)); got != want {
		t.Errorf("BytesReceived() = %d, want %d", got, want)
	}
	if got := s.BytesSent(); got != 30 {
		t.Errorf("BytesSent() = %d, want 30", got)
	}
}

func TestSplitWrites(t *testing.T) {
	// Loopback may join pieces when this process is not scheduled: tried with ever longer pauses.
	want := []string{"01", "2345", "6", "789"}
	var got []string
	for gap := time.Millisecond; gap < 2*time.Second; gap *= 4 {
		s := StartWith(t, Options{SegmentGap: gap}, func(c *Conn) {
			if c.Next() {
				c.WriteSplit([]byte("0123456789"), 0, 2, 2, 6, 7, 10, 99)
			}
		})
		nc := dial(t, s)
		send(t, nc, get)
		if got = reads(t, nc); slices.Equal(got, want) {
			return
		}
	}
	t.Errorf("reads = %q, want %q", got, want)
}

func TestHalfClose(t *testing.T) {
	drained := make(chan int64, 1)
	s := Start(t, func(c *Conn) {
		if c.Next() {
			c.WriteString("bye")
			c.CloseWrite()
			drained <- c.Drain()
		}
	})
	nc := dial(t, s)
	send(t, nc, get)
	expectEnd(t, nc, "bye")
	send(t, nc, "more")
	nc.Close()
	if got := <-drained; got != 4 {
		t.Errorf("Drain() = %d, want 4", got)
	}
}

func TestReset(t *testing.T) {
	s := Start(t, ResetAfter([]byte("half")))
	nc := dial(t, s)
	send(t, nc, get)
	if got, err := io.ReadAll(nc); !isReset(err) {
		t.Errorf("read %q, %v, want a reset", got, err)
	}
}

func TestStallEndsWithClient(t *testing.T) {
	s := Start(t, func(c *Conn) {
		if c.Next() {
			c.Stall()
		}
	})
	nc := dial(t, s)
	send(t, nc, get)
	await(t, s, "request", func() bool { return s.Requests() == 1 })
	if s.Open() != 1 {
		t.Errorf("Open() = %d, want 1", s.Open())
	}
	nc.Close()
	await(t, s, "script to end", func() bool { return s.Open() == 0 })
}

func TestWaitKeepsInput(t *testing.T) {
	for _, opts := range []Options{{}, {TLS: true}} {
		release := make(chan struct{})
		results := make(chan bool, 5)
		s := StartWith(t, opts, func(c *Conn) {
			for c.Next() {
				results <- c.Wait(release)
				results <- c.WaitFor(time.Millisecond)
				c.WriteString(c.Request.Target)
			}
			results <- c.WaitFor(time.Hour)
		})
		nc := dialTLS(t, s)
		send(t, nc, "GET /0 HTTP/1.1\r\nHost: x\r\n\r\nGET /")
		await(t, s, "request", func() bool { return s.Requests() == 1 })
		send(t, nc, "1 HTTP/1.1\r\nHost: x\r\n\r\n")
		close(release)
		expect(t, nc, "/0/1")
		nc.Close()
		for i, want := range []bool{true, true, true, true, false} {
			if got := <-results; got != want {
				t.Errorf("wait %d = %v, want %v", i, got, want)
			}
		}
	}
}
