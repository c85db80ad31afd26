package testserver

import (
	"fmt"
	"net/http"
	"strconv"
)

// Text answers with a status and a text, framed by Content-Length. It honours what the request asks for: no body after HEAD (nor with 204 and 304),
// "Connection: close" if the client wants no other response, after which Next returns false, and "Connection: keep-alive" for an HTTP/1.0 client
// that asked for it. Further header lines are given without CRLF: "X-Name: value".
func (c *Conn) Text(status int, body string, lines ...string) error {
	c.out = c.appendText(c.out[:0], status, body, false, lines)
	_, err := c.Write(c.out)
	return err
}

// LastText is Text with "Connection: close", after which Next returns false.
func (c *Conn) LastText(status int, body string, lines ...string) error {
	c.out = c.appendText(c.out[:0], status, body, true, lines)
	_, err := c.Write(c.out)
	return err
}

func (c *Conn) appendText(b []byte, status int, body string, last bool, lines []string) []byte {
	proto, head := "HTTP/1.1", false
	if r := c.Request; r != nil {
		last = last || !r.KeepAlive()
		proto, head = r.Proto, r.Method == "HEAD"
	}
	b = appendStatus(b, proto, status)
	if hasLength(status) {
		b = append(b, "Content-Type: text/plain\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		b = append(b, "\r\n"...)
	}
	switch {
	case last:
		c.last = true
		b = append(b, "Connection: close\r\n"...)
	case proto == "HTTP/1.0":
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	b = appendLines(b, lines)
	if head || !hasLength(status) || status == 304 {
		return b
	}
	return append(b, body...)
}

// Interim answers with a 1xx response, which is not the final one.
func (c *Conn) Interim(status int, lines ...string) error {
	_, err := c.Write(appendLines(appendStatus(nil, "HTTP/1.1", status), lines))
	return err
}

// StartChunked begins a response in the chunked coding. Chunk and EndChunked go on.
func (c *Conn) StartChunked(status int, lines ...string) error {
	b := append(appendStatus(nil, "HTTP/1.1", status), "Transfer-Encoding: chunked\r\n"...)
	_, err := c.Write(appendLines(b, lines))
	return err
}

// Chunk writes one chunk, with an extension such as ";name=value" or none. Empty data would end the body and is not written.
func (c *Conn) Chunk(data, extension string) error {
	if data == "" {
		return nil
	}
	_, err := c.Write(appendChunk(nil, data, extension))
	return err
}

// EndChunked writes the last chunk and the trailer lines, given without CRLF.
func (c *Conn) EndChunked(trailers ...string) error {
	_, err := c.Write(appendLines([]byte("0\r\n"), trailers))
	return err
}

// Message is an HTTP/1.1 response framed by Content-Length, for WriteSplit and the like.
func Message(status int, body string, lines ...string) []byte {
	b := appendStatus(nil, "HTTP/1.1", status)
	if hasLength(status) {
		b = fmt.Appendf(b, "Content-Length: %d\r\n", len(body))
	}
	return append(appendLines(b, lines), body...)
}

// ChunkedMessage is an HTTP/1.1 response in the chunked coding, the body in chunks of at most size bytes, with trailer lines.
func ChunkedMessage(status int, body string, size int, trailers ...string) []byte {
	b := append(appendStatus(nil, "HTTP/1.1", status), "Transfer-Encoding: chunked\r\n\r\n"...)
	for body != "" {
		n := min(size, len(body))
		b = appendChunk(b, body[:n], "")
		body = body[n:]
	}
	return appendLines(append(b, "0\r\n"...), trailers)
}

// DelimitedMessage is a response of the given version ("HTTP/1.0", "HTTP/1.1") whose body ends where the connection does.
func DelimitedMessage(proto string, status int, body string, lines ...string) []byte {
	return append(appendLines(appendStatus(nil, proto, status), lines), body...)
}

// hasLength says whether a response with this status may have a Content-Length.
func hasLength(status int) bool { return status >= 200 && status != 204 }

func appendStatus(b []byte, proto string, status int) []byte {
	b = append(b, proto...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	return append(b, "\r\n"...)
}

func appendLines(b []byte, lines []string) []byte {
	for _, line := range lines {
		b = append(b, line...)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...)
}

func appendChunk(b []byte, data, extension string) []byte {
	b = strconv.AppendInt(b, int64(len(data)), 16)
	b = append(b, extension...)
	b = append(b, "\r\n"...)
	b = append(b, data...)
	return append(b, "\r\n"...)
}
