package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/loadtest-go/loadtest"
)

// A bar shows the progress of a run: one line that is redrawn on a terminal, a line a second elsewhere.
type bar struct {
	out      *os.File
	terminal bool
}

func newBar(out *os.File) *bar {
	info, err := out.Stat()
	return &bar{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// draw is called about once a second, and at the end of each phase.
func (b *bar) draw(p loadtest.Progress) {
	if p.Phase == "drain" {
		return // waits for the last responses
	}
	const width = 30
	full := 0
	if p.Total > 0 {
		full = int(width * min(p.Elapsed, p.Total) / p.Total)
	}
	line := fmt.Sprintf("%-7s [%s%s] %6.0f req/s", p.Phase, strings.Repeat("#", full), strings.Repeat(".", width-full), p.Throughput)
	if p.P99 > 0 {
		line += fmt.Sprintf(", p99 %v", p.P99.Round(10*time.Microsecond))
	}
	if p.Failed > 0 {
		line += fmt.Sprintf(", %d failed", p.Failed)
	}
	if eta, ok := p.ETA(); ok {
		line += fmt.Sprintf(", %.0f s left", eta.Seconds())
	}
	if b.terminal {
		fmt.Fprintf(b.out, "\r%s\x1b[K", line)
	} else {
		fmt.Fprintln(b.out, line)
	}
}

// clear makes room for what is printed next.
func (b *bar) clear() {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
