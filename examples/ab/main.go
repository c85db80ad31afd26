// Ab takes the command line of ApacheBench and prints what it prints, so that it can stand in for ab in scripts:
//
//	go run ./examples/ab -n 1000 -c 10 -k http://localhost:8080/
//
// What differs from ab: requests are HTTP/1.1; the path of the URL may be left out; options may follow the URL; the report is printed
// at the end, in one piece; a response of another length than the first is not a failure, so that -l changes nothing. As with ab,
// certificates are not verified.
//
// The exit status is 0 if there were responses, whatever their status; 22, as ab's, if the command line makes no sense; and 1 if there
// was no response, or Ctrl-C ended the run, which prints the partial report.
package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest"
	"github.com/loadtest-go/loadtest/examples/internal/getopt"
)

// badUsage is the exit status of ab for a command line that makes no sense.
const badUsage = 22

func main() {
	log.SetFlags(0)
	log.SetPrefix("ab: ")
	target, opts, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, errDone):
		return
	case err != nil:
		log.Printf("%v (ab -h tells the usage)", err)
		os.Exit(badUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, target, opts); err != nil {
		log.Fatal(err)
	}
}

// errDone is what parse returns if there is nothing left to do.
var errDone = errors.New("done")

// maxTimed is how many requests ab sends at most if -t, but not -n after it, says how long to go on.
const maxTimed = 50_000

func parse(args []string) (*loadtest.HTTP, loadtest.Options, error) {
	target := &loadtest.HTTP{Header: http.Header{"User-Agent": {"loadtest-ab"}, "Accept": {"*/*"}}}
	opts := loadtest.Options{Requests: 1, Concurrency: 1, Timeout: 30 * time.Second}
	fs := flag.NewFlagSet("ab", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // what is wrong is in the error
	fs.Int64Var(&opts.Requests, "n", opts.Requests, "how many `requests` to send")
	fs.IntVar(&opts.Concurrency, "c", opts.Concurrency, "how many `requests` are under way at a time")
	fs.Func("t", fmt.Sprintf("the longest time to go on, in `seconds`; implies -n %d, unless -n follows", maxTimed), func(s string) (err error) {
		opts.Requests = maxTimed
		opts.Duration, err = seconds(s)
		return err
	})
	fs.Func("s", "the longest time to wait for a response, in `seconds` (default 30)", func(s string) (err error) {
		opts.Timeout, err = seconds(s)
		return err
	})
	keep := fs.Bool("k", false, "keep connections alive; otherwise each request has its own")
	fs.Func("H", "a header `line` to send, \"Name: value\"; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, ":")
		if !ok {
			return errors.New("there is no colon in it")
		}
		value = strings.TrimSpace(value)
		switch name = http.CanonicalHeaderKey(strings.TrimSpace(name)); name {
		case "Connection":
			*keep = !strings.EqualFold(value, "close")
			return nil
		case "User-Agent", "Accept":
			target.Header.Del(name)
		}
		target.Header.Add(name, value)
		return nil
	})
	post := fs.String("p", "", "POST the content of this `file`")
	contentType := fs.String("T", "text/plain", "the content `type` of -p")
	method := fs.String("m", "", "the `method` to use")
	head := fs.Bool("i", false, "use HEAD instead of GET")
	fs.Bool("l", false, "accept responses of different lengths; always so here")
	quiet := fs.Bool("q", false, "print no progress")
	version := fs.Bool("V", false, "print the version and end")
	help := fs.Bool("h", false, "print this and end")
	if err := fs.Parse(getopt.Args(fs, args)); err != nil {
		return nil, opts, err
	}

	switch {
	case *help:
		fs.SetOutput(os.Stdout)
		fmt.Println("Usage: ab [options] [http[s]://]hostname[:port]/path")
		fs.PrintDefaults()
		return nil, opts, errDone
	case *version:
		fmt.Println("This is an example of loadtest, which has the command line of ApacheBench 2.3.")
		return nil, opts, errDone
	case fs.NArg() != 1:
		return nil, opts, errors.New("wrong number of arguments")
	case opts.Requests < 1:
		return nil, opts, errors.New("invalid number of requests")
	case opts.Concurrency < 1 || int64(opts.Concurrency) > opts.Requests:
		return nil, opts, errors.New("the concurrency must be at least 1 and not exceed the number of requests")
	case *head && *post != "":
		return nil, opts, errors.New("cannot mix POST and HEAD")
	}
	u, err := parseURL(fs.Arg(0))
	if err != nil {
		return nil, opts, err
	}
	target.URL = u.String()
	if u.Scheme == "https" {
		target.TLS = &tls.Config{InsecureSkipVerify: true} // as ab does: it is the speed of the server that is in question
	}
	target.Method = *method
	target.DisableKeepAlive = !*keep
	if *head {
		target.Method = cmp.Or(*method, http.MethodHead)
	}
	if *post != "" {
		if target.Body, err = os.ReadFile(*post); err != nil {
			return nil, opts, err
		}
		target.Method = cmp.Or(*method, http.MethodPost)
		if target.Header.Get("Content-Type") == "" {
			target.Header.Set("Content-Type", *contentType)
		}
	}
	if every := max(opts.Requests/10, 100); !*quiet && opts.Requests > 150 {
		opts.Progress = milestones(every)
	}
	return target, opts, nil
}

func seconds(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s + "s")
	if err == nil && d <= 0 {
		err = errors.New("must be more than 0")
	}
	return d, err
}

func parseURL(s string) (*url.URL, error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		err = errors.New("invalid URL")
	}
	return u, err
}

// milestones prints as ab does how many requests are done, each time that every more are. They come in bursts, once a second.
func milestones(every int64) func(loadtest.Progress) {
	next := every
	return func(p loadtest.Progress) {
		for ; next <= p.Requests; next += every {
			fmt.Fprintf(os.Stderr, "Completed %d requests\n", next)
		}
	}
}

func run(ctx context.Context, target *loadtest.HTTP, opts loadtest.Options) error {
	if err := probe(ctx, target.URL, opts.Timeout); err != nil {
		return err
	}
	r, err := loadtest.Run(ctx, target, opts)
	if r == nil {
		return err
	}
	if opts.Progress != nil {
		fmt.Fprintf(os.Stderr, "Finished %d requests\n\n\n", r.Requests)
	}
	err = errors.Join(err, loadtest.WriteAB(os.Stdout, r))
	if err == nil && len(r.Statuses) == 0 {
		err = errors.New("no response")
		for kind, e := range r.Errors {
			err = fmt.Errorf("%w: %d times %s: %s", err, e.Count, kind, e.Sample)
		}
	}
	return err
}

// probe opens a connection and closes it: if there is no server, ab ends at once instead of failing n times.
func probe(ctx context.Context, rawURL string, timeout time.Duration) error {
	u, err := url.Parse(rawURL)
	if err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), u.Scheme)))
	if err != nil {
		return err
	}
	return conn.Close()
}
