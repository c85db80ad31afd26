package testserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv("TRIVIAL_SERVER") != "" {
		serveTrivial()
		return
	}
	goleak.VerifyTestMain(m)
}

const (
	get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

	// okTest is what Text(200, "test") writes.
	okTest = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ntest"
)

// dial connects to the server; the connection is closed when the test ends, and its reads end in ten seconds.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	network, addr := "tcp", s.Addr
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	nc, err := net.DialTimeout(network, addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	return nc
}

func send(t *testing.T, nc net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatalf("write request: %v", err)
	}
}

// expect reads exactly want.
func expect(t *testing.T, r io.Reader, want string) {
	t.Helper()
	buf := make([]byte, len(want))
	n, err := io.ReadFull(r, buf)
	if got := string(buf[:n]); got != want || err != nil {
		t.Fatalf("read %q, %v, want %q", got, err, want)
	}
}

// expectEnd reads to the end of input, which must follow want.
func expectEnd(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got, err := io.ReadAll(r)
	if string(got) != want || err != nil {
		t.Fatalf("read %q, %v, want %q and the end", got, err, want)
	}
}

func await(t *testing.T, s *Server, what string, cond func() bool) {
	t.Helper()
	if !s.Await(5*time.Second, cond) {
		t.Fatalf("%s: not within 5 s", what)
	}
}

// fakeTB keeps what a test would be told.
type fakeTB struct {
	cleanups []func()
	messages []string
}

func (f *fakeTB) Helper()                        {}
func (f *fakeTB) Cleanup(fn func())              { f.cleanups = append(f.cleanups, fn) }
func (f *fakeTB) Errorf(format string, a ...any) { f.add("error", format, a) }
func (f *fakeTB) Fatalf(format string, a ...any) { f.add("fatal", format, a) }
func (f *fakeTB) Skipf(format string, a ...any)  { f.add("skip", format, a) }
func (f *fakeTB) add(kind, format string, a []any) {
	f.messages = append(f.messages, kind+": "+fmt.Sprintf(format, a...))
}

func (f *fakeTB) end() {
	for _, fn := range f.cleanups {
		fn()
	}
}

var _ TB = testing.TB(nil)

// isReset says whether an error is what a client sees of RST.
func isReset(err error) bool {
	return err != nil && !errors.Is(err, io.EOF) && strings.Contains(err.Error(), "reset")
}

// reads returns what each Read gets until the end of input.
func reads(t *testing.T, nc net.Conn) []string {
	t.Helper()
	var got []string
	buf := make([]byte, 4096)
	for {
		n, err := nc.Read(buf)
		if n > 0 {
			got = append(got, string(buf[:n]))
		}
		if err == io.EOF {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func newReader(s string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(s), 16) }
