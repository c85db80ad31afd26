// Customtarget loads a server that does not speak HTTP, here one that answers PING lines over TCP as Redis does. All that it takes is a
// Target that makes clients, and a Client that does one request at a time; warm-up, timeouts, percentiles and the report come with Run.
//
//	go run ./examples/customtarget
//	go run ./examples/customtarget localhost:6379
//
// With an address it loads the server there. Ctrl-C ends the run early and prints what there is.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest"
)

// A pingTarget is a server that answers PING with +PONG.
type pingTarget struct{ addr string }

// String names the target in reports.
func (t pingTarget) String() string { return "PING " + t.addr }

// NewClient is called by Run, once for each of Options.Concurrency clients.
func (t pingTarget) NewClient(context.Context, int) (loadtest.Client, error) {
	return &pingClient{addr: t.addr}, nil
}

// A pingClient has one connection, which it opens when it needs one.
type pingClient struct {
	addr    string
	conn    net.Conn
	replies *bufio.Reader
}

// Do is one request. Run measures how long it takes, and ends ctx at the timeout or when the run is over.
func (c *pingClient) Do(ctx context.Context) (n int64, err error) {
	if c.conn == nil {
		c.conn, err = new(net.Dialer).DialContext(ctx, "tcp", c.addr)
		if err != nil {
			c.conn = nil
			return 0, err
		}
		c.replies = bufio.NewReader(c.conn)
	}
	conn := c.conn
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) }) // makes Read and Write return
	defer func() {
		if !stop() || err != nil {
			_ = c.Close() // a late reply would be taken for that of the next request
		}
	}()

	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return 0, err
	}
	reply, err := c.replies.ReadString('\n')
	if err == nil && reply != "+PONG\r\n" {
		err = fmt.Errorf("unexpected reply %q", reply)
	}
	return int64(len(reply)), err
}

// Close is called by Run at the end.
func (c *pingClient) Close() error {
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("customtarget: ")
	if len(os.Args) > 2 {
		fmt.Fprintln(os.Stderr, "Usage: customtarget [host:port]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	var addr string
	if len(args) > 0 {
		addr = args[0]
	} else {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer listener.Close()
		go serve(listener)
		addr = listener.Addr().String()
	}
	r, err := loadtest.Run(ctx, pingTarget{addr}, loadtest.Options{
		Concurrency: 4,
		Warmup:      500 * time.Millisecond,
		Duration:    2 * time.Second,
	})
	if r != nil { // if there is an error as well: what was measured before it
		err = errors.Join(err, loadtest.WriteText(os.Stdout, r))
	}
	if err == nil && r.Succeeded() == 0 {
		err = errors.New("no request succeeded")
	}
	return err
}

// serve answers each line, until listener is closed.
func serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			lines := bufio.NewScanner(conn)
			for lines.Scan() {
				reply := "-ERR unknown command\r\n"
				if lines.Text() == "PING" {
					reply = "+PONG\r\n"
				}
				if _, err := io.WriteString(conn, reply); err != nil {
					return
				}
			}
		}()
	}
}
