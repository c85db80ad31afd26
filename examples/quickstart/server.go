package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/loadtest-go/loadtest"
	"github.com/loadtest-go/loadtest/examples/internal/embedded"
)

// serve is the whole of the server process. It prints its URL once it accepts connections, and ends when its standard input is closed,
// which also happens when its parent dies.
func serve() error {
	signal.Ignore(os.Interrupt) // Ctrl-C is for the parent, which still has a report to print
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "Hello")
	}))
}

// A server is a process that runs serve.
type server struct {
	url     string
	process *embedded.Process
	stdin   io.Closer
}

// startServer runs this program again as a server on cpus, and waits until it accepts connections.
func startServer(cpus loadtest.CPUSet) (*server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, childStdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	cmd.Stdout = childStdout
	process, err := embedded.Start(cmd, cpus)
	childStdout.Close()
	if err != nil {
		return nil, err
	}
	s := &server{process: process, stdin: stdin}
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not tell its address: %w", err), s.close())
	}
	s.url = strings.TrimSpace(url)
	return s, nil
}

// close ends the server process and waits for it.
func (s *server) close() error { return s.process.Stop(s.stdin.Close) }
