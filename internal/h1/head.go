package h1

import (
	"bytes"
	"math"
)

// scan is the position in the head being read. Offsets count from the first
// byte of that head.
type scan struct {
	start  int  // of the first line that was not taken yet; 0: the status line
	next   int  // no line ends between start and here, but where folded
	folded bool // that line goes on over a line end
	status int
}

// framing is what the fields of a head say about the end of the response.
type framing struct {
	version    int   // 10*major + minor
	length     int64 // Content-Length; -1: none
	digits     int   // of Content-Length, to tell 5 from 05 as net/http does
	codings    int   // Transfer-Encoding fields
	close      bool  // Connection: close
	persist    bool  // Connection: keep-alive
	badTrailer bool  // Trailer announces a field that frames messages
	keepAlive  bool  // the verdict
}

// parseHead takes line after line of the head at b[0] and returns its length,
// or 0 if it is not complete yet.
//
// A line that is not the last is taken when the first byte of the next one is
// there, since white space in that place continues the line.
func (r *Response) parseHead(b []byte) (n int, err error) {
	limit := r.maxHead()
	s := &r.scan
	if s.start == 0 && !bytes.HasPrefix(b, protocol[:min(len(b), len(protocol), limit)]) {
		// Tell at once: a peer that speaks something else may never send the
		// end of a line.
		return 0, malformed("status line", b)
	}
	start, next := s.start, s.next
	for {
		i := bytes.IndexByte(b[next:], '\n')
		if i < 0 {
			if len(b) >= limit {
				return 0, r.headTooLarge()
			}
			s.start, s.next = start, len(b)
			return 0, nil
		}
		end := next + i
		line := dropCR(b[start:end])
		if len(line) == 0 && start > 0 {
			if end >= limit {
				return 0, r.headTooLarge()
			}
			if r.Keep || r.KeepHead {
				r.keptHead = append(r.keptHead[:0], b[:end+1]...)
			}
			return end + 1, r.endHead()
		}
		if end+1 >= limit {
			return 0, r.headTooLarge()
		}

		switch {
		case start == 0:
			err = r.statusLine(line)
		case end+1 == len(b):
			s.start, s.next = start, end
			return 0, nil
		case isSpace(b[end+1]):
			s.folded = true
			next = end + 1
			continue
		default:
			err = r.headerLine(line)
			s.folded = false
		}
		if err != nil {
			return 0, err
		}
		start = end + 1
		next = start
	}
}

var protocol = []byte("HTTP/")

// statusLine reads "HTTP/1.1 200 OK", of which parseHead has checked the first
// five bytes. The reason may be missing, with the space before it, and holds
// any bytes.
func (r *Response) statusLine(line []byte) error {
	if len(line) < len("HTTP/1.1 200") ||
		!isDigit(line[5]) || line[6] != '.' || !isDigit(line[7]) || line[8] != ' ' {
		return malformed("status line", line)
	}
	if line[5] == '0' {
		return malformed("HTTP version", line)
	}
	code := line[9:]
	for len(code) > 0 && code[0] == ' ' {
		code = code[1:]
	}
	if len(code) < 3 || !isDigit(code[0]) || !isDigit(code[1]) || !isDigit(code[2]) ||
		len(code) > 3 && code[3] != ' ' {
		return malformed("status code", line)
	}
	r.scan.status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	r.frame = framing{version: int(line[5]-'0')*10 + int(line[7]-'0'), length: -1}
	return nil
}

// headerLine checks a header field and notes what it says about framing. The
// line has no line end but, if r.scan.folded, those inside it.
func (r *Response) headerLine(line []byte) error {
	colon := tokenLen(line)
	if colon == 0 || colon == len(line) || line[colon] != ':' {
		var err error
		if colon, err = spacedName(line); err != nil {
			return err
		}
	}
	name := line[:colon]
	var value []byte
	if r.scan.folded {
		r.unfolded = unfold(r.unfolded[:0], line[colon+1:])
		value = r.unfolded
		if !validValue(value, 0) {
			return malformed("header value", line)
		}
	} else {
		if !validValue(line, colon+1) {
			return malformed("header value", line)
		}
		value = line[colon+1:]
	}

	// Only four names matter, and each has a length of its own.
	f := &r.frame
	switch len(name) {
	case len("Trailer"):
		if equalFold(name, "Trailer") {
			f.trailer(value)
		}
	case len("Connection"):
		if equalFold(name, "Connection") {
			f.connection(value)
		}
	case len("Content-Length"):
		if equalFold(name, "Content-Length") {
			return f.contentLength(trim(value))
		}
	case len("Transfer-Encoding"):
		if equalFold(name, "Transfer-Encoding") {
			if !r.scan.folded {
				value = trim(value)
			}
			return f.transferEncoding(value)
		}
	}
	return nil
}

