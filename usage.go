package loadtest

import (
	"time"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// A cpuTime is what threads or processes have used of the CPUs up to some moment; the difference of two is what they used between.
type cpuTime struct{ user, system time.Duration }

func (t cpuTime) minus(u cpuTime) cpuTime { return cpuTime{t.user - u.user, t.system - u.system} }

// threadCPUTime returns the CPU time of the calling thread, so the goroutine must be locked to it from one reading to the next. It is
// false where the system does not tell (macOS). On Windows it advances in steps of 15.6 ms.
func threadCPUTime() (cpuTime, bool) {
	user, system, err := sys.ThreadUsage()
	return cpuTime{user, system}, err == nil
}

// processCPUTime returns the CPU time of this process, with the threads that have ended but without its children, and the largest
// resident set that it has had, in bytes.
func processCPUTime() (t cpuTime, maxRSS int64, ok bool) {
	user, system, maxRSS, err := sys.ProcessUsage()
	return cpuTime{user, system}, maxRSS, err == nil
}
