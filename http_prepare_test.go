package loadtest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/loadtest-go/loadtest/internal/testserver"
)

func TestHTTPHostField(t *testing.T) {
	srv := testserver.StartWith(t, testserver.Options{KeepRequests: true}, testserver.Text("test"))
	for _, tt := range []struct{ url, override, host, target string }{
		{"http://example.test", "", "example.test", "/"},
		{"http://example.test/", "", "example.test", "/"},
		{"http://example.test:80/", "", "example.test:80", "/"},
		{"http://example.test:8080/a%20b?q=1&r#part", "", "example.test:8080", "/a%20b?q=1&r"},
		{"http://Example.TEST/a b", "", "Example.TEST", "/a%20b"},
		{"http://example.test:/?", "", "example.test", "/?"},
		{"http://192.0.2.7/", "", "192.0.2.7", "/"},
		{"http://192.0.2.7:81/", "", "192.0.2.7:81", "/"},
		{"http://[2001:db8::1]/", "", "[2001:db8::1]", "/"},
		{"http://[2001:db8::1]:8840/", "", "[2001:db8::1]:8840", "/"},
		{"http://[fe80::1%25eth0]:8840/", "", "[fe80::1]:8840", "/"},
		{"http://[fe80::1%25eth0]/", "", "[fe80::1]", "/"},
		{"http://example.test/", "Other.example:99", "Other.example:99", "/"},
		{"http://[::1]:1/", "[::2]", "[::2]", "/"},
		{"http://example.test/%C3%BC/%2F?%zz", "", "example.test", "/%C3%BC/%2F?%zz"},
		{"http://example.test//x/../y", "", "example.test", "//x/../y"},
	} {
		h := &HTTP{URL: tt.url, Addr: srv.Addr}
		if tt.override != "" {
			h.Header = http.Header{"Host": {tt.override}}
		}
		r := mustRun(t, h, Options{Concurrency: 1, Requests: 1})
		all := srv.Recorded()
		last := all[len(all)-1]
		if host, _ := last.Header("Host"); host != tt.host || last.Target != tt.target || r.Failed != 0 {
			t.Errorf("%s: Host %q, target %q, want %q, %q; %v", tt.url, host, last.Target, tt.host, tt.target, r.Errors)
		}
		for _, other := range []string{"User-Agent", "Accept-Encoding", "Connection", "Content-Length"} {
			if v, ok := last.Header(other); ok {
				t.Errorf("%s: sent %s: %s", tt.url, other, v)
			}
		}
	}
}

func TestHTTPSendsWhatItWasGiven(t *testing.T) {
	srv := testserver.StartWith(t, testserver.Options{KeepRequests: true}, testserver.Echo())
	h := &HTTP{URL: srv.URL + "/p", Method: "PUT", Body: []byte("what\r\n\r\never"), DisableKeepAlive: true,
		Header: http.Header{"X-One": {"a", "b"}, "host": {"h"}, "Accept": {"*/*"}, "X-Empty": {""}}}
	r := mustRun(t, h, Options{Concurrency: 2, Requests: 6})
	account(t, r, srv)
	if r.Failed != 0 || r.BytesWritten != srv.BytesReceived() || r.BodyBytes != 6*int64(len(h.Body)) {
		t.Errorf("%v, %d bytes written, %d received, %d echoed", r.Errors, r.BytesWritten, srv.BytesReceived(), r.BodyBytes)
	}
	for _, got := range srv.Recorded() {
		want := "Host: h|Accept: */*|X-Empty: |X-One: a|X-One: b|Content-Length: 12|Connection: close"
		if lines := strings.Join(got.Lines, "|"); got.Method != "PUT" || got.Target != "/p" || lines != want || string(got.Body) != string(h.Body) {
			t.Errorf("%s %s %q, body %q; want %q", got.Method, got.Target, lines, got.Body, want)
		}
	}
	if want := "PUT " + srv.URL + "/p"; r.Target != want {
		t.Errorf("Target = %q, want %q", r.Target, want)
	}
}

func TestHTTPAddr(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6", "unix"} {
		for _, tls := range []bool{false, true} {
			t.Run(network+"/"+strconv.FormatBool(tls), func(t *testing.T) {
				srv := testserver.StartWith(t, testserver.Options{Network: network, TLS: tls, Names: []string{"nonexistent.invalid"}}, testserver.Text("test"))
				url := "http://nonexistent.invalid:1/x"
				if tls {
					url = "https://nonexistent.invalid:1/x"
				}
				noLookups(t)
				r := mustRun(t, &HTTP{URL: url, Addr: srv.Addr, TLS: trust(srv)}, Options{Concurrency: 3, Requests: 30})
				account(t, r, srv)
				if r.Failed != 0 || r.Target != "GET "+url+" at "+srv.Addr {
					t.Errorf("%v, %d connections, Target %q", r.Errors, r.Connections, r.Target)
				}
			})
		}
	}
}

