package loadtest

import (
	"runtime"
	"testing"
)

func TestThisHost(t *testing.T) {
	h := thisHost()
	if h.OS != runtime.GOOS || h.Arch != runtime.GOARCH || h.GoVersion != runtime.Version() || h.CPUs < 1 || h.Race != raceEnabled {
		t.Errorf("thisHost() = %+v", h)
	}
	switch runtime.GOOS {
	case "linux", "windows", "darwin", "freebsd":
		if h.Kernel == "" {
			t.Errorf("thisHost() has no kernel release: %+v", h)
		}
	}
	t.Logf("%+v", h)
}
