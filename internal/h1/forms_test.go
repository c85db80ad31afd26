package h1

import (
	"io"
	"strings"
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
