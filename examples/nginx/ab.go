package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/loadtest-go/loadtest/examples/internal/embedded"
)

// An abReport is what ab says, and how many requests nginx has counted meanwhile.
type abReport struct {
	throughput                float64
	complete, failed, counted int64
}

var abLine = regexp.MustCompile(`(?m)^(Complete requests|Failed requests|Requests per second): +([0-9.]+)`)

// runAB runs ab on the generator's CPUs.
func (c *comparison) runAB(ctx context.Context, url string, concurrency int) (abReport, error) {
	args := []string{"-q", "-n", strconv.FormatInt(c.n, 10), "-c", strconv.Itoa(concurrency)}
	if c.keep {
		args = append(args, "-k")
	}
	cmd := exec.CommandContext(ctx, c.ab, append(args, url)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var r abReport
	var err error
	r.counted, err = c.nginx.counted(func() error {
		p, err := embedded.Start(cmd, c.cpus)
		if err == nil {
			err = p.Wait()
		}
		return err
	})
	if err != nil {
		return abReport{}, fmt.Errorf("ab: %w: %s", err, bytes.TrimSpace(out.Bytes()))
	}
	for _, m := range abLine.FindAllStringSubmatch(out.String(), -1) {
		switch m[1] {
		case "Complete requests":
			r.complete, err = strconv.ParseInt(m[2], 10, 64)
		case "Failed requests":
			r.failed, err = strconv.ParseInt(m[2], 10, 64)
		case "Requests per second":
			r.throughput, err = strconv.ParseFloat(m[2], 64)
		}
		if err != nil {
			return abReport{}, fmt.Errorf("ab: %q: %w", m[0], err)
		}
	}
	if r.throughput == 0 {
		return abReport{}, fmt.Errorf("ab: no throughput in its output: %s", out.String())
	}
	return r, nil
}
