// Wrk takes the command line of wrk and prints what it prints, so that it can stand in for wrk in scripts:
//
//	go run ./examples/wrk -t2 -c64 -d10s --latency http://localhost:8080/
//
// What differs from wrk: no scripts (-s). -t says over how many threads the figures of a thread are reckoned, and no more: Go shares
// out the work by itself, and the report ends in a warning that says so. As with wrk, certificates are not verified.
//
// The exit status is 1 if the command line makes no sense, if there was no response, or if Ctrl-C ended the run, which prints the
// partial report.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest"
	"github.com/loadtest-go/loadtest/examples/internal/getopt"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("wrk: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	target := &loadtest.HTTP{Header: http.Header{}}
	opts := loadtest.Options{Threads: 2, Concurrency: 10, Duration: 10 * time.Second, Timeout: 2 * time.Second}
	fs := flag.NewFlagSet("wrk", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // what is wrong is in the error
	option := func(short, long, usage string, set func(string) error) {
		if short != "" {
			fs.Func(short, usage, set)
			usage = "the same as -" + short + ", of this `value`"
		}
		fs.Func(long, usage, set)
	}
	option("t", "threads", "`threads` to reckon with (default 2)", count(&opts.Threads))
	option("c", "connections", "`connections` to keep open, such as 100 or 1k (default 10)", count(&opts.Concurrency))
	option("d", "duration", "how `long` to go on, such as 10, 30s, 2m or 1h (default 10s)", length(&opts.Duration))
	option("H", "header", "a header `line` to send, \"Name: value\"; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, ":")
		target.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		if !ok {
			return errors.New("there is no colon in it")
		}
		return nil
	})
	option("", "timeout", "the `time` to wait for a response (default 2s)", length(&opts.Timeout))
	latency := fs.Bool("latency", false, "print the distribution of latencies")
	version := fs.Bool("v", false, "print the version and end")
	fs.BoolVar(version, "version", false, "the same as -v")
	switch err := fs.Parse(getopt.Args(fs, args)); {
	case errors.Is(err, flag.ErrHelp):
		fs.SetOutput(os.Stdout)
		fmt.Println("Usage: wrk <options> <url>")
		fs.PrintDefaults()
		return nil
	case err != nil:
		return fmt.Errorf("%w (wrk -h tells the usage)", err)
	case *version:
		fmt.Println("An example of loadtest, which has the command line of wrk 4")
		return nil
	case fs.NArg() != 1:
		return errors.New("want one URL (wrk -h tells the usage)")
	case opts.Concurrency < opts.Threads:
		return errors.New("the number of connections must not be less than that of threads")
	}
	target.URL = fs.Arg(0)
	if u, err := url.Parse(target.URL); err == nil && u.Scheme == "https" {
		target.TLS = &tls.Config{InsecureSkipVerify: true} // as wrk does: it is the speed of the server that is in question
	}

	r, err := loadtest.Run(ctx, target, opts)
	if r == nil {
		return err
	}
	err = errors.Join(err, report(r, *latency))
	if err == nil && len(r.Statuses) == 0 {
		err = errors.New("no response")
		for kind, e := range r.Errors {
			err = fmt.Errorf("%w: %d times %s: %s", err, e.Count, kind, e.Sample)
		}
	}
	return err
}

var distribution = regexp.MustCompile(`(?m)^  Latency Distribution\n( +\d+%.*\n)*`)

// report prints r, and the distribution of latencies, which is always in what WriteWrk writes, if it is wanted.
func report(r *loadtest.Result, latency bool) error {
	var page bytes.Buffer
	if err := loadtest.WriteWrk(&page, r); err != nil {
		return err
	}
	text := page.Bytes()
	if !latency {
		text = distribution.ReplaceAll(text, nil)
	}
	_, err := os.Stdout.Write(text)
	return err
}

// count reads a number that may have one of wrk's units: 1k is 1000.
func count(n *int) func(string) error {
	return func(s string) error {
		digits, unit := s, 1
		for suffix, size := range map[string]int{"k": 1e3, "M": 1e6} {
			if d, ok := strings.CutSuffix(s, suffix); ok {
				digits, unit = d, size
			}
		}
		number, err := strconv.ParseUint(digits, 10, 20)
		if err == nil && number == 0 {
			err = errors.New("must be more than 0")
		}
		*n = int(number) * unit
		return err
	}
}

// length reads a time that, without a unit, is in seconds.
func length(d *time.Duration) func(string) error {
	return func(s string) (err error) {
		if _, bare := strconv.ParseUint(s, 10, 64); bare == nil {
			s += "s"
		}
		*d, err = time.ParseDuration(s)
		if err == nil && *d <= 0 {
			err = errors.New("must be more than 0")
		}
		return err
	}
}
