// Package examples tests the examples, each as the program that a user would run, and the README that names them.
package examples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// programs builds all examples and returns the directory that they are in.
func programs(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs programs")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dir+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

// An outcome is what a program has printed, and its exit status.
type outcome struct {
	stdout, stderr string
	status         int
}

// run runs a program to its end.
func run(t *testing.T, dir, name string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	return finish(t, exec.CommandContext(ctx, filepath.Join(dir, name), args...))
}

// finish runs cmd, and fails the test if another process still has its standard error when it has ended: something was left running.
func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Errorf("%s: %v\n%s", cmd, err, stderr.String())
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// want checks the exit status, and that each pattern occurs in what was printed.
func (o outcome) want(t *testing.T, status int, patterns ...string) {
	t.Helper()
	if o.status != status {
		t.Errorf("exit status %d, want %d", o.status, status)
	}
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(o.stdout + o.stderr) {
			t.Errorf("no match for %q", p)
		}
	}
	if t.Failed() {
		t.Fatalf("standard output:\n%s\nstandard error:\n%s", o.stdout, o.stderr)
	}
}

// A counter is a server that counts, and keeps the last request.
type counter struct {
	*httptest.Server
	requests atomic.Int64
	last     atomic.Pointer[string]
}

func newCounter(t *testing.T) *counter {
	c := new(counter)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen := fmt.Sprintf("%s %s host=%s type=%s x=%s body=%s", r.Method, r.URL, r.Host, r.Header.Get("Content-Type"), r.Header.Get("X"), body)
		c.last.Store(&seen)
		c.requests.Add(1)
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "test")
	}))
	t.Cleanup(c.Close)
	return c
}

// take returns how many requests there were since it was last called, and the last of them.
func (c *counter) take() (int64, string) {
	n, last := c.requests.Swap(0), c.last.Swap(nil)
	if last == nil {
		return n, ""
	}
	return n, *last
}

// nowhere is an address that nothing listens on.
const nowhere = "http://127.0.0.1:1/"

