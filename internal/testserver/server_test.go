package testserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// client is net/http's, connecting to the server whatever the URL's host is.
func client(t *testing.T, s *Server) *http.Client {
	network, addr := "tcp", s.Addr
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	tr := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
		TLSClientConfig: &tls.Config{RootCAs: s.Roots},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

// fetch gets the server's URL, and returns the status and the body.
func fetch(t *testing.T, c *http.Client, s *Server) (int, string) {
	t.Helper()
	resp, err := c.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func dialTLS(t *testing.T, s *Server) net.Conn {
	t.Helper()
	nc := dial(t, s)
	if s.Roots == nil {
		return nc
	}
	return tls.Client(nc, &tls.Config{RootCAs: s.Roots, ServerName: "localhost"})
}

func TestNetworks(t *testing.T) {
	for name, opts := range map[string]Options{
		"tcp4":     {},
		"tcp6":     {Network: "tcp6"},
		"unix":     {Network: "unix"},
		"tls":      {TLS: true},
		"tls/unix": {TLS: true, Network: "unix", Names: []string{"socket.invalid"}},
		"tls/1.2":  {TLS: true, TLSConfig: &tls.Config{MaxVersion: tls.VersionTLS12}},
		"loopback": {Addr: "127.0.0.2:0"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "loopback" && runtime.GOOS != "linux" {
				t.Skip("all of 127.0.0.0/8 is here only on Linux")
			}
			s := StartWith(t, opts, Text("test"))
			c := client(t, s)
			for range 3 {
				if status, body := fetch(t, c, s); status != 200 || body != "test" {
					t.Errorf("got %d %q, want 200 test", status, body)
				}
			}
			if s.Requests() != 3 || s.Accepted() != 1 || s.Open() != 1 {
				t.Errorf("%d requests, %d connections, %d open, want 3, 1, 1", s.Requests(), s.Accepted(), s.Open())
			}
		})
	}
}

func TestUntrustedCertificate(t *testing.T) {
	s := StartWith(t, Options{TLS: true, Names: []string{"other.invalid"}}, Text("test"))
	nc := tls.Client(dial(t, s), &tls.Config{RootCAs: s.Roots, ServerName: "localhost"})
	if err := nc.Handshake(); err == nil {
		t.Error("handshake under a name that the certificate lacks: no error")
	}
	nc.Close()
	await(t, s, "failed handshake", func() bool { return s.FailedHandshakes() == 1 && s.Open() == 0 })
	if s.BytesReceived() == 0 || s.BytesSent() == 0 {
		t.Errorf("%d bytes received, %d sent, want some", s.BytesReceived(), s.BytesSent())
	}
}

func TestTLSEndings(t *testing.T) {
	sent := func(end func(c *Conn)) int64 {
		t.Helper()
		before := make(chan int64, 1)
		s := StartWith(t, Options{TLS: true}, func(c *Conn) {
			if c.Next() {
				c.WriteString("half")
				before <- c.Server.BytesSent()
				end(c)
			}
		})
		nc := dialTLS(t, s)
		send(t, nc, get)
		expectEnd(t, nc, "half") // crypto/tls takes a bare FIN between records for the end
		nc.Close()
		await(t, s, "script to end", func() bool { return s.Open() == 0 })
		return s.BytesSent() - <-before
	}
	if n := sent(func(c *Conn) { c.Close() }); n == 0 {
		t.Error("Close says no goodbye")
	}
	if n := sent(func(c *Conn) { c.CloseWrite(); c.Drain() }); n == 0 {
		t.Error("CloseWrite says no goodbye")
	}
	if n := sent(func(c *Conn) { c.Drop() }); n != 0 {
		t.Errorf("Drop sends %d bytes", n)
	}
}

func TestFreeze(t *testing.T) {
	s := Start(t, Bytes([]byte("x")))
	nc := dial(t, s)
	s.Freeze()
	send(t, nc, get)
	await(t, s, "request", func() bool { return s.Requests() == 1 })
	if s.BytesSent() != 0 {
		t.Error("a frozen server has answered")
	}
	s.Thaw()
	expect(t, nc, "x")
}

func TestRestart(t *testing.T) {
	s := Start(t, Bytes([]byte("x")))
	before := dial(t, s)
	send(t, before, get)
	expect(t, before, "x")

	s.Stop()
	if _, err := net.Dial("tcp", s.Addr); err == nil {
		t.Fatal("dial a stopped server: no error")
	}
	send(t, before, get)
	expect(t, before, "x") // goes on
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(); err == nil {
		t.Error("Restart of a server that listens: no error")
	}
	after := dial(t, s)
	send(t, after, get)
	expect(t, after, "x")

	s.Kill()
	for _, nc := range []net.Conn{before, after} {
		if _, err := nc.Read(make([]byte, 1)); !isReset(err) {
			t.Errorf("read from a killed server: %v, want a reset", err)
		}
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	idle := dial(t, s)
	await(t, s, "connection", func() bool { return s.Accepted() == 3 })
	s.CloseConns()
	expectEnd(t, idle, "")
	if s.Requests() != 3 {
		t.Errorf("Requests() = %d, want 3", s.Requests())
	}
}

func TestFullListenQueue(t *testing.T) {
	s := StartWith(t, Options{Backlog: 1, HoldAccept: true}, Bytes([]byte("x")))
	nc := dial(t, s)
	if err := s.Fill(); err != nil {
		t.Fatal(err)
	}
	_, err := net.DialTimeout("tcp", s.Addr, 100*time.Millisecond)
	var ne net.Error
	if !errors.As(err, &ne) || !ne.Timeout() {
		t.Errorf("dial with the queue full: %v, want a timeout", err)
	}
	if s.Accepted() != 0 {
		t.Errorf("Accepted() = %d, want 0", s.Accepted())
	}
	s.ReleaseAccept()
	send(t, nc, get)
	expect(t, nc, "x")
	s.HoldAccept()
	accepted := s.Accepted()
	dial(t, s)
	if s.Accepted() != accepted {
		t.Errorf("accepted while held")
	}
}

func TestClosedAddr(t *testing.T) {
	addr := ClosedAddr(t)
	for range 100 {
		nc, err := net.Dial("tcp", addr)
		if err == nil {
			nc.Close()
			t.Fatalf("dial %s: no error", addr)
		}
	}
}

func TestCloseEndsEveryScript(t *testing.T) {
	hour := make(chan struct{})
	s, err := New(Options{}, ByConn(
		Text("idle"),
		Silent(),
		Deaf(),
		Delay(time.Hour, "late"),
		Each(func(c *Conn) { c.Stall() }),
		Each(func(c *Conn) { c.Wait(hour) }),
		Each(func(c *Conn) { c.Write(make([]byte, 100<<20)) }),
		Slots{N: 1, Service: time.Hour}.Script(),
		Workers(1, func() time.Duration { return time.Hour }),
	))
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(9) {
		send(t, dial(t, s), get)
		await(t, s, "connection", func() bool { return s.Accepted() == i+1 })
	}
	await(t, s, "requests", func() bool { return s.Requests() == 8 })
	start := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 800*time.Millisecond {
		t.Errorf("Close took %v", took)
	}
	if s.Open() != 0 {
		t.Errorf("Open() = %d after Close", s.Open())
	}
}

func TestWhatTestsAreTold(t *testing.T) {
	f := new(fakeTB)
	s := Start(f, Text("test"))
	nc := dial(t, s)
	send(t, nc, "hello\r\n")
	expectEnd(t, nc, "")
	f.end()
	if len(f.messages) != 1 || !strings.HasPrefix(f.messages[0], "error: test server got a malformed request") {
		t.Errorf("test is told %q, want the malformed request", f.messages)
	}

	f = new(fakeTB)
	release := make(chan struct{})
	s = StartWith(f, Options{AllowMalformed: true}, func(c *Conn) { <-release })
	dial(t, s)
	await(t, s, "connection", func() bool { return s.Open() == 1 })
	start := time.Now()
	f.end()
	close(release)
	if len(f.messages) != 1 || !strings.Contains(f.messages[0], "1 scripts still run") || time.Since(start) > 2*time.Second {
		t.Errorf("test is told %q after %v, want a script that still runs", f.messages, time.Since(start))
	}

	f = new(fakeTB)
	StartWith(f, Options{Addr: "192.0.2.1:0"}, Text("test"))
	if len(f.messages) != 1 || !strings.HasPrefix(f.messages[0], "fatal: start test server") {
		t.Errorf("test is told %q, want that the address can't be listened on", f.messages)
	}
}