// noLookups fails the test if a name is looked up while it runs.
func noLookups(t *testing.T) {
	real := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = real })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("a name was looked up")
		return nil, errors.New("not in this test")
	}}
}

// localhost is two addresses, and servers listen on one of them.
func TestHTTPLocalhost(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6"} {
		t.Run(network, func(t *testing.T) {
			srv := testserver.StartWith(t, testserver.Options{Network: network}, testserver.Text("test"))
			host, port, err := net.SplitHostPort(srv.Addr)
			if err != nil {
				t.Fatal(err)
			}
			ips, err := net.DefaultResolver.LookupHost(t.Context(), "localhost")
			if err != nil || !strings.Contains(strings.Join(ips, " "), host) {
				t.Skipf("localhost is %v here (%v)", ips, err)
			}
			r := mustRun(t, &HTTP{URL: "http://localhost:" + port, DisableKeepAlive: true}, Options{Concurrency: 2, Requests: 10})
			account(t, r, srv)
			if r.Failed != 0 || r.Connections != 10 {
				t.Errorf("%v, %d connections", r.Errors, r.Connections)
			}
		})
	}
}

func TestHTTPErrors(t *testing.T) {
	srv := testserver.Start(t, testserver.Text("test"))
	https := strings.Replace(srv.URL, "http:", "https:", 1)
	for _, tt := range []struct {
		h    HTTP
		want string // after "loadtest: HTTP."
	}{
		{HTTP{}, "URL: must be set"},
		{HTTP{URL: "/path"}, "URL: must begin with http:// or https://"},
		{HTTP{URL: "127.0.0.1:80"}, "URL: "},
		{HTTP{URL: "localhost:80"}, "URL: must begin with http:// or https://"},
		{HTTP{URL: "ftp://127.0.0.1/"}, "URL: must begin with http:// or https://"},
		{HTTP{URL: "http://"}, "URL: must name a host"},
		{HTTP{URL: "http:///x"}, "URL: must name a host"},
		{HTTP{URL: "http://:80"}, "URL: must name a host"},
		{HTTP{URL: "http:x"}, "URL: must name a host"},
		{HTTP{URL: "http://a b/"}, "URL: "},
		{HTTP{URL: "http://a/\n"}, "URL: "},
		{HTTP{URL: "http://a/%zz"}, "URL: "},
		{HTTP{URL: "http://[::1/"}, "URL: "},
		{HTTP{URL: "http://::1/"}, "URL: "},
		{HTTP{URL: "http://127.0.0.1:x/"}, "URL: "},
		{HTTP{URL: "http://127.0.0.1:0/"}, "URL: port 0 can't be connected to"},
		{HTTP{URL: "http://127.0.0.1:65536/"}, "URL: "},
		{HTTP{URL: "http://bücher.example/"}, "URL: must have a host of ASCII characters"},
		{HTTP{URL: "http://user:secret@127.0.0.1/"}, "URL: must not hold a user name"},
		{HTTP{URL: srv.URL + "/?a b"}, "URL: must have no spaces in its query"},
		{HTTP{URL: "http://nonexistent.invalid/"}, "URL: "},
		{HTTP{URL: srv.URL, Addr: "127.0.0.1"}, "Addr: must be host:port or unix:path"},
		{HTTP{URL: srv.URL, Addr: "unix:"}, "Addr: must have a path after unix:"},
		{HTTP{URL: srv.URL, Addr: ":80"}, "Addr: must have a host"},
		{HTTP{URL: srv.URL, Addr: "::1:80"}, "Addr: must be host:port or unix:path"},
		{HTTP{URL: srv.URL, Addr: "127.0.0.1:http2x"}, "Addr: "},
		{HTTP{URL: srv.URL, Addr: "127.0.0.1:-1"}, "Addr: "},
		{HTTP{URL: srv.URL, Addr: "nonexistent.invalid:80"}, "Addr: "},
		{HTTP{URL: srv.URL, Method: "GE T"}, "Method: must be a token"},
		{HTTP{URL: srv.URL, Method: "GET\r\nX: y"}, "Method: must be a token"},
		{HTTP{URL: srv.URL, Method: "CONNECT"}, "Method: must not be CONNECT"},
		{HTTP{URL: srv.URL, Header: http.Header{"Content-Length": {"3"}}}, `Header["Content-Length"]: must not be set`},
		{HTTP{URL: srv.URL, Header: http.Header{"connection": {"close"}}}, `Header["connection"]: must not be set`},
		{HTTP{URL: srv.URL, Header: http.Header{"Transfer-Encoding": {"chunked"}}}, `Header["Transfer-Encoding"]: must not be set`},
		{HTTP{URL: srv.URL, Header: http.Header{"X Y": {"z"}}}, `Header["X Y"]: must be a token`},
		{HTTP{URL: srv.URL, Header: http.Header{"": {"z"}}}, `Header[""]: must be a token`},
		{HTTP{URL: srv.URL, Header: http.Header{"X": {"a\r\nY: b"}}}, `Header["X"]: must have no control characters`},
		{HTTP{URL: srv.URL, Header: http.Header{"Host": {"a", "b"}}}, `Header["Host"]: must have one value`},
		{HTTP{URL: srv.URL, Status: 99}, "Status: must be 0"},
		{HTTP{URL: srv.URL, Status: 100}, "Status: must be 0"},
		{HTTP{URL: srv.URL, Status: -200}, "Status: must be 0"},
		{HTTP{URL: srv.URL, Status: 1000}, "Status: must be 0"},
		{HTTP{URL: srv.URL, MaxBody: -1}, "MaxBody: must not be negative"},
		{HTTP{URL: srv.URL, Pipeline: -1}, "Pipeline: must not be negative"},
		{HTTP{URL: srv.URL, Pipeline: 2}, "Pipeline: is not built yet"},
		{HTTP{URL: srv.URL, Proto: "h2"}, `Proto: "h2" is not built yet`},
		{HTTP{URL: srv.URL, Proto: "HTTP/1.1"}, "Proto: must be one of"},
		{HTTP{URL: srv.URL, Engine: "epoll"}, `Engine: "epoll" is not built yet`},
		{HTTP{URL: srv.URL, Engine: "fast"}, "Engine: must be one of"},
		{HTTP{URL: srv.URL, Requests: []Request{{}}}, "Requests: are not built yet"},
		{HTTP{URL: srv.URL, Next: func(int64, *Request) error { return nil }}, "Next: is not built yet"},
		{HTTP{URL: srv.URL, TLS: &tls.Config{}}, "TLS: needs a URL that begins with https://"},
		{HTTP{URL: https, TLS: &tls.Config{NextProtos: []string{"h2", "http/1.1"}}}, `TLS: NextProtos must not offer "h2"`},
	} {
		r, err := Run(t.Context(), &tt.h, Options{Concurrency: 2, Requests: 10})
		if err == nil || r != nil || !strings.HasPrefix(err.Error(), "loadtest: HTTP."+tt.want) {
			t.Errorf("Run(%+v) = %v, %v; want an error that begins with %q", tt.h, r, err, "loadtest: HTTP."+tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error gives away a password: %v", err)
		}
		// The same through the door of Targets that wrap it.
		if c, err := tt.h.NewClient(t.Context(), 0); err == nil || c != nil || !strings.HasPrefix(err.Error(), "loadtest: HTTP."+tt.want) {
			t.Errorf("NewClient = %v, %v; want an error that begins with %q", c, err, "loadtest: HTTP."+tt.want)
		}
	}
	if srv.Accepted() != 0 {
		t.Errorf("the server was bothered with %d connections", srv.Accepted())
	}
	// All that is wrong at once.
	_, err := Run(t.Context(), &HTTP{URL: "x", Status: -1, MaxBody: -1, Engine: "none"}, Options{})
	for _, field := range []string{"HTTP.URL", "HTTP.Status", "HTTP.MaxBody", "HTTP.Engine"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("err = %v, want %s in it", err, field)
		}
	}
	for _, h := range []HTTP{{URL: srv.URL, Proto: "h3"}, {URL: srv.URL, Engine: "io_uring"}} {
		if _, err := Run(t.Context(), &h, Options{}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("err = %v, want errors.ErrUnsupported", err)
		}
	}
}

