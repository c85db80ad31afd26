package h1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// FuzzResponse checks that the split of the bytes does not matter, with and
// without limits, and that net/http reads the same response.
func FuzzResponse(f *testing.F) {
	for i, tt := range responses {
		f.Add([]byte(tt.in), tt.head, uint64(i), uint16(0), uint8(0))
		f.Add([]byte(tt.in), !tt.head, uint64(i), uint16(len(tt.in)), uint8(len(tt.body)))
	}
	for i, tt := range malformedResponses {
		f.Add([]byte(tt.in), false, uint64(i), uint16(0), uint8(0))
	}
	for i, tt := range truncatedResponses {
		f.Add([]byte(tt.in), false, uint64(i), uint16(0), uint8(0))
	}
	f.Fuzz(func(t *testing.T, in []byte, head bool, seed uint64, maxHead uint16, maxBody uint8) {
		checkSplit(t, &Response{Keep: true, MaxHead: int(maxHead), MaxBody: int64(maxBody)}, in, head, seed)
		checkNetHTTP(t, in, head)
	})
}

// FuzzChunked does the same for what follows the head of a chunked response,
// and checks that any bytes come out as they went in.
func FuzzChunked(f *testing.F) {
	for i, tt := range responses {
		if in, ok := strings.CutPrefix(tt.in, chunked); ok {
			f.Add([]byte(in), uint64(i))
		}
	}
	for i, tt := range malformedResponses {
		if in, ok := strings.CutPrefix(tt.in, chunked); ok {
			f.Add([]byte(in), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		r := &Response{Keep: true}
		response := append([]byte(chunked), in...)
		checkSplit(t, r, response, false, seed)
		checkNetHTTP(t, response, false)

		var encoded bytes.Buffer
		encoded.WriteString(chunked)
		w := httputil.NewChunkedWriter(&encoded)
		for _, p := range split(in, seed) {
			if _, err := w.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		encoded.WriteString("X: y\r\n\r\n")
		got := read(t, r, false, split(encoded.Bytes(), seed+1)...)
		want := outcome{status: 200, keep: true, size: int64(len(in)), body: string(in), used: encoded.Len()}
		if got != want {
			t.Fatalf("read(%q) = %+v, want %+v", encoded.Bytes(), got, want)
		}
	})
}

// split cuts b into pieces of random lengths, most of them short.
func split(b []byte, seed uint64) (pieces [][]byte) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(1<<rnd.IntN(12)))
		pieces = append(pieces, b[:n])
		b = b[n:]
	}
	return pieces
}

func checkSplit(t *testing.T, r *Response, in []byte, head bool, seed uint64) {
	t.Helper()
	whole := read(t, r, head, in)
	pieces := split(in, seed)
	got := read(t, r, head, pieces...)
	if class(got.err) != class(whole.err) {
		t.Fatalf("read(%q) error = %v, in one piece %v", pieces, got.err, whole.err)
	}
	if whole.err == nil && got != whole {
		t.Fatalf("read(%q) = %+v, in one piece %+v", pieces, got, whole)
	}
}

// maxDifferential is the longest input that is given to net/http. Its limit for
// trailers is the size of the reader's buffer, ours is MaxHead.
const maxDifferential = 32 << 10

// checkNetHTTP checks that [http.ReadResponse] reads in, which is followed by
// the end of the connection, as Response does. Deliberate differences are those
// of [stricter] and [shorterLived].
func checkNetHTTP(t *testing.T, in []byte, head bool) {
	t.Helper()
	if len(in) > maxDifferential {
		return
	}
	r := &Response{Keep: true}
	got := read(t, r, head, in)
	want, header := readNetHTTP(in, head)
	if got.err != nil || want.err != nil {
		if (got.err == nil) == (want.err == nil) || got.err != nil && stricter(in, got.err) {
			return
		}
		t.Fatalf("read(%q) error = %v, net/http %v", in, got.err, want.err)
	}
	if !got.keep && want.keep && shorterLived(r) {
		want.keep = false
	}
	if got != want {
		t.Fatalf("read(%q) = %+v, net/http %+v", in, got, want)
	}
	for key, values := range header {
		if strings.Contains(key, " ") {
			continue // net/http keeps such names apart by case
		}
		if key == "Cache-Control" && header.Get("Pragma") == "no-cache" {
			continue // may be net/http's own
		}
		if key == "Content-Length" {
			values[0] = strings.Trim(values[0], " \t") // net/http does so if there are two
		}
		if got := strings.TrimRight(r.Header(key), " "); got != strings.TrimRight(values[0], " ") {
			t.Fatalf("read(%q): Header(%q) = %q, net/http %q", in, key, got, values[0])
		}
	}
}

