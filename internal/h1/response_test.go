package h1

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
)

const (
	nginx = "HTTP/1.1 200 OK\r\nServer: nginx/1.27.0\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n" +
		"Content-Type: text/html\r\nContent-Length: 5\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n" +
		"Connection: keep-alive\r\nETag: \"65920080-267\"\r\nAccept-Ranges: bytes\r\n\r\nhello"
	two     = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello"
	chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
)

// responses are the legal forms. Each is read whole, split at every position,
// byte by byte, and by net/http.
var responses = []struct {
	name   string
	in     string
	head   bool // the request was HEAD
	status int
	close  bool // not keep-alive
	body   string
	rest   string // what of in belongs to somebody else
}{
	{name: "nginx", in: nginx, status: 200, body: "hello"},
	{name: "two fields", in: two, status: 200, body: "hello"},
	{name: "next response follows", in: two + nginx, status: 200, body: "hello", rest: nginx},
	{name: "empty body", in: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200},
	{name: "no reason", in: "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", status: 200},
	{name: "no reason, no space", in: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200},
	{name: "spaces before status", in: "HTTP/1.1   404 Not Found\r\nContent-Length: 0\r\n\r\n", status: 404},
	{name: "any bytes in reason", in: "HTTP/1.1 200 \x00\xff\r\r\nContent-Length: 0\r\n\r\n", status: 200},
	{name: "unknown status", in: "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", status: 999},
	{name: "status 000", in: "HTTP/1.1 000 X\r\nContent-Length: 1\r\n\r\na", status: 0, body: "a"},
	{name: "later version", in: "HTTP/2.0 200 OK\r\nContent-Length: 1\r\n\r\na", status: 200, body: "a"},

	{name: "length with zeros", in: "HTTP/1.1 200 OK\r\nContent-Length: 0003\r\n\r\nabc", status: 200, body: "abc"},
	{name: "length repeated", in: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length:3 \r\n\r\nabc", status: 200, body: "abc"},
	{name: "names in any case", in: "HTTP/1.1 200 OK\r\ncONTENT-lENGTH: 3\r\nCONNECTION: CLOSE\r\n\r\nabc", status: 200, close: true, body: "abc"},
	{name: "no space after colon", in: "HTTP/1.1 200 OK\r\nContent-Length:3\r\nX:\r\n\r\nabc", status: 200, body: "abc"},
	{name: "tabs", in: "HTTP/1.1 200 OK\r\nContent-Length:\t3\t\r\nX:a\tb\r\n\r\nabc", status: 200, body: "abc"},
	{name: "bytes beyond ASCII", in: "HTTP/1.1 200 OK\r\nX: \xe4\xf6\xfc, gr\xc3\xbc\xc3\x9fe\r\nContent-Length: 3\r\n\r\nabc", status: 200, body: "abc"},
	{name: "space inside name", in: "HTTP/1.1 200 OK\r\nX Y : z\r\nContent-Length: 3\r\n\r\nabc", status: 200, body: "abc"},
	{name: "bare LF", in: "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", status: 200, body: "abc"},
	{name: "mixed line ends", in: "HTTP/1.1 200 OK\r\nContent-Length: 3\n\r\nabc", status: 200, body: "abc"},
	{name: "folded", in: "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n\tc\r\nContent-Length:\r\n 3\r\n\r\nabc", status: 200, body: "abc"},
	{name: "folded over blank lines", in: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n \r\n\t\r\n\r\nabc", status: 200, body: "abc"},
	{name: "folded with bare LF", in: "HTTP/1.1 200 OK\nConnection: x,\n close\nContent-Length: 3\n\nabc", status: 200, close: true, body: "abc"},
	{name: "long field", in: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300) + "\r\nContent-Length: 3\r\n\r\nabc", status: 200, body: "abc"},

	{name: "connection list", in: "HTTP/1.1 200 OK\r\nConnection: x, Close ,y\r\nContent-Length: 0\r\n\r\n", status: 200, close: true},
	{name: "connection close is not a substring", in: "HTTP/1.1 200 OK\r\nConnection: closed\r\nContent-Length: 0\r\n\r\n", status: 200},
	{name: "close wins", in: "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", status: 200, close: true},
	{name: "HTTP/1.0", in: "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", status: 200, close: true, body: "abc"},
	{name: "HTTP/1.0 keep-alive", in: "HTTP/1.0 200 OK\r\nContent-Length: 3\r\nConnection: Keep-Alive\r\n\r\nabc", status: 200, body: "abc"},
	{name: "HTTP/1.0 keep-alive and close", in: "HTTP/1.0 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive, close\r\n\r\nabc", status: 200, close: true, body: "abc"},

	{name: "until close", in: "HTTP/1.0 200 OK\r\n\r\nall the rest", status: 200, close: true, body: "all the rest"},
	{name: "until close, empty", in: "HTTP/1.0 200 OK\r\n\r\n", status: 200, close: true},
	{name: "until close, HTTP/1.1", in: "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nrest", status: 200, close: true, body: "rest"},

	{name: "HEAD with length", in: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", head: true, status: 200},
	{name: "HEAD without length", in: "HTTP/1.1 200 OK\r\n\r\nHTTP", head: true, status: 200, rest: "HTTP"},
	{name: "HEAD chunked", in: chunked, head: true, status: 200},
	{name: "HEAD error", in: "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n", head: true, status: 404},
	{name: "204", in: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
	{name: "204 with length", in: "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", status: 204, rest: "abc"},
	{name: "304 with length", in: "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\nETag: x\r\n\r\n", status: 304},
	{name: "304 chunked", in: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", status: 304},

	{name: "100", in: "HTTP/1.1 100 Continue\r\n\r\n" + two, status: 200, body: "hello"},
	{name: "many 1xx", in: strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: close\r\nContent-Length: 7\r\n\r\n", 3) +
		"HTTP/1.1 102 Processing\r\n\r\n" + nginx, status: 200, body: "hello"},
	{name: "101", in: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nraw", status: 101, close: true, rest: "raw"},

	{name: "chunked", in: chunked + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", status: 200, body: "hello world"},
	{name: "chunked, rest", in: chunked + "1\r\na\r\n0\r\n\r\nHTTP", status: 200, body: "a", rest: "HTTP"},
	{name: "chunked, empty", in: chunked + "0\r\n\r\n", status: 200},
	{name: "chunked, any case", in: "HTTP/1.1 200 OK\r\ntransfer-encoding: ChunKed\r\n\r\n00A\r\n0123456789\r\n00\r\n\r\n", status: 200, body: "0123456789"},
	{name: "chunked, both cases of hex", in: chunked + "b\r\n01234567890\r\nB\r\n01234567890\r\n0\r\n\r\n", status: 200, body: "0123456789001234567890"},
	{name: "chunked, CR LF in data", in: chunked + "4\r\n\r\n\r\n\r\n0\r\n\r\n", status: 200, body: "\r\n\r\n"},
	{name: "chunked, 16 digits", in: chunked + "0000000000000001\r\na\r\n0\r\n\r\n", status: 200, body: "a"},
	{name: "chunked, space after size", in: chunked + "1 \t\r\na\r\n0 \r\n\r\n", status: 200, body: "a"},
	{name: "chunked, extensions", in: chunked + "1;a=b;c=\"d;e\"\r\na\r\n0; x \r\n\r\n", status: 200, body: "a"},
	{name: "chunked, trailer", in: chunked + "1\r\na\r\n0\r\nX: y\r\nContent-Length: 7\r\nA b: c\r\nZ:\r\n\r\nHTTP", status: 200, body: "a", rest: "HTTP"},
	{name: "chunked, folded trailer", in: chunked + "0\r\nX: y\r\n z\r\n \r\n\r\n", status: 200},
	{name: "chunked, bare LF inside trailer", in: chunked + "0\r\nX: y\nY: z\r\n\r\n", status: 200},
	{name: "chunked, trailer announced", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Expires, X\r\n\r\n0\r\nExpires: 0\r\n\r\n", status: 200},
	{name: "trailer announced without chunks", in: "HTTP/1.1 200 OK\r\nTrailer: Content-Length\r\nContent-Length: 1\r\n\r\na", status: 200, body: "a"},
	{name: "chunked, close", in: "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 200, close: true},

	{name: "chunked and length", in: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", status: 200, close: true, body: "a"},
	{name: "chunked and length, HEAD", in: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", head: true, status: 200, close: true},
	{name: "HTTP/1.0 transfer coding", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", status: 200, close: true, body: "abc"},
}

// malformedResponses are refused, wherever they are split.
var malformedResponses = []struct {
	name string
	in   string
	want string // in the error
}{
	{"empty line first", "\r\n" + two, `status line: "\r\nHTTP/1.1 200`},
	{"other protocol, no line end", "SSH-2.0-x", `status line: "S`},
	{"TLS alert", "\x15\x03\x01\x00\x02\x02\x16", `status line: "\x15`},
	{"short status line", "HTTP/1.1\r\n\r\n", `status line: "HTTP/1.1"`},
	{"no minor version", "HTTP/1 200 OK\r\n\r\n", "status line"},
	{"long version", "HTTP/1.10 200 OK\r\n\r\n", "status line"},
	{"lower-case protocol", "http/1.1 200 OK\r\n\r\n", "status line"},
	{"tab after version", "HTTP/1.1\t200 OK\r\n\r\n", "status line"},
	{"version 0", "HTTP/0.9 200 OK\r\n\r\n", "HTTP version"},
	{"short code", "HTTP/1.1 20 OKAY\r\n\r\n", "status code"},
	{"long code", "HTTP/1.1 2000 OK\r\n\r\n", "status code"},
	{"signed code", "HTTP/1.1 +20 OK\r\n\r\n", "status code"},
	{"code and tab", "HTTP/1.1 200\tOK\r\n\r\n", "status code"},
	{"letters in code", "HTTP/1.1 2x0 OK\r\n\r\n", "status code"},
	{"long garbage is cut", "HTTP/1.1 xxx " + strings.Repeat("y", 100) + "\r\n\r\n", `"HTTP/1.1 xxx yyyyyyyyyyyyyyyyyyyyyyyyyyy"...`},

	{"no colon", "HTTP/1.1 200 OK\r\nfoo\r\n\r\n", `header line without colon: "foo"`},
	{"no colon before fold", "HTTP/1.1 200 OK\r\nfoo\r\n :bar\r\n\r\n", `header line without colon: "foo"`},
	{"no name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "header name"},
	{"tab in name", "HTTP/1.1 200 OK\r\na\tb: x\r\n\r\n", "header name"},
	{"non-ASCII name", "HTTP/1.1 200 OK\r\n\xe4: x\r\n\r\n", "header name"},
	{"space before first field", "HTTP/1.1 200 OK\r\n X: y\r\n\r\n", "header name"},
	{"blank first field", "HTTP/1.1 200 OK\r\n \r\n\r\n", "header line without colon"},
	{"CR in value", "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", "header value"},
	{"two CR", "HTTP/1.1 200 OK\r\nX: a\r\r\n\r\n", "header value"},
	{"two CR after fold", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\r\n\r\n", "header value"},
	{"two CR before fold", "HTTP/1.1 200 OK\r\nX: a\r\r\n b\r\n\r\n", "header value"},
	{"NUL in value", "HTTP/1.1 200 OK\r\nX: abcdefghijklmn\x00\r\n\r\n", "header value"},
	{"DEL in value", "HTTP/1.1 200 OK\r\nX: abcdefghijklmn\x7fabcdefghijklmn\r\n\r\n", "header value"},
	{"control in interim head", "HTTP/1.1 100 Continue\r\nX: \x01\r\n\r\n" + two, "header value"},

	{"empty length", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", `Content-Length: ""`},
	{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", `Content-Length: "-1"`},
	{"signed length", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na", "Content-Length"},
	{"hex length", "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\na", "Content-Length"},
	{"length with underscore", "HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n", "Content-Length"},
	{"length list", "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc", "Content-Length"},
	{"length overflow", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", "Content-Length"},
	{"conflicting lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "conflicting Content-Length"},
	{"lengths written differently", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 03\r\n\r\nabc", "conflicting Content-Length"},
	{"bad length under chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n0\r\n\r\n", "Content-Length"},
	{"bad length with 204", "HTTP/1.1 204 No Content\r\nContent-Length: x\r\n\r\n", "Content-Length"},
	{"space before colon of length", "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\nabc", "space before colon"},
	{"space before colon of coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding  : chunked\r\n\r\n0\r\n\r\n", "space before colon"},
	{"other coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", `unsupported Transfer-Encoding: "gzip"`},
	{"list of codings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "unsupported Transfer-Encoding"},
	{"empty coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", "unsupported Transfer-Encoding"},
	{"identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na", "unsupported Transfer-Encoding"},
	{"vertical tab and coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", "header value"},
	{"repeated coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "repeated Transfer-Encoding"},
	{"folded coding with space at end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n \r\n\r\n0\r\n\r\n", "unsupported Transfer-Encoding"},
	{"trailer announces length", "HTTP/1.1 200 OK\r\nTrailer: X, content-length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Trailer announces"},

	{"no chunk size", chunked + "\r\n\r\n", "chunk size"},
	{"chunk extension without size", chunked + ";x\r\n\r\n", "chunk size"},
	{"space before chunk size", chunked + " 1\r\na\r\n0\r\n\r\n", "chunk size"},
	{"space before extension", chunked + "1 ;x\r\na\r\n0\r\n\r\n", "chunk size"},
	{"chunk size with prefix", chunked + "0x1\r\na\r\n0\r\n\r\n", "chunk size"},
	{"negative chunk size", chunked + "-1\r\na\r\n0\r\n\r\n", "chunk size"},
	{"chunk size overflow", chunked + "8000000000000000\r\n", "chunk size too large"},
	{"17 digits", chunked + "00000000000000001\r\na\r\n0\r\n\r\n", "chunk size too large"},
	{"bare LF after chunk size", chunked + "1\na\r\n0\r\n\r\n", "chunk size"},
	{"bare LF after extension", chunked + "1;x\na\r\n0\r\n\r\n", "without CR"},
	{"CR in extension", chunked + "1;\rx\r\na\r\n0\r\n\r\n", "CR inside chunk size line"},
	{"CR CR LF", chunked + "1\r\r\na\r\n0\r\n\r\n", "CR inside chunk size line"},
	{"data too long", chunked + "1\r\nab\r\n0\r\n\r\n", "no CRLF after chunk data"},
	{"bare LF after data", chunked + "1\r\na\n0\r\n\r\n", "no CRLF after chunk data"},
	{"bare CR after data", chunked + "1\r\na\r0\r\n\r\n", "no CRLF after chunk data"},
	{"long chunk line", chunked + "1;" + strings.Repeat("x", 4094) + "\r\na\r\n0\r\n\r\n", "more than 4096 bytes"},
	{"much extension", chunked + strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 17) + "0\r\n\r\n", "outweigh"},

	{"trailer without colon", chunked + "0\r\nfoo\r\n\r\n", "trailer name"},
	{"trailer without name", chunked + "0\r\n: x\r\n\r\n", "trailer name"},
	{"trailer begins with space", chunked + "0\r\n X: y\r\n\r\n", "trailer name"},
	{"control in trailer", chunked + "0\r\nX: \x00\r\n\r\n", "trailer value"},
	{"CR in trailer", chunked + "0\r\nX: a\rb\r\n\r\n", "trailer value"},
	{"CR at trailer line start", chunked + "0\r\nX: a\r\n\rb\r\n\r\n", "trailer name"},
	{"trailer ends with LF", chunked + "0\r\nX: a\r\n\n", "CRLF CRLF"},
	{"trailer ends with LF CRLF", chunked + "0\r\nX: a\n\r\n", "CRLF CRLF"},
	{"empty trailer ends with LF", chunked + "0\r\n\n", "CRLF CRLF"},
}

// truncatedResponses end before they are complete.
var truncatedResponses = []struct {
	name string
	in   string
	want error
}{
	{"nothing", "", io.EOF},
	{"status line", "HTTP/1.1 2", io.ErrUnexpectedEOF},
	{"head", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", io.ErrUnexpectedEOF},
	{"empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", io.ErrUnexpectedEOF},
	{"interim alone", "HTTP/1.1 100 Continue\r\n\r\n", io.ErrUnexpectedEOF},
	{"body", two[:len(two)-1], io.ErrUnexpectedEOF},
	{"chunk", chunked + "5\r\nhell", io.ErrUnexpectedEOF},
	{"chunk end", chunked + "5\r\nhello", io.ErrUnexpectedEOF},
	{"last chunk", chunked + "5\r\nhello\r\n0\r\n", io.ErrUnexpectedEOF},
	{"trailer", chunked + "0\r\nX: y\r\n", io.ErrUnexpectedEOF},
}

// outcome is what a caller learns of a response.
type outcome struct {
	status int
	keep   bool
	size   int64
	body   string
	used   int
	err    error // of Parse or EOF
}

// class is the part of an error that does not depend on how bytes were split.
func class(err error) error {
	for _, e := range []error{ErrMalformed, ErrHeadTooLarge, ErrBodyTooLarge} {
		if errors.Is(err, e) {
			return e
		}
	}
	return err
}

// read parses a response that arrives in pieces and is followed by the end of
// the connection, as an engine does.
func read(t testing.TB, r *Response, head bool, pieces ...[]byte) outcome {
	t.Helper()
	var o outcome
	var pending []byte
	r.Reset(head)
	done := false
	for _, p := range pieces {
		pending = append(pending, p...)
		n, d, err := r.Parse(pending)
		if n < 0 || n > len(pending) {
			t.Fatalf("Parse used %d of %d bytes", n, len(pending))
		}
		if err == nil && !d && n < len(pending) && r.state != inHead {
			t.Fatalf("Parse left %d of %d bytes of a body", len(pending)-n, len(pending))
		}
		o.used += n
		pending = pending[n:]
		done = d
		if o.err = err; d || err != nil {
			break
		}
	}
	if !done && o.err == nil {
		done, o.err = r.EOF()
		if done != (o.err == nil) {
			t.Fatalf("EOF() = %v, %v", done, o.err)
		}
	}
	o.status, o.keep, o.size, o.body = r.Status(), r.KeepAlive(), r.BodyBytes(), string(r.Body())
	return o
}

// everySplit calls f with b whole, byte by byte, and in two pieces for every
// position if b is not too long for that.
func everySplit(b string, f func(pieces ...[]byte)) {
	f([]byte(b))
	single := make([][]byte, len(b))
	for i := range len(b) {
		single[i] = []byte{b[i]}
	}
	f(single...)
	if len(b) > 2000 {
		return
	}
	for i := range len(b) {
		f([]byte(b[:i]), []byte(b[i:]))
	}
}

func TestResponse(t *testing.T) {
	for _, tt := range responses {
		t.Run(tt.name, func(t *testing.T) {
			want := outcome{
				status: tt.status, keep: !tt.close,
				size: int64(len(tt.body)), body: tt.body, used: len(tt.in) - len(tt.rest),
			}
			r := &Response{Keep: true}
			everySplit(tt.in, func(pieces ...[]byte) {
				t.Helper()
				if got := read(t, r, tt.head, pieces...); got != want {
					t.Fatalf("read(%q) = %+v, want %+v", pieces, got, want)
				}
			})
			checkNetHTTP(t, []byte(tt.in), tt.head)

			r = &Response{}
			if got := read(t, r, tt.head, []byte(tt.in)); got.size != want.size || got.body != "" {
				t.Errorf("without Keep: %+v, want size %d and no body", got, want.size)
			}
		})
	}
}

func TestResponseMalformed(t *testing.T) {
	for _, tt := range malformedResponses {
		t.Run(tt.name, func(t *testing.T) {
			r := &Response{Keep: true}
			if _, _, err := r.Parse([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse(%q) error = %v, want one with %q", tt.in, err, tt.want)
			} else if len(err.Error()) > 120 {
				t.Errorf("Parse(%q) error is %d bytes long: %v", tt.in, len(err.Error()), err)
			}
			everySplit(tt.in, func(pieces ...[]byte) {
				t.Helper()
				if got := read(t, r, false, pieces...); class(got.err) != ErrMalformed || got.keep {
					t.Fatalf("read(%q) = %+v, want ErrMalformed and no keep-alive", pieces, got)
				}
			})
			checkNetHTTP(t, []byte(tt.in), false)
		})
	}
}

func TestResponseTruncated(t *testing.T) {
	for _, tt := range truncatedResponses {
		t.Run(tt.name, func(t *testing.T) {
			r := &Response{}
			everySplit(tt.in, func(pieces ...[]byte) {
				t.Helper()
				if got := read(t, r, false, pieces...); got.err != tt.want || got.keep {
					t.Fatalf("read(%q) = %+v, want error %v and no keep-alive", pieces, got, tt.want)
				}
			})
			checkNetHTTP(t, []byte(tt.in), false)
		})
	}
}

func TestResponseLimits(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 5\r\n\r\n"
	const trailer = "Abc: def\r\n\r\n"
	const small = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	big := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "
	big += strings.Repeat("x", DefaultMaxHead-len(big)-4)
	for _, tt := range []struct {
		name    string
		in      string
		maxHead int
		maxBody int64
		want    error
	}{
		{"head fits", head + "hello", len(head), 0, nil},
		{"head is a byte too long", head + "hello", len(head) - 1, 0, ErrHeadTooLarge},
		{"empty line does not fit", head + "hello", len(head) - 2, 0, ErrHeadTooLarge},
		{"status line does not fit", head + "hello", 10, 0, ErrHeadTooLarge},
		{"each interim head fits", "HTTP/1.1 100 Continue\r\n\r\n" + head + "hello", len(head), 0, nil},
		{"limit inside protocol", "HTTP0", 2, 0, ErrHeadTooLarge},
		{"no line end", "HTTP/1.1 200 " + strings.Repeat("x", 200), 100, 0, ErrHeadTooLarge},
		{"default fits", big + "\r\n\r\n", 0, 0, nil},
		{"default exceeded", big + "x\r\n\r\n", 0, 0, ErrHeadTooLarge},
		{"trailer fits", small + "0\r\n" + trailer, len(small), 0, nil},
		{"trailer too long", small + "0\r\n" + strings.Repeat("X: y\r\n", 20) + "\r\n", len(small), 0, ErrHeadTooLarge},
		{"body fits", head + "hello", 0, 5, nil},
		{"length announces more", head, 0, 4, ErrBodyTooLarge},
		{"chunks fit", chunked + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 0, 5, nil},
		{"chunk announces more", chunked + "3\r\nabc\r\n3\r\n", 0, 5, ErrBodyTooLarge},
		{"rest fits", "HTTP/1.1 200 OK\r\n\r\nhello", 0, 5, nil},
		{"rest is longer", "HTTP/1.1 200 OK\r\n\r\nhello!", 0, 5, ErrBodyTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &Response{MaxHead: tt.maxHead, MaxBody: tt.maxBody}
			everySplit(tt.in, func(pieces ...[]byte) {
				t.Helper()
				if len(tt.in) > 10000 && len(pieces) > 1 {
					return
				}
				got := read(t, r, false, pieces...)
				if class(got.err) != tt.want {
					t.Fatalf("read(%.200q) error = %v, want %v", pieces, got.err, tt.want)
				}
			})
		})
	}

	r := &Response{MaxHead: 20}
	_, _, err := r.Parse([]byte(head))
	if got, want := err.Error(), "response head too large: more than 20 bytes"; got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
	if _, _, again := r.Parse([]byte(two)); again != err {
		t.Errorf("after an error Parse() = %v, want it again: %v", again, err)
	}
	if _, again := r.EOF(); again != err {
		t.Errorf("after an error EOF() = %v, want it again: %v", again, err)
	}
}

// A head of 1 MiB that comes byte by byte. If each call looked at all of it
// again, this would take minutes.
func TestResponseHeadByteByByte(t *testing.T) {
	for _, fill := range []string{"x", "X: y\r\n", "x\r\n "} {
		head := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "
		head += strings.Repeat(fill, (DefaultMaxHead-len(head)-8)/len(fill)) + "z: \r\n\r\n"
		b := []byte(head)
		var r Response
		for i := 1; ; i++ {
			n, done, err := r.Parse(b[:i])
			if err != nil || (n != 0 || done) != (i == len(b)) {
				t.Fatalf("Parse of %d of %d bytes = %d, %v, %v", i, len(b), n, done, err)
			}
			if done {
				break
			}
		}
	}
}

func TestResponseHeader(t *testing.T) {
	const in = "HTTP/1.1 103 Early Hints\r\nServer: wrong\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nServer:  a server \r\nX-Two: 1\r\nx-two: 2\r\n" +
		"Folded: a\r\n\t b \r\n \r\n c\r\nEmpty:\r\nA b: c\r\nBare: x\nContent-Length: 1\r\n\r\n:"
	r := &Response{Keep: true}
	if got := r.Header("Server"); got != "" {
		t.Errorf("Header before the head = %q, want %q", got, "")
	}
	read(t, r, false, []byte(in))
	for _, tt := range []struct{ key, want string }{
		{"Server", "a server"},
		{"sERVER", "a server"},
		{"X-Two", "1"},
		{"Folded", "a b  c"},
		{"Empty", ""},
		{"A b", "c"},
		{"Bare", "x"},
		{"Content-Length", "1"},
		{"Serve", ""},
		{"", ""},
	} {
		if got := r.Header(tt.key); got != tt.want {
			t.Errorf("Header(%q) = %q, want %q", tt.key, got, tt.want)
		}
	}
	r.Reset(false)
	if got := r.Header("Server"); got != "" {
		t.Errorf("Header after Reset = %q, want %q", got, "")
	}
	r = &Response{}
	read(t, r, false, []byte(in))
	if got := r.Header("Server"); got != "" {
		t.Errorf("Header without Keep = %q, want %q", got, "")
	}
}

// One parser reads all responses of a connection.
func TestResponsePipelined(t *testing.T) {
	var in []byte
	var want []string
	for i := range 100 {
		body := strings.Repeat("x", i)
		want = append(want, body)
		if i%2 == 0 {
			in = append(in, "HTTP/1.1 200 OK\r\nContent-Length: "+strconv.Itoa(i)+"\r\n\r\n"+body...)
		} else {
			in = append(in, chunked+strconv.FormatInt(int64(i), 16)+"\r\n"+body+"\r\n0\r\n\r\n"...)
		}
	}
	r := &Response{Keep: true}
	for i, body := range want {
		r.Reset(false)
		n, done, err := r.Parse(in)
		if !done || err != nil || !r.KeepAlive() || string(r.Body()) != body {
			t.Fatalf("response %d: Parse = %d, %v, %v with body %q, want body %q", i, n, done, err, r.Body(), body)
		}
		if n, done, err := r.Parse(in[n:]); n != 0 || !done || err != nil {
			t.Fatalf("response %d: Parse when complete = %d, %v, %v, want 0, true, nil", i, n, done, err)
		}
		in = in[n:]
	}
	if len(in) > 0 {
		t.Errorf("%d bytes left", len(in))
	}
}

func TestResponseAllocs(t *testing.T) {
	for _, tt := range responses {
		for _, keep := range []bool{false, true} {
			r := &Response{Keep: keep}
			in := []byte(tt.in)
			parse := func() {
				r.Reset(tt.head)
				n, done, err := r.Parse(in[:len(in)/2])
				if err == nil && !done {
					_, done, err = r.Parse(in[n:])
				}
				if err == nil && !done {
					_, err = r.EOF()
				}
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
			}
			if got := testing.AllocsPerRun(10, parse); got != 0 {
				t.Errorf("%s: Keep %v: %v allocations, want 0", tt.name, keep, got)
			}
		}
	}
}

func TestValidValue(t *testing.T) {
	for c := range 256 {
		want := c == '\t' || c >= ' ' && c != 0x7f
		for size := 1; size < 30; size++ {
			for at := range size {
				line := bytes.Repeat([]byte{'x'}, size)
				line[at] = byte(c)
				for from := range at + 1 {
					if got := validValue(line, from); got != want {
						t.Fatalf("validValue(%q, %d) = %v, want %v", line, from, got, want)
					}
				}
			}
		}
	}
}

func TestTokenLen(t *testing.T) {
	for c := range 256 {
		token := strings.IndexByte("!#$%&'*+-.^_`|~", byte(c)) >= 0 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		for size := range 30 {
			for at := range size {
				b := []byte("ABCYZ-abcdxyzABCYZ-abcdxyzABCY")[:size]
				b[at] = byte(c)
				want := at
				if token {
					want = size
				}
				if got := tokenLen(b); got != want {
					t.Fatalf("tokenLen(%q) = %d, want %d", b, got, want)
				}
			}
		}
	}
}
