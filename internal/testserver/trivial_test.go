package testserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestHeads(t *testing.T) {
	check := func(text string, want int) {
		t.Helper()
		for i := range len(text) + 1 {
			n, state := heads(0, []byte(text[:i]))
			m, _ := heads(state, []byte(text[i:]))
			if n+m != want {
				t.Errorf("heads(%q + %q) = %d + %d, want %d", text[:i], text[i:], n, m, want)
			}
		}
	}
	check("", 0)
	check(get, 1)
	check(get+get+get, 3)
	check(get+"GET /\r\n", 1)
	check("\r\r\n\r\r\n\n\r\n\r\n", 1)
	check("\r\n\r\n\r\n\r\n", 2)
	check("\r\n\r\n\r\n", 1)
}

func startTrivial(t *testing.T, opts TrivialOptions) *Trivial {
	t.Helper()
	s, err := StartTrivial(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func dialTrivial(t *testing.T, s *Trivial) net.Conn {
	t.Helper()
	return dial(t, &Server{Addr: s.Addr})
}

func TestTrivial(t *testing.T) {
	s := startTrivial(t, TrivialOptions{})
	if n := len(s.opts.Response); n != 100 {
		t.Errorf("response of %d bytes, want 100", n)
	}
	tr := new(http.Transport)
	defer tr.CloseIdleConnections()
	for i := range int64(3) {
		resp, err := (&http.Client{Transport: tr}).Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || len(body) != 37 || err != nil {
			t.Errorf("got %d %q, %v", resp.StatusCode, body, err)
		}
		if s.Requests() != i+1 || s.Accepted() != 1 {
			t.Errorf("Requests() = %d, Accepted() = %d, want %d, 1", s.Requests(), s.Accepted(), i+1)
		}
	}
}

func TestTrivialPipelined(t *testing.T) {
	s := startTrivial(t, TrivialOptions{Response: []byte("x")})
	nc := dialTrivial(t, s)
	send(t, nc, get+get+get[:len(get)-1])
	expect(t, nc, "xx")
	send(t, nc, "\n"+get)
	expect(t, nc, "xx")
	other := dialTrivial(t, s)
	send(t, other, get)
	expect(t, other, "x")
	if s.Requests() != 5 || s.Accepted() != 2 {
		t.Errorf("Requests() = %d, Accepted() = %d, want 5, 2", s.Requests(), s.Accepted())
	}
}

func TestTrivialCloseEach(t *testing.T) {
	s := startTrivial(t, TrivialOptions{CloseEach: true})
	for range 3 {
		nc := dialTrivial(t, s)
		send(t, nc, get)
		expectEnd(t, nc, string(s.opts.Response))
	}
	if n := len(s.opts.Response); n != 100 || s.Requests() != 3 {
		t.Errorf("response of %d bytes, Requests() = %d, want 100, 3", n, s.Requests())
	}
}

func TestTrivialClose(t *testing.T) {
	s := startTrivial(t, TrivialOptions{})
	nc := dialTrivial(t, s)
	send(t, nc, get)
	expect(t, nc, string(s.opts.Response))
	s.Close()
	s.Close()
	expectEnd(t, nc, "")
	if nc, err := net.DialTimeout("tcp", s.Addr, time.Second); err == nil {
		nc.Close()
		t.Error("dial a closed server: no error")
	}
}

// serveTrivial is the process of TestTrivialProcess: it serves until its input ends.
func serveTrivial() {
	s, err := StartTrivial(TrivialOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.Addr)
	io.Copy(io.Discard, os.Stdin)
	s.Close()
}

func TestTrivialProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "TRIVIAL_SERVER=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	nc := dial(t, &Server{Addr: strings.TrimSpace(string(line[:n]))})
	send(t, nc, get)
	expect(t, nc, "HTTP/1.1 200 OK\r\n")
}
