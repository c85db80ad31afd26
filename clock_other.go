//go:build !windows

package loadtest

import "time"

// tick is empty: the runtime's monotonic clock counts nanoseconds here.
type tick struct{}

func startTick(time.Time) tick { return tick{} }

// now returns the time since the clock was started. It never goes back, allocates nothing, and reads only the monotonic clock.
func (c clock) now() time.Duration { return time.Since(c.start) }
