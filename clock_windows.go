package loadtest

import (
	"time"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// tick is the state of the performance counter. time.Now and time.Since read the interrupt time on Windows, which advances in steps
// of 0.5 to 15.6 ms (golang.org/issue/31160, golang.org/issue/67066): most responses on a local network would take either no time or one
// step. The performance counter has steps of 100 ns or less.
type tick struct {
	counter   int64
	frequency int64 // per second; 0: in a synctest bubble, where time is time.Since
}

// startTick reads the counter, unless start is from inside a testing/synctest bubble. Time stands still there while any
// goroutine runs and jumps while all wait; the counter knows nothing of that. A bubble's clock begins at 2000-01-01,
// and no other clock is before this package existed, save one that nobody has set: that gets the coarse time.
func startTick(start time.Time) tick {
	if start.Year() < 2020 {
		return tick{}
	}
	return tick{counter: sys.Counter(), frequency: sys.CounterFrequency()}
}

// now returns the time since the clock was started. It never goes back and allocates nothing.
func (c clock) now() time.Duration {
	if c.tick.frequency == 0 {
		return time.Since(c.start)
	}
	return sys.CounterDuration(sys.Counter()-c.tick.counter, c.tick.frequency)
}
