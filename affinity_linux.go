package loadtest

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// cores groups the allowed CPUs into physical cores.
func cores(allowed CPUSet) []core {
	return readCores(os.DirFS("/sys/devices/system"), allowed)
}

// readCores reads the topology from a tree like /sys/devices/system. A CPU whose files are absent or make no sense is a core of its
// own, as in containers that hide /sys; without a node or level 3 cache to tell, all cores are in one.
func readCores(fsys fs.FS, allowed CPUSet) []core {
	node := map[int]int{} // the lowest CPU of the node that a CPU is in
	lists, _ := fs.Glob(fsys, "node/node*/cpulist")
	for _, name := range lists {
		cpus := readCPUList(fsys, name)
		for _, cpu := range cpus {
			node[cpu] = cpus[0]
		}
	}
	var list []core
	done := map[int]bool{}
	for _, cpu := range allowed {
		if done[cpu] {
			continue
		}
		dir := fmt.Sprintf("cpu/cpu%d/", cpu)
		siblings := readCPUList(fsys, dir+"topology/core_cpus_list")
		if siblings == nil { // the name before Linux 5.3
			siblings = readCPUList(fsys, dir+"topology/thread_siblings_list")
		}
		c := core{cpus: CPUSet{cpu}, node: node[cpu]}
		for _, sibling := range siblings {
			if sibling != cpu && !done[sibling] && slices.Contains(allowed, sibling) {
				c.cpus = append(c.cpus, sibling)
			}
		}
		slices.Sort(c.cpus)
		for _, member := range c.cpus {
			done[member] = true
		}
		if sharers := readCPUList(fsys, dir+"cache/index3/shared_cpu_list"); sharers != nil {
			c.cache = sharers[0]
		}
		list = append(list, c)
	}
	return list
}

// readCPUList reads one of the kernel's lists; nil if there is none.
func readCPUList(fsys fs.FS, name string) CPUSet {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil
	}
	cpus, err := ParseCPUSet(strings.TrimSpace(string(text)))
	if err != nil {
		return nil
	}
	return cpus
}