func TestExamples(t *testing.T) {
	dir := programs(t)

	t.Run("quickstart", func(t *testing.T) {
		o := run(t, dir, "quickstart", "-d", "1s")
		o.want(t, 0, `^GET http://127\.0\.0\.1:\d+/$`, `^Throughput +[\d,]+ req/s`, `^  p99 `, `^measure \[#+\]`, `pinned`)
		url := regexp.MustCompile(`http://\S+`).FindString(o.stdout)
		if r, err := http.Get(url); err == nil {
			r.Body.Close()
			t.Errorf("the server at %s is still there", url)
		}
	})
	t.Run("quickstart with a URL", func(t *testing.T) {
		c := newCounter(t)
		run(t, dir, "quickstart", "-d", "200ms", "-c", "2", c.URL).want(t, 0, `2 clients`, `^Throughput +[\d,]+ req/s`, `not pinned.*-cpus`)
		if n, _ := c.take(); n == 0 {
			t.Error("the server has seen no request")
		}
		run(t, dir, "quickstart", "-d", "100ms", nowhere).want(t, 1, "no request succeeded", "connection refused|actively refused")
	})
	t.Run("quickstart killed", func(t *testing.T) { testKilled(t, dir) })
	t.Run("quickstart interrupted", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("a process can't send Ctrl-C to another")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "quickstart"), "-d", "30s")
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		time.AfterFunc(1500*time.Millisecond, cancel)
		var o outcome
		began := time.Now()
		o = finishCancelled(t, cmd)
		o.want(t, 1, `stopped after`, `interrupt`, `^Measured +30\.0s|^Throughput`)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("ended %v after Ctrl-C", took)
		}
	})
	t.Run("ab", func(t *testing.T) { testAB(t, dir) })
	t.Run("wrk", func(t *testing.T) {
		c := newCounter(t)
		o := run(t, dir, "wrk", "-t2", "-c4", "-d1", "--latency", "-H", "X: y", "--timeout", "3s", c.URL)
		o.want(t, 0, `^Running 1s test @ http`, `^  2 threads and 4 connections$`, `^ +99% `, `^Requests/sec: +[\d.]+$`)
		if _, last := c.take(); !strings.Contains(last, "x=y") {
			t.Errorf("the server has seen %s", last)
		}
		o = run(t, dir, "wrk", c.URL, "--connections", "2", "--duration=200ms")
		o.want(t, 0, `^Requests/sec: `)
		if strings.Contains(o.stdout, "99%") {
			t.Errorf("there is a distribution without --latency:\n%s", o.stdout)
		}
		run(t, dir, "wrk").want(t, 1, "want one URL")
		run(t, dir, "wrk", "-t8", "-c4", c.URL).want(t, 1, "number of connections")
		run(t, dir, "wrk", "-c", "many", c.URL).want(t, 1, "invalid value")
		run(t, dir, "wrk", "-d200ms", nowhere).want(t, 1, "Socket errors: connect [1-9]", "no response")
	})
	t.Run("customtarget", func(t *testing.T) {
		run(t, dir, "customtarget").want(t, 0, `^PING 127\.0\.0\.1:\d+$`, `^Throughput +[\d,]+ req/s`, `^  failed +0$`)
		run(t, dir, "customtarget", "a", "b").want(t, 2, "Usage")
	})
	t.Run("handler", func(t *testing.T) {
		run(t, dir, "handler").want(t, 0, `encode each time +1 `, `encode once +1 `)
	})
	t.Run("nginx", func(t *testing.T) {
		if _, err := exec.LookPath("nginx"); err != nil {
			if _, err := exec.LookPath("/usr/sbin/nginx"); err != nil {
				run(t, dir, "nginx").want(t, 1, "nginx is not installed")
				t.Skip("nginx is not installed")
			}
		}
		tmp := t.TempDir()
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "nginx"))
		cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
		o := finish(t, cmd)
		o.want(t, 0, `(?s)64 .*1,000 \(1,000\).*nginx counted the same.*64 .*1,000 \(1,000\).*nginx counted the same`)
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind in the temporary directory: %v (%v)", left, err)
		}
		run(t, dir, "nginx", "-n", "5").want(t, 2, "Usage")
	})
}

// finishCancelled is finish for a command that is told to end by its context.
func finishCancelled(t *testing.T, cmd *exec.Cmd) outcome {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 10 * time.Second
	_ = cmd.Run() // the context's error, whatever the status is
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// testKilled checks that the server of quickstart does not outlive it, however it ends.
func testKilled(t *testing.T, dir string) {
	cmd := exec.Command(filepath.Join(dir, "quickstart"), "-d", "30s")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(1500*time.Millisecond, func() { cmd.Process.Kill() })
	// Its server has the same standard error, so that this ends when both have.
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		io.Copy(io.Discard, stderr)
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the server has outlived the program that started it")
	}
	cmd.Wait()
}

