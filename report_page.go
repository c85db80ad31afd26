package loadtest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loadtest-go/loadtest/internal/stat"
)

const (
	labelWidth = 16 // of a label in the first column of a page
	valueWidth = 12 // of a number in the second
)

// writePage writes one result as text: sections with an empty line between them, and none for a section that has nothing to say.
func writePage(b *bytes.Buffer, r *Result) {
	fmt.Fprintln(b, printable(cmp.Or(r.label(), "unnamed"), 500))
	for _, section := range []func(*bytes.Buffer, *Result){
		writeSetting, writeDoubts, writeThroughput, writeLatency, writeRequests, writeTraffic, writeMachine,
	} {
		var text bytes.Buffer
		section(&text, r)
		if text.Len() > 0 {
			b.WriteByte('\n')
			text.WriteTo(b)
		}
	}
}

func writeSetting(b *bytes.Buffer, r *Result) {
	if r.Options.Name != "" {
		writeField(b, "Target", printable(r.Target, 500))
	}
	writeField(b, "Load", describeLoad(r))
	writeField(b, "Measured", describeExtent(r))
	writeField(b, "Generator", describeGenerator(r))
}

func writeDoubts(b *bytes.Buffer, r *Result) {
	for _, warning := range r.Warnings {
		writeNote(b, "WARNING", warning.String())
	}
	if r.hasFailed() {
		writeNote(b, "FAILED ", failureNote(r, ""))
	}
}

