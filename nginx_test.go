package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// nginxConfig keeps nginx, a master and one worker, to the directory given with -p. It lacks the user's line, the CPU's and the port.
// At /stalls the fiftieth request of a connection gets the first bytes of its response and, for seconds, no more.
const nginxConfig = `
daemon off;
%s
pid nginx.pid;
worker_processes 1;
%s
error_log error.log warn;
events { worker_connections 1024; }
http {
	log_format counted '$connection $status $bytes_sent $body_bytes_sent $request_length "$http_user_agent"';
	access_log access.log counted;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	root html;
	keepalive_requests 1000000;
	map $connection_requests $rate { default 0; 50 100; }
	server {
		listen 127.0.0.1:%d;
		location = / { return 200 "test"; }
		location = /closes { keepalive_requests 100; return 200 "test"; }
		location = /stalls { limit_rate $rate; try_files /index.html =500; }
	}
}
`

// A realNginx is an nginx that was started for a test.
type realNginx struct {
	url, dir  string
	generator CPUSet // a CPU that the worker does not use; empty: the process may not use two cores
	stop      func() // ends it, if it has not ended; then the access log is complete
}

// startNginx starts nginx, and ends it with the test.
func startNginx(t *testing.T) *realNginx {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/nginx") // where Debian has it, outside of most users' PATH
	}
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("nginx is not installed: nothing to load")
	}
	s := &realNginx{dir: t.TempDir()}
	var user, affinity string
	if os.Getuid() == 0 {
		user = "user root;" // the directory is closed to others
	}
	generator, server, err := SplitCPUs(1)
	if err == nil {
		err = checkPin(generator)
	}
	if err == nil {
		s.generator = generator[:1]
		affinity = "worker_cpu_affinity 1" + strings.Repeat("0", server[0]) + ";"
	} else {
		t.Logf("nginx and generator are not pinned: %v", err)
	}

	// nginx is given a socket that listens, as a new nginx is by the one that it replaces. A free port found here could be taken by the time
	// nginx asks for it.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	s.url = "http://" + listener.Addr().String()
	config := fmt.Sprintf(nginxConfig, user, affinity, listener.Addr().(*net.TCPAddr).Port)
	s.write(t, "nginx.conf", config)
	s.write(t, "html/index.html", strings.Repeat("x", 612)) // as much as the page that welcomes to nginx

	cmd := exec.Command(program, "-p", s.dir, "-c", filepath.Join(s.dir, "nginx.conf"), "-e", filepath.Join(s.dir, "error.log"))
	cmd.Env = append(os.Environ(), "NGINX=3;")
	cmd.ExtraFiles = []*os.File{socket}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	s.stop = sync.OnceFunc(func() {
		stopNginx(t, cmd.Process, exited)
		if errorLog, _ := os.ReadFile(filepath.Join(s.dir, "error.log")); t.Failed() {
			t.Logf("nginx's error log:\n%s", errorLog)
		}
	})
	t.Cleanup(s.stop)

	if err := errors.Join(socket.Close(), listener.Close()); err != nil { // an nginx that does not start is to refuse connections
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	response, err := client.Get(s.url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if s.generator != nil {
		checkNginxCPU(t, cmd.Process.Pid, server[:1])
	}
	return s
}

func (s *realNginx) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// stopNginx has nginx finish what it is at and end. If it does not, the master is told to kill its worker, and at last is killed itself.
func stopNginx(t *testing.T, master *os.Process, exited <-chan error) {
	t.Helper()
	for _, signal := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGKILL} {
		_ = master.Signal(signal) // fails only if it has ended
		select {
		case err := <-exited:
			if err != nil {
				t.Errorf("nginx: %v", err)
			}
			return
		case <-time.After(5 * time.Second):
			t.Errorf("nginx did not end within 5 s of the signal %q", signal)
		}
	}
}

// checkNginxCPU checks what worker_cpu_affinity has done, where /proc says it.
func checkNginxCPU(t *testing.T, master int, want CPUSet) {
	t.Helper()
	workers, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", master))
	if err != nil {
		return
	}
	for worker := range strings.FieldsSeq(string(workers)) {
		status, _ := os.ReadFile("/proc/" + worker + "/status")
		got := regexp.MustCompile(`Cpus_allowed_list:\s*(\S+)`).FindSubmatch(status)
		if got == nil || string(got[1]) != want.String() {
			t.Errorf("nginx's worker may use CPUs %s, want %v", got, want)
		}
	}
}

