package h1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkResponse reads responses that have arrived whole, with this parser
// and with net/http's.
func BenchmarkResponse(b *testing.B) {
	for _, form := range []struct{ name, in string }{
		{"nginx", nginx},
		{"two", two},
		{"chunked", chunked + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"},
		{"large", "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + strings.Repeat("x", 65536)},
	} {
		in := []byte(form.in)
		b.Run("form="+form.name+"/by=h1", func(b *testing.B) {
			var r Response
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(false)
				if n, done, err := r.Parse(in); n != len(in) || !done || err != nil {
					b.Fatal(n, done, err)
				}
			}
		})
		b.Run("form="+form.name+"/by=nethttp", func(b *testing.B) {
			rd := bytes.NewReader(in)
			br := bufio.NewReader(rd)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				rd.Reset(in)
				br.Reset(rd)
				resp, err := http.ReadResponse(br, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	r := &Request{Host: "localhost:8080", Header: map[string][]string{"Accept": {"*/*"}, "User-Agent": {"x"}}}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = r.Append(buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
