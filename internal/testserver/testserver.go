// Package testserver is a scripted HTTP/1.x server on loopback: the truth that load generators are compared with in tests. What it does on a
// connection is ordinary Go code, a [Script], which reads whole requests and writes bytes, so that every framing, delay, split, reset and stall can
// be made on purpose, and what it saw is counted to the unit: connections, requests, bytes on the wire, arrival times. It reads requests with a
// strict reader of its own and shares no code with the engines it judges. It imports only the standard library.
//
//	srv := testserver.Start(t, func(c *testserver.Conn) {
//		for c.Next() {
//			c.Text(200, "test")
//		}
//	})
//	// load srv.URL, then compare with srv.Requests(), srv.Accepted() ...
//
// [Start] and [StartWith] are for tests; [New] is the same without a test, for servers in processes of their own. [StartTrivial] is another
// server, for throughput: it does nothing but answer.
package testserver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A Script is what the server does with one connection. It is called on a goroutine of its own for each accepted connection (after the handshake,
// if there is one); when it returns, the connection is closed. It must return soon after [Conn.Next], a read, a write or a wait has said that the
// connection or the server has ended: [Server.Close] gives it a second.
type Script func(c *Conn)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Options say where and how a server listens, and what it keeps. The zero value is a plain server on a free port of 127.0.0.1.
type Options struct {
	// Network is "tcp4", "tcp6" or "unix". "": "tcp4".
	Network string

	// Addr is the address to listen on, as net.Listen takes it. "": a free port of 127.0.0.1 or [::1], or a socket in a new directory under the
	// system's temporary one, which Close removes.
	Addr string

	// TLS makes the server speak TLS with a certificate of its own making, which [Server.Roots] holds.
	TLS bool

	// Names are the names and addresses the certificate is for. nil: 127.0.0.1, ::1 and localhost.
	Names []string

	// TLSConfig is cloned as the base of the server's configuration, for versions, protocols or another certificate. nil: protocol "http/1.1".
	TLSConfig *tls.Config

	// Backlog is the length of the listen queue given to listen(2). Linux lets one connection more than this wait; beyond that, connecting
	// hangs. 0: the system's default. Where it can't be set, New fails with an error that is errors.ErrUnsupported.
	Backlog int

	// HoldAccept starts the server listening but not accepting, until [Server.ReleaseAccept].
	HoldAccept bool

	// ReadBuffer is SO_RCVBUF of accepted connections, in bytes, for clients that must meet a full socket. 0: the system's default.
	ReadBuffer int

	// SegmentGap is the least pause between the pieces of a split write. 0: 200 us.
	SegmentGap time.Duration

	// KeepArrivals makes the server keep when each request arrived, for [Server.Arrivals]: 8 bytes a request.
	KeepArrivals bool

	// KeepRequests makes the server keep every whole request, for [Server.Recorded].
	KeepRequests bool

	// AllowMalformed says that bytes which are no HTTP request are expected. Without it, Start and StartWith fail the test for them.
	AllowMalformed bool
}

func (o Options) withDefaults() Options {
	if o.Network == "" {
		o.Network = "tcp4"
	}
	if o.Addr == "" {
		switch o.Network {
		case "tcp4":
			o.Addr = "127.0.0.1:0"
		case "tcp6":
			o.Addr = "[::1]:0"
		}
	}
	if o.Names == nil {
		o.Names = []string{"127.0.0.1", "::1", "localhost"}
	}
	if o.SegmentGap == 0 {
		o.SegmentGap = 200 * time.Microsecond
	}
	return o
}

// A Server is a started server. All methods may be called from any goroutine.
type Server struct {
	// URL is where the server is reached: "http://127.0.0.1:port", "https://...". With a unix socket its host is a name that does not resolve,
	// since a client must never look it up.
	URL string

	// Addr is the address to dial: "127.0.0.1:port", "[::1]:port" or "unix:/path".
	Addr string

	// Roots holds the server's certificate. nil without TLS.
	Roots *x509.CertPool

	opts   Options
	script Script
	base   time.Time
	tls    *tls.Config
	dir    string // removed by Close

	running   sync.WaitGroup // the accepting goroutine and every connection's
	closeOnce sync.Once
	closeErr  error

	accepting gate // held: no connection is accepted
	flowing   gate // held: Next doesn't return

	count counts

	mu       sync.Mutex // guards what follows
	closed   bool
	acceptor *acceptor // nil while stopped
	conns    map[*Conn]struct{}
	filler   []net.Conn // see Fill
}

// New starts a server. Its Close must be called.
func New(opts Options, script Script) (*Server, error) {
	opts = opts.withDefaults()
	s := &Server{
		opts:   opts,
		script: script,
		base:   time.Now(),
		conns:  make(map[*Conn]struct{}),
	}
	if opts.TLS {
		var err error
		if s.tls, s.Roots, err = serverConfig(opts.TLSConfig, opts.Names); err != nil {
			return nil, fmt.Errorf("make certificate: %w", err)
		}
	}
	if opts.Network == "unix" && opts.Addr == "" {
		// A short path: a socket's may have about 100 bytes.
		dir, err := os.MkdirTemp("", "srv")
		if err != nil {
			return nil, err
		}
		s.dir = dir
		s.opts.Addr = filepath.Join(dir, "s")
	}
	if opts.HoldAccept {
		s.accepting.hold()
	}
	if err := s.Restart(); err != nil {
		os.RemoveAll(s.dir)
		return nil, err
	}
	return s, nil
}

// Close stops listening, ends every connection and waits for all goroutines of the server, scripts included: at most a second, then it returns an
// error that says how many scripts did not return. Only the first call does anything.
func (s *Server) Close() error {
	s.closeOnce.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Server) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Stop()
	s.mu.Lock()
	for c := range s.conns {
		c.Drop()
	}
	for _, nc := range s.filler {
		nc.Close()
	}
	s.mu.Unlock()
	defer func() {
		if s.dir != "" {
			os.RemoveAll(s.dir)
		}
	}()

	joined := make(chan struct{})
	go func() {
		s.running.Wait()
		close(joined)
	}()
	late := time.NewTimer(time.Second)
	defer late.Stop()
	select {
	case <-joined:
		return nil
	case <-late.C:
		return fmt.Errorf("close test server: %d scripts still run after a second", s.Open())
	}
}