// nginxCounts is what nginx has logged of the requests of one user agent.
type nginxCounts struct {
	requests, bytesSent, bodyBytes, requestBytes int64
	statuses                                     map[int]int64
	connections                                  map[string]int64 // requests on each
}

// counts ends nginx and reads its access log.
func (s *realNginx) counts(t *testing.T) map[string]*nginxCounts {
	t.Helper()
	s.stop()
	log, err := os.ReadFile(filepath.Join(s.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*nginxCounts{}
	for line := range strings.Lines(string(log)) {
		var connection, agent string
		var status int
		var sent, body, received int64
		if _, err := fmt.Sscanf(line, "%s %d %d %d %d %q", &connection, &status, &sent, &body, &received, &agent); err != nil {
			t.Fatalf("access log: %v: %q", err, line)
		}
		c := all[agent]
		if c == nil {
			c = &nginxCounts{statuses: map[int]int64{}, connections: map[string]int64{}}
			all[agent] = c
		}
		c.requests++
		c.bytesSent += sent
		c.bodyBytes += body
		c.requestBytes += received
		c.statuses[status]++
		c.connections[connection]++
	}
	return all
}

// A nginxRun is one Run against nginx, which knows its requests by their user agent.
type nginxRun struct {
	agent  string
	result *Result
}

// load runs target with the path of s in place of its URL.
func (s *realNginx) load(t *testing.T, path string, target HTTP, opts Options) nginxRun {
	t.Helper()
	agent := strings.ReplaceAll(t.Name(), " ", "_")
	target.URL = s.url + path
	target.Header = http.Header{"User-Agent": {agent}}
	opts.CPUs = s.generator
	r, err := Run(t.Context(), &target, opts)
	if err != nil {
		t.Fatal(err)
	}
	return nginxRun{agent, r}
}

// A real nginx, on a CPU of its own, logs every request. Its log and the Result agree, to the unit.
func TestNginx(t *testing.T) {
	s := startNginx(t)
	const n = 1000
	var runs []nginxRun
	for _, c := range []int{1, 2, 7, 16, 64} {
		t.Run(fmt.Sprintf("%d clients", c), func(t *testing.T) {
			run := s.load(t, "/", HTTP{}, Options{Concurrency: c, Requests: n})
			checkNginxResult(t, run.result, n, 4)
			checkKeptAlive(t, run.result, int64(c))
			runs = append(runs, run)
		})
		t.Run(fmt.Sprintf("%d clients, a file", c), func(t *testing.T) {
			run := s.load(t, "/index.html", HTTP{}, Options{Concurrency: c, Requests: n})
			checkNginxResult(t, run.result, n, 612)
			checkKeptAlive(t, run.result, int64(c))
			runs = append(runs, run)
		})
	}
	t.Run("fewer requests than clients", func(t *testing.T) {
		run := s.load(t, "/", HTTP{}, Options{Concurrency: 16, Requests: 5})
		checkNginxResult(t, run.result, 5, 4)
		checkKeptAlive(t, run.result, 5)
		runs = append(runs, run)
	})
	t.Run("no keep-alive", func(t *testing.T) {
		run := s.load(t, "/", HTTP{DisableKeepAlive: true}, Options{Concurrency: 7, Requests: n})
		checkNginxResult(t, run.result, n, 4)
		if c := run.result.Connections; c != n {
			t.Errorf("%d connections, want one for each of %d requests", c, n)
		}
		runs = append(runs, run)
	})
	t.Run("keep-alive for 100 requests", func(t *testing.T) {
		run := s.load(t, "/closes", HTTP{}, Options{Concurrency: 7, Requests: n})
		r := run.result
		checkNginxResult(t, r, n, 4)
		if r.Connections < n/100 || r.Connections > n/100+7 {
			t.Errorf("%d connections, want one for every 100 requests, and up to one more for each of 7 clients", r.Connections)
		}
		runs = append(runs, run)
	})
	t.Run("warm-up and abandoned", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes a second")
		}
		opts := Options{
			Concurrency: 7, ThinkTime: 4 * time.Millisecond,
			Warmup: 100 * time.Millisecond, Duration: 900 * time.Millisecond, Drain: 20 * time.Millisecond,
		}
		run := s.load(t, "/stalls", HTTP{}, opts)
		if r := run.result; r.WarmupRequests == 0 || r.WarmupRequests+r.Requests != 49*7 || r.Abandoned != 7 || r.Failed != 0 {
			t.Errorf("%d warm-up requests, %d completed, %d abandoned, %d failed; want 49*7 of the first two together, 7, 0",
				r.WarmupRequests, r.Requests, r.Abandoned, r.Failed)
		}
		runs = append(runs, run)
	})

	logged := s.counts(t)
	for _, run := range runs {
		r, got := run.result, logged[run.agent]
		if got == nil {
			t.Errorf("%s: nothing in the access log", run.agent)
			continue
		}
		if want := r.WarmupRequests + r.Requests + r.Abandoned; got.requests != want {
			t.Errorf("%s: nginx logged %d requests, want %d", run.agent, got.requests, want)
		}
		if int64(len(got.connections)) != r.Connections {
			t.Errorf("%s: nginx logged %d connections, we opened %d", run.agent, len(got.connections), r.Connections)
		}
		if r.Abandoned > 0 || r.WarmupRequests > 0 {
			continue // what is measured is not all there was
		}
		if !maps.Equal(got.statuses, r.Statuses) {
			t.Errorf("%s: nginx logged the statuses %v, we got %v", run.agent, got.statuses, r.Statuses)
		}
		ours := []int64{r.BytesRead, r.BodyBytes, r.BytesWritten}
		if diff := cmp.Diff([]int64{got.bytesSent, got.bodyBytes, got.requestBytes}, ours); diff != "" {
			t.Errorf("%s: bytes read, of bodies, and written (-nginx +loadtest):\n%s", run.agent, diff)
		}
	}
}

