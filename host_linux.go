package loadtest

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	return parseCPUModel(f)
}

// parseCPUModel reads the processor's name from the text of /proc/cpuinfo. Each architecture has keys of its own there, and arm64
// has a name on few boards; elsewhere it has the numbers that tools look the name up by.
func parseCPUModel(r io.Reader) string {
	values := map[string]string{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		key = strings.TrimSpace(key)
		if ok && values[key] == "" {
			values[key] = strings.TrimSpace(value)
		}
	}
	arm := ""
	if values["CPU implementer"] != "" {
		arm = "ARM implementer " + values["CPU implementer"] + " part " + values["CPU part"]
	}
	return cmp.Or(values["model name"], // x86, 32-bit ARM
		values["cpu model"], // MIPS
		values["cpu"],       // POWER
		values["uarch"],     // RISC-V
		values["Model"],     // boards with a device tree
		arm)
}

func readStealTime(cpus CPUSet) (steal, total uint64, ok bool) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	defer f.Close()
	return parseStealTime(f, cpus)
}

// parseStealTime adds up the lines of cpus in the text of /proc/stat: "cpu0", then ticks as user, nice, system, idle, iowait, irq, softirq,
// steal, and guest and guest_nice, which are part of user and nice already. It is false unless each CPU has its line.
func parseStealTime(r io.Reader, cpus CPUSet) (steal, total uint64, ok bool) {
	const stealField, summed = 7, 8
	found := 0
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		number, isCPU := strings.CutPrefix(lines.Text(), "cpu")
		if !isCPU {
			break // the CPUs come first; what follows may have lines too long for a Scanner
		}
		fields := strings.Fields(number)
		if len(fields) < 1+summed || number[0] == ' ' { // "cpu " is the sum of all
			continue
		}
		cpu, err := strconv.Atoi(fields[0])
		if err != nil || !slices.Contains(cpus, cpu) {
			continue
		}
		for i, field := range fields[1 : 1+summed] {
			ticks, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return 0, 0, false
			}
			total += ticks
			if i == stealField {
				steal += ticks
			}
		}
		found++
	}
	if found == 0 || found != len(cpus) {
		return 0, 0, false
	}
	return steal, total, true
}