// Start starts a server with the zero [Options] that is closed when the test ends.
func Start(t TB, script Script) *Server {
	t.Helper()
	return StartWith(t, Options{}, script)
}

// StartWith starts a server that is closed when the test ends. It skips the test, with the reason, if the options ask for something that this
// machine lacks: an IPv6 loopback address, unix sockets, a chosen backlog. When the test ends it is failed for a script that did not return, and
// for malformed requests that [Options.AllowMalformed] doesn't allow.
func StartWith(t TB, opts Options, script Script) *Server {
	t.Helper()
	s, err := New(opts, script)
	switch {
	case err == nil:
	case opts.Network == "tcp6" && opts.Addr == "", opts.Network == "unix" && opts.Addr == "", errors.Is(err, errors.ErrUnsupported):
		t.Skipf("not possible on this machine: %v", err)
		return nil
	default:
		t.Fatalf("start test server: %v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("%v", err)
		}
		if opts.AllowMalformed {
			return
		}
		for _, err := range s.Malformed() {
			t.Errorf("test server got a malformed request: %v", err)
		}
	})
	return s
}

// counts are written by connections' goroutines and read by anyone.
type counts struct {
	accepted, open, requests, partial, handshakes atomic.Int64
	received, sent                                atomic.Int64
	serial                                        atomic.Int64

	mu        sync.Mutex // guards what follows; never held together with Server.mu
	perConn   []*atomic.Int64
	arrivals  []time.Duration
	recorded  []Request
	malformed []error
}
