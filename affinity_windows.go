package loadtest

import (
	"slices"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// cores groups the allowed CPUs into physical cores. Nodes and caches are left out: a node is within a processor group, and groups
// follow each other in our numbers. If Windows does not tell, each CPU is a core.
func cores(allowed CPUSet) []core {
	all, err := sys.Cores()
	if err != nil {
		return singles(allowed)
	}
	var list []core
	var known CPUSet
	for _, cpus := range all {
		var c core
		for _, cpu := range cpus {
			if slices.Contains(allowed, cpu) && !slices.Contains(known, cpu) {
				c.cpus = append(c.cpus, cpu)
			}
		}
		if len(c.cpus) > 0 {
			list = append(list, c)
			known = append(known, c.cpus...)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(allowed), func(cpu int) bool { return slices.Contains(known, cpu) })
	return append(list, singles(rest)...)
}