func writeMachine(b *bytes.Buffer, r *Result) {
	label := "Generator CPU"
	if len(r.Options.CPUs) == 0 { // what else the process did is in it: see Usage
		label = "Process CPU"
	}
	writeField(b, label, describeUsage(r, r.Generator))
	writeField(b, "Server CPU", describeUsage(r, r.Server))
	writeField(b, "Environment", describeHost(r.Host))
	if !r.Start.IsZero() {
		writeField(b, "Started", r.Start.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
}

// writeField writes a label and text beside it, wrapped; nothing if there is no text.
func writeField(b *bytes.Buffer, label, text string) {
	if text == "" {
		return
	}
	for _, line := range wrap(text, pageWidth-labelWidth) {
		fmt.Fprintf(b, "%-*s%s\n", labelWidth, label, line)
		label = ""
	}
}

// writeNumber writes a label, a number and a remark, which may be empty.
func writeNumber(b *bytes.Buffer, label, number, remark string) {
	line := fmt.Sprintf("%-*s%*s %s", labelWidth, label, valueWidth, number, remark)
	fmt.Fprintln(b, strings.TrimRight(line, " "))
}

func writeThroughput(b *bytes.Buffer, r *Result) {
	remark := "req/s"
	if ci := r.ThroughputCI(reportConfidence); ci.Confidence > 0 {
		remark += fmt.Sprintf(" (%s interval %s to %s)", formatShare(ci.Confidence), formatRate(ci.Lo), formatRate(ci.Hi))
	}
	writeNumber(b, "Throughput", formatRate(r.Throughput()), remark)
	if perCore := r.ThroughputPerCore(); perCore > 0 {
		writeNumber(b, "  per core", formatRate(perCore), "successes per second of the server's CPU time")
	}
}

func writeLatency(b *bytes.Buffer, r *Result) {
	h := r.Latency
	if h.Count() == 0 {
		b.WriteString("Latency\n")
		writeNumber(b, "  all quantiles", "n/a", "(no request succeeded)")
		return
	}
	what := "service time"
	if r.openLoop() {
		what = "response time"
	}
	fmt.Fprintf(b, "Latency (%s, %s; of the %s)\n", what, loopName(r), plural(h.Count(), "success"))
	for _, q := range []struct {
		label string
		q     float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}} {
		number, remark := quantileText(h, q.q)
		if lo, hi, ok := r.LatencyCI(q.q, reportConfidence); ok && q.q == 0.99 {
			remark = fmt.Sprintf("(%s interval %s to %s)", formatShare(reportConfidence), formatDuration(lo), formatDuration(hi))
			if formatDuration(lo) == formatDuration(hi) {
				remark = fmt.Sprintf("(%s interval narrower than these digits)", formatShare(reportConfidence))
			}
		}
		writeNumber(b, "  "+q.label, number, remark)
	}
	writeNumber(b, "  max", formatDuration(h.Max()), "")
	writeNumber(b, "  mean", formatDuration(h.Mean()), "")
	if r.openLoop() {
		writeShort(b, "  service time", r.ServiceTime)
		writeShort(b, "  send lag", r.SendLag)
		writeShort(b, "  queue wait", r.QueueWait)
	}
	writeShort(b, "  first byte", r.FirstByte)
	if r.Connect.Count() > int64(r.Options.Concurrency) { // not the first connection of each client alone
		writeShort(b, "  with the dial", r.TotalTime)
	}
}

// quantileText returns a quantile, or what is missing for it.
func quantileText(h *Histogram, q float64) (number, remark string) {
	if supported(h, q) {
		return formatDuration(h.Quantile(q)), ""
	}
	need := stat.MinSamples(q, reportConfidence)
	return "n/a", fmt.Sprintf("(needs %s, has %s)", plural(need, "success"), formatCount(h.Count()))
}

// writeShort writes a distribution in one line.
func writeShort(b *bytes.Buffer, label string, h *Histogram) {
	if h.Count() == 0 {
		return
	}
	var parts []string
	for _, q := range []struct {
		label string
		q     float64
	}{{"p50 ", 0.5}, {"p99 ", 0.99}} {
		if supported(h, q.q) {
			parts = append(parts, q.label+formatDuration(h.Quantile(q.q)))
		}
	}
	parts = append(parts, "max "+formatDuration(h.Max()))
	writeField(b, label, strings.Join(parts, ", "))
}

func writeRequests(b *bytes.Buffer, r *Result) {
	writeNumber(b, "Requests", formatCount(r.Requests), "completed")
	writeNumber(b, "  succeeded", formatCount(r.Succeeded()), "")
	remark := ""
	if r.Failed > 0 {
		remark = "(" + formatShare(r.ErrorRate()) + ")"
	}
	writeNumber(b, "  failed", formatCount(r.Failed), remark)
	writeFailures(b, r)
	for _, c := range []struct {
		label  string
		count  int64
		remark string
	}{
		{"  drained", r.Drained, "of them after the measured interval, in the drain"},
		{"  abandoned", r.Abandoned, "more had no outcome when the run ended"},
		{"  unsent", r.Unsent, "more were due and never sent"},
		{"  resent", r.Resent, "sent again: the server hung up without an answer"},
		{"  unwritten", r.Unwritten, "failed before a byte of them was written"},
		{"  warm-up", r.WarmupRequests, "before the measured interval, in no other number"},
		{"    failed", r.WarmupFailed, "of those"},
	} {
		if c.count > 0 {
			writeNumber(b, c.label, formatCount(c.count), c.remark)
		}
	}
}

// writeFailures writes each kind of failure, the most frequent first.
func writeFailures(b *bytes.Buffer, r *Result) {
	for _, kind := range kindsByCount(r.Errors) {
		e := r.Errors[kind]
		when := "at " + formatDuration(e.First)
		if e.Count > 1 {
			when = fmt.Sprintf("from %s to %s", formatDuration(e.First), formatDuration(e.Last))
		}
		writeNumber(b, "    "+printable(kind, 50), formatCount(e.Count), when+" after the start")
		if e.Sample != "" {
			for _, line := range wrap(printable(e.Sample, 300), pageWidth-6) {
				fmt.Fprintf(b, "      %s\n", line)
			}
		}
	}
	if h := r.FailedLatency; h.Count() > 0 {
		fmt.Fprintf(b, "    failed after %s to %s, mean %s\n", formatDuration(h.Min()), formatDuration(h.Max()), formatDuration(h.Mean()))
	}
}

func writeTraffic(b *bytes.Buffer, r *Result) {
	var statuses []string
	for _, status := range slices.Sorted(maps.Keys(r.Statuses)) {
		statuses = append(statuses, fmt.Sprintf("%d: %s", status, formatCount(r.Statuses[status])))
	}
	writeField(b, "Statuses", strings.Join(statuses, ", "))
	if s := r.Sample; s.Status != 0 {
		text := fmt.Sprintf("%d, %s of body", s.Status, plural(s.BodyBytes, "byte"))
		if s.Server != "" {
			text += ", server " + printable(s.Server, 200)
		}
		if s.TLS != "" {
			text += ", " + printable(s.TLS, 200)
		}
		writeField(b, "First accepted", text)
	}
	if r.Connections > 0 {
		text := formatCount(r.Connections) + " opened"
		if h := r.Connect; h.Count() > 0 {
			text += fmt.Sprintf(", in %s to %s, mean %s", formatDuration(h.Min()), formatDuration(h.Max()), formatDuration(h.Mean()))
		}
		writeField(b, "Connections", text)
	}
	if r.BytesRead > 0 {
		text := formatBytes(float64(r.BytesRead)) + " (" + formatBytes(perSecond(r.BytesRead, r.Elapsed)) + "/s)"
		if r.BodyBytes > 0 {
			text += ", bodies " + formatBytes(float64(r.BodyBytes))
		}
		writeField(b, "Received", text)
	}
	if r.BytesWritten > 0 {
		writeField(b, "Sent", formatBytes(float64(r.BytesWritten))+" ("+formatBytes(perSecond(r.BytesWritten, r.Elapsed))+"/s)")
	}
	if c := r.Clients; c.Max > 0 && r.Options.Concurrency > 1 {
		writeField(b, "Clients", fmt.Sprintf("%s to %s requests each, median %s", formatCount(c.Min), formatCount(c.Max), formatCount(c.Median)))
	}
}
