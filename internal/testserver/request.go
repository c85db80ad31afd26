package testserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxHead is the longest request head that is read.
const maxHead = 4 << 20

// A Request is a request as it was received.
type Request struct {
	Method, Target, Proto string

	// Lines are the header lines in the order and spelling received, without CRLF.
	Lines []string

	// ContentLength is the announced length of the body, 0 without a Content-Length.
	ContentLength int64

	// Body is what ReadBody and ReadSome have read of it.
	Body []byte

	// Conn is the number of the connection, N the request's number on it, and Serial its number among all of the server's in the order in which
	// their heads were read. All begin with 0.
	Conn, N, Serial int64

	// At is when the request's first byte was seen, since the server was started. For a pipelined request that is when the server turned to it.
	At time.Duration
}

// Header returns the value of the first header line with this name, in any case of letters, and whether there is one.
func (r *Request) Header(name string) (value string, ok bool) {
	for _, line := range r.Lines {
		n, v, _ := strings.Cut(line, ":")
		if strings.EqualFold(n, name) {
			return strings.Trim(v, " \t"), true
		}
	}
	return "", false
}

// KeepAlive says whether the client expects the connection to stay open after the response.
func (r *Request) KeepAlive() bool {
	connection, _ := r.Header("Connection")
	for option := range strings.SplitSeq(connection, ",") {
		switch strings.ToLower(strings.Trim(option, " \t")) {
		case "close":
			return false
		case "keep-alive":
			return true
		}
	}
	return r.Proto == "HTTP/1.1"
}

// errMalformed is wrapped by every error of readHead that is the client's fault.
var errMalformed = errors.New("malformed request")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errMalformed}, args...)...)
}

// readHead reads one request head. It is strict, since it judges what load generators send: what RFC 9112 lets a server tolerate (empty lines
// before the request, bare LF, folded lines, space around names) is an error. A Transfer-Encoding is one too: the package reads no chunked requests.
func readHead(br *bufio.Reader, r *Request) error {
	left := maxHead
	line, err := readLine(br, &left)
	if err != nil {
		return err
	}
	if err := r.parseRequestLine(line); err != nil {
		return err
	}
	for {
		line, err := readLine(br, &left)
		if err != nil {
			return err
		}
		if line == "" {
			return r.check()
		}
		if err := checkField(line); err != nil {
			return err
		}
		r.Lines = append(r.Lines, line)
	}
}

// readLine reads a line that ends in CRLF, without that. Before the first byte of a head the caller has seen one, so an end of input is unexpected.
func readLine(br *bufio.Reader, left *int) (string, error) {
	var long []byte
	for {
		piece, err := br.ReadSlice('\n')
		if *left -= len(piece); *left < 0 {
			return "", malformed("head longer than %d bytes", maxHead)
		}
		if err == bufio.ErrBufferFull {
			long = append(long, piece...)
			continue
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err
		}
		line := string(piece)
		if long != nil {
			line = string(append(long, piece...))
		}
		text, ok := strings.CutSuffix(line, "\r\n")
		if !ok {
			return "", malformed("line %.100q does not end in CRLF", line)
		}
		return text, nil
	}
}

func (r *Request) parseRequestLine(line string) error {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return malformed("request line %.100q has not three parts", line)
	}
	r.Method, r.Target, r.Proto = parts[0], parts[1], parts[2]
	if !isToken(r.Method) {
		return malformed("method %.100q", r.Method)
	}
	if r.Target == "" || strings.ContainsFunc(r.Target, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return malformed("target %.100q", r.Target)
	}
	if r.Proto != "HTTP/1.1" && r.Proto != "HTTP/1.0" {
		return malformed("version %.100q", r.Proto)
	}
	return nil
}

func checkField(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return malformed("header line %.100q", line)
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return malformed("control character in header line %.100q", line)
		}
	}
	return nil
}

// check looks at the head as a whole.
func (r *Request) check() error {
	hosts, lengths := 0, 0
	for _, line := range r.Lines {
		name, value, _ := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		switch strings.ToLower(name) {
		case "host":
			hosts++
			if strings.ContainsAny(value, " \t/?#@") {
				return malformed("host %.100q", value)
			}
		case "content-length":
			lengths++
			n, err := strconv.ParseUint(value, 10, 63)
			if err != nil {
				return malformed("content length %.100q", value)
			}
			r.ContentLength = int64(n)
		case "transfer-encoding":
			return malformed("transfer encoding %.100q is not read by this server", value)
		}
	}
	if hosts > 1 || hosts == 0 && r.Proto == "HTTP/1.1" {
		return malformed("%d Host header lines", hosts)
	}
	if lengths > 1 {
		return malformed("%d Content-Length header lines", lengths)
	}
	return nil
}

// isToken says whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