// readNetHTTP reads a response with net/http, skipping interim ones as
// [http.Transport] does.
func readNetHTTP(in []byte, head bool) (outcome, http.Header) {
	rd := bytes.NewReader(in)
	br := bufio.NewReaderSize(rd, maxDifferential+1)
	req := &http.Request{Method: "GET"}
	if head {
		req.Method = "HEAD"
	}
	for {
		resp, err := http.ReadResponse(br, req)
		if err != nil {
			return outcome{err: err}, nil
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		return outcome{
			status: resp.StatusCode,
			keep:   !resp.Close,
			size:   int64(len(body)),
			body:   string(body),
			used:   len(in) - rd.Len() - br.Buffered(),
			err:    err,
		}, resp.Header
	}
}

var (
	signedStatus = regexp.MustCompile(`HTTP/\d\.\d +[+-]\d\d`)
	versionZero  = regexp.MustCompile(`HTTP/0\.\d`)
	spacedColon  = regexp.MustCompile(`(?i)(content-length|transfer-encoding) +:`)
)

// stricter reports whether err is one of those with which we refuse what
// net/http accepts. Their reasons are in the comment of [Response].
func stricter(in []byte, err error) bool {
	text := err.Error()
	switch {
	case strings.Contains(text, "status code"):
		// strconv.Atoi takes a sign; RFC 9112, 4 wants three digits.
		return signedStatus.Match(in)
	case strings.Contains(text, "HTTP version"):
		// HTTP/0.9 had no status line.
		return versionZero.Match(in)
	case strings.Contains(text, "space before colon"):
		// net/http takes the space as part of an unknown name.
		return spacedColon.Match(in)
	case err == errTrailerEnd:
		// net/http looks for CRLF CRLF anywhere in its buffer, and then ends
		// the trailer at the first empty line.
		return bytes.Contains(in, []byte("\r\n\r\n"))
	}
	return false
}

// shorterLived reports whether we do not use the connection again where
// net/http does: after 101, which it hands over, and after the combinations
// of RFC 9112, 6.1 that smuggling is made of.
func shorterLived(r *Response) bool {
	coded := r.Header("Transfer-Encoding") != "" || r.frame.codings > 0
	return r.Status() == 101 || coded && (r.frame.length >= 0 || r.frame.version < 11)
}

// FuzzRequest checks that [http.ReadRequest] reads back what Append accepts.
func FuzzRequest(f *testing.F) {
	f.Add("", "", "localhost:80", "Accept", "*/*", "accept", "a/b", "", false)
	f.Add("POST", "/a%20b?q=1", "[::1]:8080", "X-Empty", "", "X-Space", " a\tb ", "body", true)
	f.Add("OPTIONS", "*", "h", "host", "override", "Cookie", "a=b", "", false)
	f.Add("GET", "//x/y", "h", "Pragma", "no-cache", "Expect", "100-continue", "", false)
	f.Add("get", "/%zz", "h", "Content-length", "3", "X", "y", "abc", false)
	f.Add("PUT", "/\xff", "h", "HOST", "a", "Host", "b", "", false)
	f.Fuzz(func(t *testing.T, method, target, host, key1, value1, key2, value2, body string, closes bool) {
		r := &Request{
			Method: method, Target: target, Host: host, Body: []byte(body), Close: closes,
			Header: map[string][]string{key1: {value1}},
		}
		r.Header[key2] = append(r.Header[key2], value2)
		dst := []byte("before")
		b, err := r.Append(dst)
		if err != nil {
			if string(b) != "before" {
				t.Fatalf("Append after error %v = %q", err, b)
			}
			return
		}
		if method == "" {
			method = "GET"
		}
		if target == "" {
			target = "/"
		}
		if _, err := url.ParseRequestURI(target); err != nil {
			// Escapes are the caller's: "/%zz" may be sent to see a server
			// refuse it.
			return
		}

		rd := bytes.NewReader(b[len(dst):])
		br := bufio.NewReader(rd)
		got, err := http.ReadRequest(br)
		if err != nil {
			t.Fatalf("ReadRequest(%q): %v", b, err)
		}
		gotBody, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatalf("ReadRequest(%q): body: %v", b, err)
		}
		if rest := rd.Len() + br.Buffered(); rest > 0 {
			t.Fatalf("ReadRequest(%q) left %d bytes", b, rest)
		}
		want := http.Header{}
		wantHost := host
		for _, k := range []string{min(key1, key2), max(key1, key2)} {
			for _, v := range r.Header[k] {
				if v = strings.Trim(v, " \t"); equalFold(k, "host") {
					wantHost = v
				} else {
					want.Add(k, v)
				}
			}
			if key1 == key2 {
				break
			}
		}
		if want.Get("Pragma") == "no-cache" && want.Get("Cache-Control") == "" {
			got.Header.Del("Cache-Control") // net/http's own
		}
		if closes {
			want.Add("Connection", "close")
		}
		if body != "" || method == "POST" || method == "PUT" || method == "PATCH" {
			want.Add("Content-Length", fmt.Sprint(len(body)))
		}
		if got.Method != method || got.RequestURI != target || got.Host != wantHost || got.Close != closes ||
			string(gotBody) != body || got.ContentLength != int64(len(body)) || fmt.Sprint(got.Header) != fmt.Sprint(want) {
			t.Fatalf("ReadRequest(%q) = %+v with body %q, want header %v", b, got, gotBody, want)
		}
	})
}
