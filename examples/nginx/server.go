package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest"
	"github.com/loadtest-go/loadtest/examples/internal/embedded"
)

// configuration keeps everything in the directory that nginx is told with -p, and makes it a single process: what is pinned is
// all there is. It is filled with the port.
const configuration = `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	default_type text/plain;
	keepalive_requests 1000000000;
	server {
		listen 127.0.0.1:%d backlog=1024;
		location = / { return 200 "test"; }
		location = /file { root html; }
		location = /status { stub_status; }
	}
}
`

// fileSize is that of the welcome page of nginx, which older benchmarks load.
const fileSize = 612

// An nginx is one that runs from a directory of its own.
type nginx struct {
	url     string
	dir     string
	process *embedded.Process
}

// startNginx starts nginx on cpus and waits until it answers.
func startNginx(ctx context.Context, cpus loadtest.CPUSet) (*nginx, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		const sbin = "/usr/sbin/nginx" // where Debian has it, outside of most users' PATH
		if program, err = exec.LookPath(sbin); err != nil {
			return nil, errors.New("nginx is not installed; on Debian: apt-get install nginx-light, on macOS: brew install nginx")
		}
	}
	for try := 1; ; try++ {
		s, err := tryNginx(ctx, program, cpus)
		if err == nil || ctx.Err() != nil || try == 3 || !strings.Contains(err.Error(), "in use") {
			return s, err // unless another process has taken the port in the meantime
		}
	}
}

func tryNginx(ctx context.Context, program string, cpus loadtest.CPUSet) (_ *nginx, err error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "loadtest-nginx-")
	if err != nil {
		return nil, err
	}
	s := &nginx{url: fmt.Sprintf("http://127.0.0.1:%d", port), dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	config := filepath.Join(dir, "nginx.conf")
	if err := os.Mkdir(filepath.Join(dir, "html"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "html", "file"), bytes.Repeat([]byte("x"), fileSize), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, configuration, port), 0o644); err != nil {
		return nil, err
	}

	cmd := exec.Command(program, "-p", dir, "-c", config, "-e", "stderr")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	process, err := embedded.Start(cmd, cpus)
	if err != nil {
		return nil, err
	}
	s.process = process
	for {
		if _, err := s.requests(); err == nil {
			return s, nil
		}
		select {
		case <-process.Exited():
			s.process = nil
			return nil, fmt.Errorf("nginx: %w: %s", process.Wait(), bytes.TrimSpace(complaints.Bytes()))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// freePort returns a port that nothing listens on at the moment.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// requests returns how many requests nginx has counted since it was started, this one included.
func (s *nginx) requests() (int64, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	response, err := client.Get(s.url + "/status")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	status, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	_, counts, _ := strings.Cut(string(status), "requests")
	var accepts, handled, requests int64
	if _, err := fmt.Sscan(counts, &accepts, &handled, &requests); err != nil {
		return 0, fmt.Errorf("nginx's status page: %w: %q", err, status)
	}
	return requests, nil
}

// counted returns how many requests nginx has counted while f ran.
func (s *nginx) counted(f func() error) (int64, error) {
	before, err := s.requests()
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := s.requests()
	return after - before - 1, err // the question itself is a request
}

// close ends nginx and removes its directory.
func (s *nginx) close() error {
	var err error
	if s.process != nil {
		err = s.process.Stop(func() error { return s.process.Signal(syscall.SIGQUIT) })
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
