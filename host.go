package loadtest

import (
	"runtime"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// A Host is the machine and the toolchain that a result comes from. What the system does not tell is "".
type Host struct {
	OS        string // as in runtime.GOOS
	Arch      string // as in runtime.GOARCH
	CPU       string // the processor's name
	Kernel    string // the kernel's release, or the version of Windows
	GoVersion string
	CPUs      int  // logical CPUs that the process may use
	Race      bool // the race detector was on
}

// thisHost describes the host of this process. It may read files; call it outside the measured interval.
func thisHost() Host {
	h := Host{
		OS:        runtime.GOOS,
		Arch:      runtime.GOARCH,
		CPU:       cpuModel(),
		Kernel:    sys.KernelRelease(),
		GoVersion: runtime.Version(),
		CPUs:      runtime.NumCPU(),
		Race:      raceEnabled,
	}
	if cpus, err := sys.AllowedCPUs(); err == nil {
		h.CPUs = len(cpus)
	}
	return h
}

// stealTime returns how long a hypervisor gave the CPUs to others while they had work to do, and all the time that there was, as counts
// of clock ticks since the system was started: the share stolen between two readings is the ratio of the differences. Empty cpus
// are all that the process may use. It is false if the system does not tell, for each of cpus: only Linux does.
func stealTime(cpus CPUSet) (steal, total uint64, ok bool) {
	if len(cpus) == 0 {
		allowed, err := sys.AllowedCPUs()
		if err != nil {
			return 0, 0, false
		}
		cpus = allowed
	}
	return readStealTime(cpus)
}
