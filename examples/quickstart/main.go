// Quickstart puts a server under load and prints what it measured.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart http://localhost:8080/
//
// Without a URL it starts a server of its own, in another process: the server is pinned to one CPU, the generator to another, so that
// neither takes time from the other. With a URL it loads that, for as long and with as many clients as -d and -c say; -cpus pins the
// generator. Ctrl-C ends the run early and prints what there is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest"
	"github.com/loadtest-go/loadtest/examples/internal/embedded"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("quickstart: ")
	clients := flag.Int("c", 16, "`clients`, each with one request under way")
	duration := flag.Duration("d", 5*time.Second, "how `long` to measure")
	var cpus loadtest.CPUSet
	flag.TextVar(&cpus, "cpus", cpus, "pin the generator to these `CPUs`, such as 2-3; only with a URL")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "Usage: quickstart [options] [URL]\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	switch {
	case flag.Arg(0) == "serve" && flag.NArg() == 1:
		log.Fatal(serve())
	case flag.NArg() > 1, flag.NArg() == 0 && len(cpus) > 0:
		flag.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	opts := loadtest.Options{Concurrency: *clients, CPUs: cpus, Warmup: time.Second, Duration: *duration}
	if err := run(ctx, flag.Arg(0), opts); err != nil {
		log.Fatal(err)
	}
}

// run loads url, or a server of its own if url is "".
func run(ctx context.Context, url string, opts loadtest.Options) (err error) {
	if url != "" {
		if len(opts.CPUs) == 0 {
			fmt.Fprintln(os.Stderr, "The generator is not pinned. If the server is on this machine, pin it (taskset -c 0), and use -cpus 1 here.")
		}
	} else {
		generator, server, cpuErr := embedded.OneCPUEach()
		if cpuErr != nil {
			fmt.Fprintln(os.Stderr, "Server and generator are not pinned:", cpuErr)
		} else {
			fmt.Fprintf(os.Stderr, "The server has CPU %v, the generator CPU %v.\n", server, generator)
		}
		s, startErr := startServer(server)
		if startErr != nil {
			return startErr
		}
		defer func() { err = errors.Join(err, s.close()) }()
		url, opts.CPUs = s.url, generator
	}

	bar := newBar(os.Stderr)
	opts.Progress = bar.draw
	r, err := loadtest.Run(ctx, &loadtest.HTTP{URL: url}, opts)
	bar.clear()
	if r != nil { // if there is an error as well: what was measured before it
		err = errors.Join(err, loadtest.WriteText(os.Stdout, r))
	}
	if err == nil && r.Succeeded() == 0 {
		err = errors.New("no request succeeded")
	}
	return err
}
