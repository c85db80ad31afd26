//go:build unix

package sys

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessUsage returns the CPU time of this process, of all its threads that are or were, and its largest resident set in bytes.
// Children are not counted. Does not block.
func ProcessUsage() (user, system time.Duration, maxRSS int64, err error) {
	return rusage(unix.RUSAGE_SELF)
}

func rusage(who int) (user, system time.Duration, maxRSS int64, err error) {
	var r unix.Rusage
	if err := unix.Getrusage(who, &r); err != nil {
		return 0, 0, 0, os.NewSyscallError("getrusage", err)
	}
	return time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano()), int64(r.Maxrss) * rssUnit, nil
}
