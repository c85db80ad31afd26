package loadtest

import (
	"slices"
	"testing"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// TestCoresCoverAllowed checks that each allowed CPU is in one core, whatever Windows says about cores.
func TestCoresCoverAllowed(t *testing.T) {
	allowed, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	all, err := sys.Cores()
	t.Logf("cores: %v, %v", all, err)
	var covered CPUSet
	for _, c := range cores(allowed) {
		covered = append(covered, c.cpus...)
	}
	slices.Sort(covered)
	if !slices.Equal(covered, allowed) {
		t.Errorf("the cores have CPUs %v, want %v", []int(covered), allowed)
	}
}
