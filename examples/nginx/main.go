// Nginx loads a real nginx at one concurrency after the other, checks the counts against those of nginx itself, and runs ab beside
// loadtest, if ab is installed:
//
//	go run ./examples/nginx
//	go run ./examples/nginx -n 20000 -k
//
// nginx has one worker on one CPU, the generator another CPU. It is started from a configuration in a temporary directory, on a free
// port of 127.0.0.1, and is gone afterwards; an nginx that is running already is not touched. On Debian, apt-get install nginx-light
// apache2-utils has both programs. Ctrl-C ends it early and prints what there is.
//
// The exit status is 1 if nginx has counted other requests than loadtest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/loadtest-go/loadtest"
	"github.com/loadtest-go/loadtest/examples/internal/embedded"
)

var concurrencies = []int{1, 2, 4, 8, 16, 32, 64}

func main() {
	log.SetFlags(0)
	log.SetPrefix("nginx: ")
	n := flag.Int64("n", 1000, "`requests` at each concurrency")
	keep := flag.Bool("k", false, "keep connections alive; otherwise each request has its own, as with ab without -k")
	flag.Parse()
	if flag.NArg() > 0 || *n < int64(concurrencies[len(concurrencies)-1]) {
		fmt.Fprintf(os.Stderr, "Usage: nginx [-n requests] [-k]; at least %d requests\n", concurrencies[len(concurrencies)-1])
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, *n, *keep); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, n int64, keep bool) (err error) {
	generator, server, err := embedded.OneCPUEach()
	if err != nil {
		fmt.Println("Server and generator are not pinned:", err)
	} else {
		fmt.Printf("nginx has CPU %v, the generator CPU %v.\n", server, generator)
	}
	ab, err := exec.LookPath("ab")
	if err != nil {
		fmt.Println("ab is not installed (on Debian: apt-get install apache2-utils), so there is nothing to compare with.")
	}
	nginx, err := startNginx(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nginx.close()) }()
	c := &comparison{nginx: nginx, ab: ab, cpus: generator, n: n, keep: keep}
	for _, path := range []string{"/", "/file"} {
		if err := c.load(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// A comparison is what all the runs have in common.
type comparison struct {
	nginx *nginx
	ab    string // the program; "": not installed
	cpus  loadtest.CPUSet
	n     int64
	keep  bool
}

// load runs loadtest and ab in turn, so that what changes on the machine meanwhile changes it for both, and prints both.
func (c *comparison) load(ctx context.Context, path string) error {
	target := &loadtest.HTTP{URL: c.nginx.url + path, DisableKeepAlive: !c.keep}
	// The first requests to nginx are slower than those after them.
	if _, err := c.runLoadtest(ctx, target, loadtest.Options{Concurrency: 8, Requests: 1000}); err != nil {
		return err
	}
	var results []*loadtest.Result
	var abs []abReport
	var failure error
	for _, concurrency := range concurrencies {
		var r *loadtest.Result
		r, failure = c.runLoadtest(ctx, target, loadtest.Options{Concurrency: concurrency, Requests: c.n})
		if r != nil {
			results = append(results, r)
		}
		if failure == nil && c.ab != "" {
			var a abReport
			a, failure = c.runAB(ctx, target.URL, concurrency)
			abs = append(abs, a)
		}
		if failure != nil {
			break // and print what there is
		}
	}

	fmt.Println()
	if err := loadtest.WriteText(os.Stdout, results...); err != nil {
		return errors.Join(failure, err)
	}
	if failure != nil {
		return failure
	}
	fmt.Println("Counts          nginx counted the same requests in each row")
	if c.ab != "" {
		printBeside(results, abs)
	}
	return nil
}

// runLoadtest checks what loadtest counts against what nginx does.
func (c *comparison) runLoadtest(ctx context.Context, target *loadtest.HTTP, opts loadtest.Options) (r *loadtest.Result, err error) {
	opts.CPUs = c.cpus
	counted, err := c.nginx.counted(func() (err error) {
		r, err = loadtest.Run(ctx, target, opts)
		return err
	})
	switch {
	case err != nil:
	case r.Succeeded() != opts.Requests:
		err = fmt.Errorf("%d of %d requests succeeded", r.Succeeded(), opts.Requests)
	case counted != r.Requests+r.Resent:
		err = fmt.Errorf("nginx counted %d requests, loadtest %d", counted, r.Requests+r.Resent)
	}
	return r, err
}

func printBeside(results []*loadtest.Result, abs []abReport) {
	fmt.Println("\nBeside ab")
	fmt.Println()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "concurrency\treq/s\tab's req/s\tratio\tcompleted\tab's completed\tab's failed\tnginx counted of ab\t")
	for i, r := range results {
		a := abs[i]
		fmt.Fprintf(w, "%d\t%.0f\t%.0f\t%.2f\t%d\t%d\t%d\t%d\t\n",
			r.Options.Concurrency, r.Throughput(), a.throughput, r.Throughput()/a.throughput, r.Requests, a.complete, a.failed, a.counted)
	}
	w.Flush()
}
