package h1

import (
	"strings"
	"testing"
)

func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    Request
		want string
	}{
		{"least", Request{Host: "h"}, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"target and port", Request{Target: "/a%20b?q=1", Host: "h:8080"}, "GET /a%20b?q=1 HTTP/1.1\r\nHost: h:8080\r\n\r\n"},
		{"IPv6", Request{Host: "[::1]:80"}, "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"},
		{"OPTIONS *", Request{Method: "OPTIONS", Target: "*", Host: "h"}, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"method in its case", Request{Method: "purge", Host: "h"}, "purge / HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"body", Request{Method: "POST", Host: "h", Body: []byte("abc")}, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"},
		{"POST without body", Request{Method: "POST", Host: "h"}, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"PUT without body", Request{Method: "PUT", Host: "h"}, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"PATCH without body", Request{Method: "PATCH", Host: "h"}, "PATCH / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"DELETE without body", Request{Method: "DELETE", Host: "h"}, "DELETE / HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"GET with body", Request{Host: "h", Body: []byte("abc")}, "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"},
		{"close", Request{Host: "h", Close: true}, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"},
		{"keys sorted and verbatim", Request{Host: "h", Header: map[string][]string{"x-b": {"2", "1"}, "Accept": {"*/*"}, "X-A": {""}}},
			"GET / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nX-A: \r\nx-b: 2\r\nx-b: 1\r\n\r\n"},
		{"host overridden", Request{Host: "h:1", Header: map[string][]string{"hOST": {"Other"}}}, "GET / HTTP/1.1\r\nHost: Other\r\n\r\n"},
		{"host from header alone", Request{Header: map[string][]string{"Host": {"x"}}}, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"host made empty", Request{Host: "h", Header: map[string][]string{"Host": {""}}}, "GET / HTTP/1.1\r\nHost: \r\n\r\n"},
		{"host without values", Request{Host: "h", Header: map[string][]string{"Host": nil}}, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.r.Append([]byte("before "))
			if want := "before " + tt.want; string(got) != want || err != nil {
				t.Errorf("Append() = %q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestRequestErrors(t *testing.T) {
	header := func(k string, v ...string) map[string][]string { return map[string][]string{k: v} }
	for _, tt := range []struct {
		name string
		r    Request
		want string
	}{
		{"space in method", Request{Method: "G T", Host: "h"}, `Method: must be a token such as GET (got "G T")`},
		{"CONNECT", Request{Method: "CONNECT", Host: "h"}, "Method: must not be CONNECT"},
		{"relative target", Request{Target: "a", Host: "h"}, "Target: must begin with /"},
		{"absolute target", Request{Target: "http://h/", Host: "h"}, "Target: must begin with /"},
		{"* without OPTIONS", Request{Target: "*", Host: "h"}, "Target: must begin with /"},
		{"space in target", Request{Target: "/a b", Host: "h"}, "Target: must have no spaces"},
		{"line end in target", Request{Target: "/\r\nX: y", Host: "h"}, "Target: must have no spaces"},
		{"DEL in target", Request{Target: "/\x7f", Host: "h"}, "Target: must have no spaces"},
		{"no host", Request{}, "Host: must not be empty"},
		{"space in host", Request{Host: "a b"}, "Host: must have no spaces"},
		{"line end in host", Request{Host: "a\r\nX: y"}, "Host: must have no spaces"},
		{"two hosts", Request{Host: "h", Header: header("Host", "a", "b")}, "must have one value (got 2)"},
		{"two cases of host", Request{Host: "h", Header: map[string][]string{"Host": {"a"}, "host": {"b"}}}, "must have one value (got 2)"},
		{"line end in host header", Request{Host: "h", Header: header("host", "a\r\nX: y")}, `Header["host"]: must have no control characters`},
		{"name", Request{Host: "h", Header: header("a:", "b")}, `Header["a:"]: must be a token`},
		{"no name", Request{Host: "h", Header: header("", "b")}, `Header[""]: must be a token`},
		{"CR in value", Request{Host: "h", Header: header("A", "b\rc")}, `Header["A"]: must have no control characters`},
		{"LF in value", Request{Host: "h", Header: header("A", "b", "b\nc")}, `Header["A"]: must have no control characters`},
		{"NUL in value", Request{Host: "h", Header: header("A", "b\x00c")}, `Header["A"]: must have no control characters`},
		{"Content-Length", Request{Host: "h", Header: header("content-LENGTH", "0")}, `Header["content-LENGTH"]: must not be set`},
		{"Connection", Request{Host: "h", Header: header("connection", "close")}, `Header["connection"]: must not be set`},
		{"Transfer-Encoding", Request{Host: "h", Header: header("Transfer-Encoding")}, `Header["Transfer-Encoding"]: must not be set`},
		{"long value is cut", Request{Host: "h", Header: header("A", strings.Repeat("x", 100)+"\n")}, `xxx"...)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.r.Append([]byte("before"))
			if err == nil || !strings.Contains(err.Error(), tt.want) || string(got) != "before" {
				t.Errorf("Append() = %q, %v, want an error with %q and %q", got, err, tt.want, "before")
			}
		})
	}
}
