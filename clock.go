package loadtest

import "time"

// A clock is the one clock of a run. Every timestamp of the run is a time since its start; only start itself is a time of day. It is
// immutable, and copied freely to the load threads.
//
// Everywhere but on Windows it is time.Since(start), and so, inside a testing/synctest bubble, is it on Windows; see clock_windows.go.
type clock struct {
	start time.Time
	tick  tick // what the operating system's finer counter said at start, if there is need of one
}

// startClock starts a clock now.
func startClock() clock {
	start := time.Now()
	return clock{start: start, tick: startTick(start)}
}
