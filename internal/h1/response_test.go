package h1

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
)

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
		if done, err := r.EOF(); !done || err != nil {
			t.Fatalf("response %d: EOF when complete = %v, %v, want true, nil", i, done, err)
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

func TestResponseKeepHead(t *testing.T) {
	r := Response{KeepHead: true}
	const text = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 4\r\n\r\ntest"
	if n, done, err := r.Parse([]byte(text)); n != len(text) || !done || err != nil {
		t.Fatalf("Parse = %d, %v, %v", n, done, err)
	}
	if r.Header("server") != "x" || r.Body() != nil || r.BodyBytes() != 4 {
		t.Errorf("server %q, body %q of %d bytes; want the head and no body", r.Header("server"), r.Body(), r.BodyBytes())
	}
	r.Reset(false)
	if r.Header("server") != "" {
		t.Error("the head is there after Reset")
	}
}