func testAB(t *testing.T, dir string) {
	c := newCounter(t)
	sent := func(want int64, request string) {
		t.Helper()
		if n, last := c.take(); n != want || !strings.Contains(last, request) {
			t.Errorf("the server has seen %d requests, the last %s; want %d, %s", n, last, want, request)
		}
	}
	o := run(t, dir, "ab", "-n", "200", "-c", "7", c.URL+"/")
	o.want(t, 0, `^Complete requests:      200$`, `^Failed requests:        0$`, `^Concurrency Level:      7$`, `^Document Length:        4 bytes$`,
		`^Requests per second: `, `^Completed 100 requests$`, `^Finished 200 requests$`)
	sent(200, "GET /")
	if strings.Contains(o.stdout, "Completed") || strings.Contains(o.stdout, "Keep-Alive") {
		t.Errorf("on standard output:\n%s", o.stdout)
	}

	if o := run(t, dir, "ab", "-q", "-kn200", "-c=7", c.URL+"/"); o.stderr != "" || !strings.Contains(o.stdout, "Keep-Alive requests:    200\n") {
		t.Errorf("-q -k printed %s\nand on standard error %s", o.stdout, o.stderr)
	}
	sent(200, "GET /")

	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("a=b"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "ab", "-n", "5", "-p", body, "-T", "application/x-www-form-urlencoded", "-H", "X: y", "-H", "Host: example.com", c.URL+"/").
		want(t, 0, `^Complete requests:      5$`, `^Total body sent: `)
	sent(5, "POST / host=example.com type=application/x-www-form-urlencoded x=y body=a=b")
	run(t, dir, "ab", "-m", "PUT", "-p", body, c.URL+"/").want(t, 0, `^Complete requests:      1$`)
	sent(1, "PUT / ")
	run(t, dir, "ab", "-i", "-l", "-s", "5", c.URL+"/").want(t, 0, `^HTML transferred:       0 bytes$`)
	sent(1, "HEAD /")
	run(t, dir, "ab", "-t", "1", "-n", "10", strings.TrimPrefix(c.URL, "http://")+"/a?b=c").want(t, 0, `^Complete requests:      10$`)
	sent(10, "GET /a?b=c")
	run(t, dir, "ab", "-n", "3", c.URL+"/missing").want(t, 0, `^Non-2xx responses:      3$`)

	run(t, dir, "ab").want(t, 22, "wrong number of arguments")
	run(t, dir, "ab", "-n", "5", "-c", "7", c.URL+"/").want(t, 22, "concurrency")
	run(t, dir, "ab", "-n", "0", c.URL+"/").want(t, 22, "number of requests")
	run(t, dir, "ab", "-y", c.URL+"/").want(t, 22, "not defined: -y")
	run(t, dir, "ab", c.URL+"/", "-n").want(t, 22, "needs an argument: -n")
	run(t, dir, "ab", "-n", "5", nowhere).want(t, 1, "refused")
	run(t, dir, "ab", "-V").want(t, 0, "ApacheBench")
	run(t, dir, "ab", "-h").want(t, 0, "^Usage: ab ")
}

// TestFloorInAnotherModule copies the example that is there to be copied.
func TestFloorInAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs programs")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("floor")); err != nil {
		t.Fatal(err)
	}
	const module = "github.com/loadtest-go/loadtest"
	mod := readFile(t, "../go.mod")
	mod = strings.Replace(mod, "module "+module, "module example.com/floor", 1)
	mod += fmt.Sprintf("\nrequire %s v0.0.0\nreplace %s => %s\n", module, module, root)
	for name, text := range map[string]string{"go.mod": mod, "go.sum": readFile(t, "../go.sum")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-bench", ".", "-benchtime", "100x", "./...")
	cmd.Dir = dir
	finish(t, cmd).want(t, 0, `^ok `, `BenchmarkGreet.* req/s`)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestREADME checks that what the README shows is what there is.
func TestREADME(t *testing.T) {
	readme := readFile(t, "../README.md")
	blocks := map[string]string{} // the last of each language
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(readme, -1) {
		blocks[m[1]] = m[2]
	}
	if got, want := blocks["go"], readFile(t, "floor/floor_test.go"); got != want {
		t.Errorf("the Go code is not that of floor/floor_test.go:\n%s", got)
	}
	if got, want := blocks["sh"], "go run ./examples/quickstart\ngo test ./...\n"; got != want {
		t.Errorf("the commands are\n%s\nand should be\n%s", got, want)
	}
	for _, m := range regexp.MustCompile(`(?:\./|\()(examples/\w+)`).FindAllStringSubmatch(readme, -1) {
		if info, err := os.Stat("../" + m[1]); err != nil || !info.IsDir() {
			t.Errorf("README.md names %s, which is not a directory (%v)", m[1], err)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "internal" && !strings.Contains(readme, "(examples/"+e.Name()+")") {
			t.Errorf("README.md does not list examples/%s", e.Name())
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat("../" + m[1]); err != nil {
			t.Errorf("README.md links to %s: %v", m[1], err)
		}
	}
}
