package testserver

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestReadHead(t *testing.T) {
	var r Request
	head := "POST /a?b=c HTTP/1.1\r\nhost: [::1]:80\r\nX-A:  1 \r\nContent-Length: 7\r\nx-a: 2\r\n\r\n"
	if err := readHead(newReader(head), &r); err != nil {
		t.Fatal(err)
	}
	if r.Method != "POST" || r.Target != "/a?b=c" || r.Proto != "HTTP/1.1" || r.ContentLength != 7 {
		t.Errorf("readHead: %+v", r)
	}
	want := []string{"host: [::1]:80", "X-A:  1 ", "Content-Length: 7", "x-a: 2"}
	if !slices.Equal(r.Lines, want) {
		t.Errorf("Lines = %q, want %q", r.Lines, want)
	}
	if got, ok := r.Header("X-a"); got != "1" || !ok {
		t.Errorf("Header(X-a) = %q, %v, want 1, true", got, ok)
	}
	if got, ok := r.Header("X-b"); got != "" || ok {
		t.Errorf("Header(X-b) = %q, %v, want none", got, ok)
	}
}

func TestReadHeadMalformed(t *testing.T) {
	check := func(text, reason string) {
		t.Helper()
		err := readHead(newReader(text), new(Request))
		if !errors.Is(err, errMalformed) || !strings.Contains(err.Error(), reason) {
			t.Errorf("readHead(%.60q) = %v, want malformed: ...%s...", text, err, reason)
		}
	}
	check("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "three parts")
	check("GET / HTTP/1.1 \r\nHost: x\r\n\r\n", "three parts")
	check("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "three parts")
	check("GET / HTTP/1.1\nHost: x\r\n\r\n", "CRLF")
	check("GET / HTTP/1.1\r\nHost: x\n\r\n", "CRLF")
	check("GET / HTTP/2.0\r\nHost: x\r\n\r\n", "version")
	check("GET / http/1.1\r\nHost: x\r\n\r\n", "version")
	check("G@T / HTTP/1.1\r\nHost: x\r\n\r\n", "method")
	check("GET /\x7f HTTP/1.1\r\nHost: x\r\n\r\n", "target")
	check("GET /\xe9 HTTP/1.1\r\nHost: x\r\n\r\n", "target")
	check("GET / HTTP/1.1\r\n\r\n", "0 Host")
	check("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "2 Host")
	check("GET / HTTP/1.1\r\nHost: http://x\r\n\r\n", "host")
	check("GET / HTTP/1.1\r\nHost : x\r\n\r\n", "header line")
	check("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", "header line")
	check("GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n", "header line")
	check("GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", "control")
	check("GET / HTTP/1.1\r\nHost: x\r\nA: \r\r\n\r\n", "control")
	check("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n", "content length")
	check("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "content length")
	check("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "2 Content-Length")
	check("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer encoding")
	check("GET / HTTP/1.1\r\nHost: x\r\nA: "+strings.Repeat("a", maxHead), "longer")
}

func TestReadHeadCutShort(t *testing.T) {
	for i := 1; i < len(get); i++ {
		if err := readHead(newReader(get[:i]), new(Request)); err != io.ErrUnexpectedEOF {
			t.Errorf("readHead(%q) = %v, want unexpected EOF", get[:i], err)
		}
	}
}

func TestKeepAlive(t *testing.T) {
	check := func(proto, connection string, want bool) {
		t.Helper()
		r := Request{Proto: proto}
		if connection != "" {
			r.Lines = []string{"connection: " + connection}
		}
		if got := r.KeepAlive(); got != want {
			t.Errorf("%s with Connection %q: KeepAlive() = %v, want %v", proto, connection, got, want)
		}
	}
	check("HTTP/1.1", "", true)
	check("HTTP/1.1", "close", false)
	check("HTTP/1.1", "X, Close", false)
	check("HTTP/1.1", "keep-alive", true)
	check("HTTP/1.0", "", false)
	check("HTTP/1.0", "Keep-Alive", true)
}

// FuzzReadHead checks that net/http reads the same from whatever this reader takes.
func FuzzReadHead(f *testing.F) {
	f.Add(get)
	f.Add("POST * HTTP/1.0\r\nContent-Length: 5\r\nA:\tb\r\n\r\nhello")
	f.Add("GET http://a/b HTTP/1.1\r\nhost: [::1]:8080\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var r Request
		if readHead(newReader(text), &r) != nil {
			return
		}
		want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			// net/http looks into targets and hosts, this reader doesn't.
			t.Skip(err)
		}
		if r.Method != want.Method || r.Target != want.RequestURI || r.Proto != want.Proto || r.ContentLength != want.ContentLength {
			t.Errorf("readHead(%q) = %+v, net/http has %+v", text, r, want)
		}
		for name, values := range want.Header {
			got, ok := r.Header(name)
			if !ok || got != values[0] {
				t.Errorf("Header(%q) = %q, %v, net/http has %q", name, got, ok, values)
			}
		}
	})
}
