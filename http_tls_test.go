package loadtest

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/testserver"
)

// trust returns a configuration that trusts the server's certificate; nil for a plain server.
func trust(srv *testserver.Server) *tls.Config {
	if srv.Roots == nil {
		return nil
	}
	return &tls.Config{RootCAs: srv.Roots}
}

func TestHTTPTLS(t *testing.T) {
	own, _, err := testserver.NewCertificate("client")
	if err != nil {
		t.Fatal(err)
	}
	asks := func(version uint16) testserver.Options {
		return testserver.Options{TLS: true, TLSConfig: &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: version}}
	}
	for _, tt := range []struct {
		name   string
		opts   testserver.Options
		config func(trusting *tls.Config) *tls.Config
		kinds  string // of the failures, of which one may occur; "": none fails
		sample string // part of Sample.TLS, or of the error
	}{
		{name: "trusted", opts: testserver.Options{TLS: true}, sample: "TLS 1.3,TLS_"},
		{name: "protocol", opts: testserver.Options{TLS: true}, sample: ",http/1.1"},
		{name: "1.2", opts: testserver.Options{TLS: true, TLSConfig: &tls.Config{MaxVersion: tls.VersionTLS12}}, sample: "TLS 1.2,TLS_ECDHE"},
		{name: "system's roots", opts: testserver.Options{TLS: true}, config: func(*tls.Config) *tls.Config { return nil }, kinds: "tls", sample: "certificate"},
		{name: "InsecureSkipVerify", opts: testserver.Options{TLS: true}, config: func(*tls.Config) *tls.Config { return &tls.Config{InsecureSkipVerify: true} }, sample: "TLS 1.3"},
		{name: "another name", opts: testserver.Options{TLS: true, Names: []string{"other.example"}}, kinds: "tls", sample: "127.0.0.1"},
		{name: "ServerName", opts: testserver.Options{TLS: true, Names: []string{"other.example"}}, config: func(c *tls.Config) *tls.Config { c.ServerName = "other.example"; return c }, sample: "TLS 1.3"},
		{name: "expired", opts: testserver.Options{TLS: true}, config: func(c *tls.Config) *tls.Config {
			c.Time = func() time.Time { return time.Now().Add(48 * time.Hour) }
			return c
		}, kinds: "tls", sample: "expired"},
		{name: "no version in common", opts: testserver.Options{TLS: true, TLSConfig: &tls.Config{MaxVersion: tls.VersionTLS12}}, config: func(c *tls.Config) *tls.Config { c.MinVersion = tls.VersionTLS13; return c }, kinds: "tls", sample: "TLS handshake"},
		{name: "no protocol in common", opts: testserver.Options{TLS: true, TLSConfig: &tls.Config{NextProtos: []string{"ftp"}}}, kinds: "tls", sample: "no application protocol"},
		{name: "client certificate", opts: asks(0), config: func(c *tls.Config) *tls.Config { c.Certificates = []tls.Certificate{own}; return c }, sample: "TLS 1.3"},
		{name: "client certificate, 1.2", opts: asks(tls.VersionTLS12), config: func(c *tls.Config) *tls.Config { c.Certificates = []tls.Certificate{own}; return c }, sample: "TLS 1.2"},
		// With TLS 1.3 the client learns of it only after the handshake; if its request is on the way then, perhaps by a reset.
		{name: "no client certificate", opts: asks(0), kinds: "tls reset", sample: ""},
		{name: "no client certificate, 1.2", opts: asks(tls.VersionTLS12), kinds: "tls", sample: "tls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.StartWith(t, tt.opts, testserver.Text("test"))
			config := trust(srv)
			if tt.config != nil {
				config = tt.config(config)
			}
			r := mustRun(t, &HTTP{URL: srv.URL, TLS: config}, Options{Concurrency: 2, Requests: 6})
			if tt.kinds == "" {
				account(t, r, srv)
				if r.Failed != 0 || r.Connections > 2 || !strings.Contains(r.Sample.TLS, tt.sample) {
					t.Errorf("%v, %d connections, TLS %q; want no failure, at most 2, %q", r.Errors, r.Connections, r.Sample.TLS, tt.sample)
				}
				return
			}
			var n int64
			for kind := range strings.FieldsSeq(tt.kinds) {
				n += r.Errors[kind].Count
				if s := r.Errors[kind].Sample; s != "" && !strings.Contains(s, tt.sample) {
					t.Errorf("Errors[%q] = %q, want %q", kind, s, tt.sample)
				}
			}
			if r.Failed != 6 || n != 6 || srv.Requests() != 0 || r.Connections != srv.Accepted() || r.Connections != 6 {
				t.Errorf("%v, %d requests at the server, %d connections of %d; want 6 of kind %s, 0, 6", r.Errors, srv.Requests(), r.Connections, srv.Accepted(), tt.kinds)
			}
		})
	}
}

func TestHTTPAlertAfterHandshakeIsTLS(t *testing.T) {
	err := tlsAlert(t)
	if got := classify(err); got != failTLS {
		t.Errorf("classify(%v) = %v, want tls", err, got)
	}
}