func TestHTTPGoodFields(t *testing.T) {
	srv := testserver.Start(t, testserver.Text("test"))
	for name, h := range map[string]HTTP{
		"the defaults, in words": {URL: srv.URL, Method: "GET", Proto: "http/1.1", Engine: "net", Pipeline: 1, Header: http.Header{}, Body: []byte{}},
		"no value":               {URL: srv.URL, Header: http.Header{"X": nil, "Host": {}}},
		"upper case":             {URL: strings.ToUpper(srv.URL)},
		"method of one's own":    {URL: srv.URL, Method: "purge"},
		"body of GET":            {URL: srv.URL, Body: []byte("x")},
	} {
		r := mustRun(t, &h, Options{Concurrency: 1, Requests: 2})
		if r.Failed != 0 || r.Engine != "net" {
			t.Errorf("%s: %v, engine %q", name, r.Errors, r.Engine)
		}
	}
}

func TestHTTPLeavesTheUsersTLSConfigAlone(t *testing.T) {
	srv := testserver.StartWith(t, testserver.Options{TLS: true}, testserver.Text("test"))
	config := trust(srv)
	mustRun(t, &HTTP{URL: srv.URL, TLS: config}, Options{Concurrency: 2, Requests: 4})
	if config.ServerName != "" || len(config.NextProtos) != 0 || config.InsecureSkipVerify {
		t.Errorf("the user's tls.Config was changed: %+v", config)
	}
}
