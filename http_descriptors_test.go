//go:build unix

package loadtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/testserver"
)

// TestHTTPDescriptors loads a server from a process that has too few descriptors for its clients: this test binary once more.
func TestHTTPDescriptors(t *testing.T) {
	const variable = "LOADTEST_TEST_DESCRIPTORS"
	if url := os.Getenv(variable); url != "" {
		loadWithFewDescriptors(url)
	}
	srv := testserver.Start(t, testserver.Delay(2*time.Millisecond, "test"))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHTTPDescriptors$")
	cmd.Env = append(os.Environ(), variable+"="+srv.URL)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.Bytes())
	}
	rs, err := ReadJSON(bytes.NewReader(out))
	if err != nil || len(rs) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	r := rs[0]
	checkInvariants(t, r)
	account(t, r, srv)
	e := r.Errors["descriptors"]
	if r.Requests != 500 || e.Count == 0 || e.Count != r.Failed || r.Succeeded() != srv.Requests() || r.Succeeded() == 0 {
		t.Errorf("%d requests, %d succeeded, the server saw %d, %v; want 500, the same, some of kind descriptors", r.Requests, r.Succeeded(), srv.Requests(), r.Errors)
	}
	if !strings.Contains(e.Sample, "ulimit -n") {
		t.Errorf("the error does not say what to do: %s", e.Sample)
	}
}

// loadWithFewDescriptors writes its result to standard output, and ends the process.
func loadWithFewDescriptors(url string) {
	err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: 40})
	if err == nil {
		var r *Result
		if r, err = Run(context.Background(), &HTTP{URL: url}, Options{Concurrency: 100, Requests: 500}); err == nil {
			err = WriteJSON(os.Stdout, r)
		}
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}