// tlsAlert returns what a client reads when the server refuses it after the handshake.
func tlsAlert(t *testing.T) error {
	t.Helper()
	cert, roots, err := testserver.NewCertificate("localhost")
	if err != nil {
		t.Fatal(err)
	}
	here, there := net.Pipe()
	defer func() { _, _ = here.Close(), there.Close() }()
	var server sync.WaitGroup
	server.Go(func() {
		_ = tls.Server(there, &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert}).Handshake()
	})
	defer server.Wait()
	client := tls.Client(here, &tls.Config{RootCAs: roots, ServerName: "localhost"})
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	_, err = client.Read(make([]byte, 1))
	return err
}

func TestHTTPSchemes(t *testing.T) {
	t.Run("https to a plain server", func(t *testing.T) {
		srv := testserver.StartWith(t, testserver.Options{AllowMalformed: true}, func(c *testserver.Conn) {
			if !c.Next() {
				c.WriteString("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			}
		})
		r := mustRun(t, &HTTP{URL: strings.Replace(srv.URL, "http:", "https:", 1)}, Options{Concurrency: 1, Requests: 3, Timeout: 2 * time.Second})
		if r.Errors["tls"].Count+r.Errors["timeout"].Count != 3 {
			t.Errorf("%v, want 3 of kind tls", r.Errors)
		}
	})
	t.Run("http to a TLS server", func(t *testing.T) {
		srv := testserver.StartWith(t, testserver.Options{TLS: true}, testserver.Text("test"))
		r := mustRun(t, &HTTP{URL: strings.Replace(srv.URL, "https:", "http:", 1)}, Options{Concurrency: 1, Requests: 3})
		if n := r.Errors["parse"].Count + r.Errors["eof"].Count + r.Errors["reset"].Count; n != 3 || r.Connections != 3 {
			t.Errorf("%v, want 3 of kind parse, or eof or reset if the server says nothing", r.Errors)
		}
	})
	t.Run("http to a server that answers with TLS", func(t *testing.T) {
		srv := testserver.Start(t, waits("\x15\x03\x01\x00\x02\x02\x16"))
		r := mustRun(t, &HTTP{URL: srv.URL}, Options{Concurrency: 1, Requests: 3})
		if r.Errors["parse"].Count != 3 {
			t.Errorf("%v, want 3 of kind parse", r.Errors)
		}
	})
}

func TestHTTPTLSBodyCutShort(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		end           func(c *testserver.Conn)
		want          int64
	}{
		{"close-delimited", "HTTP/1.1 200 OK\r\n\r\nto the end", func(c *testserver.Conn) { c.CloseWrite(); c.Drain() }, 0},
		{"cut short", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nto the end", func(c *testserver.Conn) { c.CloseWrite(); c.Drain() }, 3},
		{"cut short without TLS's goodbye", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nto the end", func(c *testserver.Conn) { c.Drop() }, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := testserver.StartWith(t, testserver.Options{TLS: true}, func(c *testserver.Conn) {
				if c.Next() {
					c.WriteString(tt.message)
					tt.end(c)
				}
			})
			r := mustRun(t, &HTTP{URL: srv.URL, TLS: trust(srv)}, Options{Concurrency: 1, Requests: 3})
			want := tt.want
			if r.Failed != want || r.Errors["eof"].Count != want {
				t.Errorf("%v, want %d of kind eof", r.Errors, want)
			}
		})
	}
}

func TestHTTPTLSFormsSplit(t *testing.T) {
	message := testserver.ChunkedMessage(200, "abcdefgh", 3, "X: y")
	srv := testserver.StartWith(t, testserver.Options{TLS: true}, testserver.SplitEverywhere(message))
	n := int64(len(message) - 1)
	r := mustRun(t, &HTTP{URL: srv.URL, TLS: trust(srv)}, Options{Concurrency: 1, Requests: n})
	account(t, r, srv)
	if r.Failed != 0 || r.BodyBytes != 8*n || r.BytesRead != n*int64(len(message)) || r.Connections != 1 {
		t.Errorf("%v, %d body bytes, %d read, %d connections", r.Errors, r.BodyBytes, r.BytesRead, r.Connections)
	}
}

func TestHTTPServerNameIndication(t *testing.T) {
	names := make(chan string, 100)
	opts := testserver.Options{TLS: true, Names: []string{"shop.example", "127.0.0.1"}}
	opts.TLSConfig = &tls.Config{NextProtos: []string{"http/1.1"}, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		names <- hello.ServerName
		return nil, nil
	}}
	srv := testserver.StartWith(t, opts, testserver.Text("test"))
	for _, tt := range []struct{ url, addr, header, override, want string }{
		{"https://shop.example/", srv.Addr, "", "", "shop.example"},
		{"https://shop.example:1234/", srv.Addr, "", "", "shop.example"},
		{"https://shop.example/", srv.Addr, "else.example", "", "shop.example"},
		{"https://x.example/", srv.Addr, "", "shop.example", "shop.example"},
		{srv.URL, "", "", "", ""}, // an address is no name
	} {
		h := &HTTP{URL: tt.url, Addr: tt.addr, TLS: &tls.Config{RootCAs: srv.Roots, ServerName: tt.override}}
		if tt.header != "" {
			h.Header = http.Header{"Host": {tt.header}}
		}
		r := mustRun(t, h, Options{Concurrency: 1, Requests: 1})
		if got := <-names; got != tt.want || r.Failed != 0 {
			t.Errorf("%s at %s: server name %q, %v; want %q", tt.url, tt.addr, got, r.Errors, tt.want)
		}
	}
}
