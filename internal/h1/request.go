package h1

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// A Request is a request to be encoded. It says all that is sent: there is no
// User-Agent, Accept or Accept-Encoding unless Header has it.
type Request struct {
	// Method is the method, in the case in which it is sent. "" means GET.
	// CONNECT is refused, since a tunnel follows it and no response body.
	Method string

	// Target is the path and query as sent, already escaped: "/a%20b?q=1". ""
	// means "/". "*" stands for the server as a whole, in OPTIONS alone.
	Target string

	// Host is the value of the Host field, as in a URL: with the port if there
	// is one, with brackets around an IPv6 address. "" is an error unless
	// Header has a Host.
	Host string

	// Header holds further fields, sent as they are, in the order of their
	// keys. Its Host, in any case, replaces Host. Content-Length, Connection
	// and Transfer-Encoding are refused: they follow from Body and Close.
	Header map[string][]string

	// Body is sent after the head. A Content-Length goes with it, and with
	// an empty one if the method is POST, PUT or PATCH.
	Body []byte

	// Close asks the server to close the connection after its response.
	Close bool
}

// Append appends the encoded request to dst and returns the longer slice. The
// result can be written any number of times. If a field cannot be sent, it
// returns dst as it was and an error that names the field.
func (r *Request) Append(dst []byte) ([]byte, error) {
	method, target := r.Method, r.Target
	if method == "" {
		method = "GET"
	}
	if target == "" {
		target = "/"
	}
	if err := checkRequestLine(method, target); err != nil {
		return dst, err
	}
	keys := slices.Sorted(maps.Keys(r.Header))
	for _, k := range keys {
		if err := checkField(k, r.Header[k]); err != nil {
			return dst, err
		}
	}
	host, err := r.host()
	if err != nil {
		return dst, err
	}

	dst = append(dst, method...)
	dst = append(dst, ' ')
	dst = append(dst, target...)
	dst = append(dst, " HTTP/1.1\r\n"...)
	dst = appendField(dst, "Host", host)
	for _, k := range keys {
		if equalFold(k, "host") {
			continue
		}
		for _, v := range r.Header[k] {
			dst = appendField(dst, k, v)
		}
	}
	if len(r.Body) > 0 || method == "POST" || method == "PUT" || method == "PATCH" {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(r.Body)), 10)
		dst = append(dst, "\r\n"...)
	}
	if r.Close {
		dst = appendField(dst, "Connection", "close")
	}
	dst = append(dst, "\r\n"...)
	return append(dst, r.Body...), nil
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

func checkRequestLine(method, target string) error {
	if !isToken(method) {
		return fmt.Errorf("Method: must be a token such as GET (got %s)", quote(method))
	}
	if method == "CONNECT" {
		return errors.New("Method: must not be CONNECT")
	}
	if target == "*" && method == "OPTIONS" {
		return nil
	}
	if target[0] != '/' {
		return fmt.Errorf("Target: must begin with /, or be * with OPTIONS (got %s)", quote(target))
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] == 0x7f {
			return fmt.Errorf("Target: must have no spaces or control characters, escape them (got %s)", quote(target))
		}
	}
	return nil
}

// checkField checks one entry of Header.
func checkField(name string, values []string) error {
	if !isToken(name) {
		return fmt.Errorf("Header[%s]: must be a token such as Accept", quote(name))
	}
	for _, own := range []string{"Content-Length", "Connection", "Transfer-Encoding"} {
		if equalFold(name, own) {
			return fmt.Errorf("Header[%s]: must not be set, it follows from the body and from closing the connection", quote(name))
		}
	}
	for _, v := range values {
		if !isValue(v) {
			return fmt.Errorf("Header[%s]: must have no control characters but tab (got %s)", quote(name), quote(v))
		}
	}
	return nil
}

// host returns the value of the Host field.
func (r *Request) host() (string, error) {
	var override []string
	for k, v := range r.Header {
		if equalFold(k, "host") {
			override = append(override, v...)
		}
	}
	switch {
	case len(override) > 1:
		return "", fmt.Errorf("Header[\"Host\"]: must have one value (got %d)", len(override))
	case len(override) == 1:
		return override[0], nil
	case r.Host == "":
		return "", errors.New("Host: must not be empty")
	}
	for i := range len(r.Host) {
		if r.Host[i] <= ' ' || r.Host[i] == 0x7f {
			return "", fmt.Errorf("Host: must have no spaces or control characters (got %s)", quote(r.Host))
		}
	}
	return r.Host, nil
}
