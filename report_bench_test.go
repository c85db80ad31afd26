package loadtest

import (
	"bytes"
	"math"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

// TestWriteBenchIsRead reads the output back as benchstat does.
func TestWriteBenchIsRead(t *testing.T) {
	rs := append(stored(t, "single.json"), stored(t, "failed.json")...)
	rs[0].Options.Name = "static page/keepalive=true"
	rs[1].Host.CPU, rs[1].Host.Race = "", true
	var b bytes.Buffer
	if err := WriteBench(&b, rs...); err != nil {
		t.Fatal(err)
	}
	reader := benchfmt.NewReader(&b, "bench")
	var got []*benchfmt.Result
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.Result:
			got = append(got, rec.Clone())
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if err := reader.Err(); err != nil || len(got) != 2 {
		t.Fatalf("read %d results, %v; want 2", len(got), err)
	}
	for i, want := range []string{"Static_page/keepalive=true/concurrency=64", "Refused/concurrency=4"} {
		if string(got[i].Name) != want || int64(got[i].Iters) != rs[i].Succeeded() {
			t.Errorf("got %s with %d iterations, want %s with %d", got[i].Name, got[i].Iters, want, rs[i].Succeeded())
		}
	}
	for key, want := range map[string]string{"goos": "linux", "goarch": "amd64", "engine": "net", "cpu": rs[0].Host.CPU, "race": ""} {
		if v := got[0].GetConfig(key); v != want {
			t.Errorf("%s is %q, want %q", key, v, want)
		}
	}
	if cpu, race := got[1].GetConfig("cpu"), got[1].GetConfig("race"); cpu != "" || race != "on" {
		t.Errorf("second result: cpu %q, race %q; want none, and on", cpu, race)
	}
	for unit, want := range map[string]float64{
		"sec/op": 1 / rs[0].Throughput(), "req/s": rs[0].Throughput(), "failed/req": rs[0].ErrorRate(),
		"p99-sec": rs[0].Latency.Quantile(0.99).Seconds(), "p999-sec": rs[0].Latency.Quantile(0.999).Seconds(),
	} {
		if v, ok := got[0].Value(unit); !ok || math.Abs(v-want) > 1e-6*want {
			t.Errorf("%v %s, want %v", v, unit, want)
		}
		better := -1
		if unit == "req/s" {
			better = 1
		}
		if v := reader.Units().GetBetter(unit); v != better {
			t.Errorf("better of %s is %d, want %d", unit, v, better)
		}
	}
	if _, ok := got[1].Value("sec/op"); ok {
		t.Error("a result without a success has a time per operation")
	}
}

func TestBenchName(t *testing.T) {
	check := func(name, target, want string) {
		t.Helper()
		r := &Result{Options: Options{Name: name, Concurrency: 2}, Target: target}
		if got := benchName(r); got != want {
			t.Errorf("benchName(%q, %q) = %q, want %q", name, target, got, want)
		}
	}
	check("", "GET http://h:80/a", "GET_http:__h:80_a/concurrency=2")
	check("", "", "Load/concurrency=2")
	check("BenchmarkMine", "", "Mine/concurrency=2")
	check("a  b\tc\nd\x00e", "", "A_b_c_d_e/concurrency=2")
	check("/a//b/", "", "A/b/concurrency=2")
	check("été", "", "Été/concurrency=2")
	check("\xff", "", "_/concurrency=2")
	r := &Result{Options: Options{Name: "x", Concurrency: 1, Rate: 0.5}, Elapsed: time.Second}
	if got, want := benchName(r), "X/concurrency=1/rate=0.5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
