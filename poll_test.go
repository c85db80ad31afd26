package loadtest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/testserver"
)

func skipUnlessPolling(t *testing.T) {
	t.Helper()
	if err := canPoll(); errors.Is(err, errors.ErrUnsupported) {
		if _, err := Run(t.Context(), &HTTP{URL: "http://127.0.0.1:1"}, Options{Poll: true}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("err = %v, want errors.ErrUnsupported", err)
		}
		t.Skip(err)
	}
}

func TestPoll(t *testing.T) {
	skipUnlessPolling(t)
	for _, network := range []string{"tcp4", "unix"} {
		for _, tls := range []bool{false, true} {
			for _, pinned := range []bool{false, true} {
				name := strings.Join([]string{network, map[bool]string{true: "tls", false: "plain"}[tls], map[bool]string{true: "pinned", false: "not pinned"}[pinned]}, "/")
				t.Run(name, func(t *testing.T) {
					opts := Options{Poll: true, Concurrency: 1, Requests: 300}
					if pinned {
						skipUnlessPinnable(t)
						allowed, err := AllowedCPUs()
						if err != nil || len(allowed) < 2 {
							t.Skipf("needs two CPUs, may use %v (%v)", allowed, err)
						}
						opts.CPUs = allowed[:1]
					}
					message := testserver.ChunkedMessage(200, strings.Repeat("x", 10_000), 3000)
					srv := testserver.StartWith(t, testserver.Options{Network: network, TLS: tls, Names: []string{"x.invalid"}}, testserver.Bytes(message))
					url := "http://x.invalid"
					if tls {
						url = "https://x.invalid"
					}
					r := mustRun(t, &HTTP{URL: url, Addr: srv.Addr, TLS: trust(srv)}, opts)
					account(t, r, srv)
					if r.Failed != 0 || r.BodyBytes != 300*10_000 || r.Connections != 1 || r.BytesRead != 300*int64(len(message)) {
						t.Errorf("%v, %d body bytes, %d connections", r.Errors, r.BodyBytes, r.Connections)
					}
				})
			}
		}
	}
}

// What goes wrong is of the same kind as without polling.
func TestPollFailures(t *testing.T) {
	skipUnlessPolling(t)
	for _, tt := range []struct {
		name, kind string
		script     testserver.Script
	}{
		{"timeout", "timeout", testserver.Silent()},
		{"stall in the body", "timeout", waits("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")},
		{"eof", "eof", testserver.Once([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"))},
		{"reset", "reset", testserver.ResetAfter(nil)},
		{"parse", "parse", waits("garbage")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := testserver.Start(t, badServer(tt.script))
			r := mustRun(t, &HTTP{URL: srv.URL}, Options{Poll: true, Concurrency: 1, Requests: 5, Timeout: 200 * time.Millisecond})
			account(t, r, srv)
			if r.Requests != 5 || r.Failed != 1 || r.Errors[tt.kind].Count != 1 || r.Connections != 2 {
				t.Errorf("%d requests, %v, %d connections; want 5, one of kind %s, 2", r.Requests, r.Errors, r.Connections, tt.kind)
			}
		})
	}
	t.Run("idle close", func(t *testing.T) {
		srv := testserver.Start(t, testserver.CloseAfter(5, "test"))
		r := mustRun(t, &HTTP{URL: srv.URL}, Options{Poll: true, Concurrency: 1, Requests: 20})
		account(t, r, srv)
		if r.Failed != 0 || r.Resent != 3 || r.Connections != 4 {
			t.Errorf("%v, %d sent again, %d connections; want none, 3, 4", r.Errors, r.Resent, r.Connections)
		}
	})
}

func TestPollEnds(t *testing.T) {
	skipUnlessPolling(t)
	for name, timeout := range map[string]time.Duration{"timeout": time.Hour, "no timeout": -1} {
		t.Run(name, func(t *testing.T) {
			srv := testserver.Start(t, testserver.Silent())
			start := time.Now()
			r, err := Run(t.Context(), &HTTP{URL: srv.URL}, Options{Poll: true, Concurrency: 1, Duration: 100 * time.Millisecond, Drain: 50 * time.Millisecond, Timeout: timeout})
			within(t, start, 150*time.Millisecond)
			if !errors.Is(err, ErrNoRequests) || r.Abandoned != 1 {
				t.Errorf("%v, %d abandoned; want ErrNoRequests, 1", err, r.Abandoned)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			start = time.Now()
			r, err = Run(ctx, &HTTP{URL: srv.URL}, Options{Poll: true, Concurrency: 1, Duration: time.Hour, Timeout: timeout})
			within(t, start, 50*time.Millisecond)
			if !errors.Is(err, context.DeadlineExceeded) || r.Abandoned != 1 || r.Failed != 0 {
				t.Errorf("%v, %d abandoned, %v; want the context's end, 1, no failure", err, r.Abandoned, r.Errors)
			}
		})
	}
}

func TestPollErrors(t *testing.T) {
	h := &HTTP{URL: "http://127.0.0.1:1"}
	for _, tt := range []struct {
		name   string
		target Target
		opts   Options
	}{
		{"Func", sleeper(0), Options{Concurrency: 1}},
		{"Handler", Handler(http.NotFoundHandler(), httptest.NewRequest("GET", "/", nil)), Options{Concurrency: 1}},
		{"wrapped", &wrapped{targets: []*HTTP{h}}, Options{Concurrency: 1}},
		{"more pinned clients than CPUs", h, Options{Concurrency: 2, CPUs: firstCPU(t)}},
		{"more pinned clients than threads", h, Options{Concurrency: 2, CPUs: twoCPUs(t), Threads: 1}},
	} {
		if len(tt.opts.CPUs) == 0 && strings.Contains(tt.name, "pinned") {
			continue // there is no pinning here
		}
		tt.opts.Poll = true
		r, err := Run(t.Context(), tt.target, tt.opts)
		if err == nil || r != nil || !strings.HasPrefix(err.Error(), "loadtest: Options.Poll: ") {
			t.Errorf("%s: Run = %v, %v; want an error of Options.Poll", tt.name, r, err)
		}
	}
}

// firstCPU returns one CPU that the process may be pinned to; none if there is no pinning here.
func firstCPU(t *testing.T) CPUSet {
	t.Helper()
	if cpus := twoCPUs(t); len(cpus) > 0 {
		return cpus[:1]
	}
	return nil
}

func twoCPUs(t *testing.T) CPUSet {
	t.Helper()
	allowed, err := AllowedCPUs()
	if err != nil || len(allowed) < 2 || checkPin(allowed[:2]) != nil {
		return nil
	}
	return allowed[:2]
}

func TestPollAllocatesNothingPerRequest(t *testing.T) {
	skipUnlessPolling(t)
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	srv, err := testserver.StartTrivial(testserver.TrivialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	measure := func(n int64) int64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Run(t.Context(), &HTTP{URL: srv.URL}, Options{Poll: true, Concurrency: 1, Requests: n})
		runtime.ReadMemStats(&after)
		if err != nil || r.Requests != n || r.Failed != 0 {
			t.Fatal(r, err)
		}
		return int64(after.Mallocs - before.Mallocs)
	}
	measure(100)
	few := measure(1000)
	if per := float64(measure(31_000)-few) / 30_000; per > 0.2 { // the slices of the timeline; each look at the connection would be a dozen
		t.Errorf("%.3f allocations per request, want 0", per)
	}
}
