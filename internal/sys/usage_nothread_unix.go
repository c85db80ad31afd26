//go:build unix && !linux && !freebsd

package sys

import "time"

// rssUnit is the unit of getrusage's ru_maxrss, in bytes. It is bytes on macOS, which is what this file is for.
const rssUnit = 1

// ThreadUsage fails: getrusage knows no threads here. Does not block.
func ThreadUsage() (user, system time.Duration, err error) {
	return 0, 0, unsupported("read a thread's CPU time")
}