// spacedName finds the colon of a line whose name is not a token. As in
// net/http, the name may have spaces in it: such a field is accepted and means
// nothing. Tolerating one that would have framed the response is another
// matter.
func spacedName(line []byte) (colon int, err error) {
	first, _, _ := bytes.Cut(line, []byte{'\n'})
	colon = bytes.IndexByte(first, ':')
	if colon < 0 {
		return 0, malformed("header line without colon", dropCR(first))
	}
	name := line[:colon]
	if len(name) == 0 || name[0] == ' ' || !isSpacedName(name) {
		return 0, malformed("header name", line)
	}
	name = bytes.TrimRight(name, " ")
	if equalFold(name, "Content-Length") || equalFold(name, "Transfer-Encoding") {
		return 0, malformed("space before colon", line)
	}
	return colon, nil
}

// trailer takes a Trailer field.
func (f *framing) trailer(list []byte) {
	for more := true; more; {
		var name []byte
		name, list, more = cutList(list)
		if equalFold(name, "Content-Length") || equalFold(name, "Transfer-Encoding") || equalFold(name, "Trailer") {
			f.badTrailer = true
		}
	}
}

// connection takes a Connection field.
func (f *framing) connection(list []byte) {
	for more := true; more; {
		var option []byte
		option, list, more = cutList(list)
		switch len(option) {
		case len("close"):
			f.close = f.close || equalFold(option, "close")
		case len("keep-alive"):
			f.persist = f.persist || equalFold(option, "keep-alive")
		}
	}
}

// contentLength takes a Content-Length field. A repeated one must be the same.
func (f *framing) contentLength(value []byte) error {
	if len(value) == 0 {
		return malformed("Content-Length", value)
	}
	var n int64
	for _, c := range value {
		if !isDigit(c) || n > (math.MaxInt64-int64(c-'0'))/10 {
			return malformed("Content-Length", value)
		}
		n = n*10 + int64(c-'0')
	}
	if f.length >= 0 && (f.length != n || f.digits != len(value)) {
		return malformed("conflicting Content-Length", value)
	}
	f.length = n
	f.digits = len(value)
	return nil
}

// transferEncoding takes a Transfer-Encoding field. HTTP/1.0 has no such field:
// there it has no meaning, save that the end of the response is in doubt.
func (f *framing) transferEncoding(value []byte) error {
	f.codings++
	if f.version < 11 {
		return nil
	}
	if f.codings > 1 {
		return malformed("repeated Transfer-Encoding", value)
	}
	if !equalFold(value, "chunked") {
		return malformed("unsupported Transfer-Encoding", value)
	}
	return nil
}

// endHead decides how the response goes on after its head (RFC 9112, 6.3).
func (r *Response) endHead() error {
	f := &r.frame
	status := r.scan.status
	chunked := f.codings > 0 && f.version >= 11
	if chunked && f.badTrailer {
		return malformed("Trailer announces a framing field", nil)
	}
	if status/100 == 1 && status != 101 {
		r.scan = scan{}
		return nil
	}

	f.keepAlive = !f.close && (f.version != 10 || f.persist) && status != 101
	if f.codings > 0 && (f.length >= 0 || !chunked) {
		f.keepAlive = false
	}
	switch {
	case r.head || status/100 == 1 || status == 204 || status == 304:
		r.state = complete
	case chunked:
		r.state = chunkSize
		r.chunk = chunk{}
		r.left = 0
	case f.length > 0:
		if r.MaxBody > 0 && f.length > r.MaxBody {
			return r.bodyTooLarge()
		}
		r.state = inLength
		r.left = f.length
	case f.length == 0:
		r.state = complete
	default:
		f.keepAlive = false
		r.state = inRest
	}
	return nil
}

// Header returns the first value of a header field of the final head, "" if
// there is none, that head is not complete or neither Keep nor KeepHead is set.
// The case of key does not matter. It searches the head at each call.
func (r *Response) Header(key string) string {
	if !r.Keep && !r.KeepHead || r.state == inHead {
		return ""
	}
	_, b, _ := bytes.Cut(r.keptHead, []byte{'\n'})
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		folded := false
		for end+1 < len(b) && isSpace(b[end+1]) {
			folded = true
			end += 1 + bytes.IndexByte(b[end+1:], '\n')
		}
		name, value, _ := bytes.Cut(dropCR(b[:end]), []byte{':'})
		b = b[end+1:]
		if !equalFold(name, key) {
			continue
		}
		if folded {
			return string(unfold(nil, value))
		}
		return string(trim(value))
	}
	return ""
}

// unfold appends to dst the value of a folded field: line ends and the white
// space around them become one space. The last line end is not part of value.
func unfold(dst, value []byte) []byte {
	for {
		part, rest, more := bytes.Cut(value, []byte{'\n'})
		if more {
			part = dropCR(part)
		}
		dst = append(dst, trim(part)...)
		if !more {
			return dst
		}
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		value = rest
	}
}