// checkNginxResult checks a run of n requests that all succeed, with bodies of size bytes.
func checkNginxResult(t *testing.T, r *Result, n, size int64) {
	t.Helper()
	if r.Requests != n || r.Failed+r.Abandoned+r.Resent+r.WarmupRequests != 0 {
		t.Errorf("%d requests, %d failed (%s), %d abandoned, %d sent again, %d in the warm-up; want %d and no others",
			r.Requests, r.Failed, r.describeErrors(), r.Abandoned, r.Resent, r.WarmupRequests, n)
	}
	if want := map[int]int64{200: n}; !maps.Equal(r.Statuses, want) {
		t.Errorf("statuses %v, want %v", r.Statuses, want)
	}
	if r.BodyBytes != n*size {
		t.Errorf("%d bytes of bodies, want %d", r.BodyBytes, n*size)
	}
}

// checkKeptAlive checks that each client had one connection. On a busy machine some clients come too late to get any of the requests, and
// then have none.
func checkKeptAlive(t *testing.T, r *Result, most int64) {
	t.Helper()
	if r.Connections > most || r.Clients.Min > 0 && r.Connections != most {
		t.Errorf("%d connections, want %d (requests of each client: %+v)", r.Connections, most, r.Clients)
	}
}

// ab and Run load the same nginx: what WriteAB prints has the counts that ab prints, and nginx has seen as many requests of both.
func TestNginxBesideAB(t *testing.T) {
	s := startNginx(t)
	const n = 1000
	tests := []struct {
		name, path string
		args       []string
		http       HTTP
	}{
		{name: "text", path: "/", http: HTTP{DisableKeepAlive: true}},
		{name: "file", path: "/index.html", http: HTTP{DisableKeepAlive: true}},
		{name: "keep-alive", path: "/index.html", args: []string{"-k"}},
		{name: "404", path: "/missing", args: []string{"-k"}, http: HTTP{Status: 404}},
	}
	var agents []string
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := t.Name() + "/ab"
			args := append(test.args, "-q", "-n", strconv.Itoa(n), "-c", "7", "-H", "User-Agent: "+agent, s.url+test.path)
			want := runTool(t, "ab", args...)
			run := s.load(t, test.path, test.http, Options{Concurrency: 7, Requests: n})
			agents = append(agents, agent, run.agent)
			var b bytes.Buffer
			if err := WriteAB(&b, run.result); err != nil {
				t.Fatal(err)
			}
			for _, pattern := range abPatterns[:abSameValue] {
				re := regexp.MustCompile(pattern)
				if diff := cmp.Diff(re.FindString(want), re.FindString(b.String())); diff != "" {
					t.Errorf("-ab +loadtest:\n%s", diff)
				}
			}
			if !strings.Contains(b.String(), "\nServer Software:        nginx") {
				t.Errorf("no nginx in %s", b.String())
			}
		})
	}
	logged := s.counts(t)
	for _, agent := range agents {
		if got := logged[agent]; got == nil || got.requests != n {
			t.Errorf("%s: nginx logged %+v, want %d requests", agent, got, n)
		}
	}
}
