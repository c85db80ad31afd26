//go:build linux || freebsd

package sys

import (
	"time"

	"golang.org/x/sys/unix"
)

// rssUnit is the unit of getrusage's ru_maxrss, in bytes.
const rssUnit = 1024

// ThreadUsage returns the CPU time of the calling thread. On Linux the sum is exact to the microsecond; how it divides into user
// and system is estimated from clock ticks on kernels that do not account each entry. Does not block.
func ThreadUsage() (user, system time.Duration, err error) {
	user, system, _, err = rusage(unix.RUSAGE_THREAD)
	return user, system, err
}
