package loadtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sameResult compares results exactly, histograms by all they can tell.
var sameResult = cmp.Comparer(func(a, b *Histogram) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	return errX == nil && errY == nil && bytes.Equal(x, y)
})

// fullResult has a value in every field.
func fullResult() *Result {
	h := func(ds ...time.Duration) *Histogram {
		h := new(Histogram)
		for _, d := range ds {
			h.Record(d)
		}
		return h
	}
	return &Result{
		Options: Options{
			Name: "full <&> ü", Concurrency: 3, Rate: 12.5, Poisson: true, Stages: []Stage{{Rate: 1.5, Duration: 2}, {Rate: 3}}, ThinkTime: 4,
			Requests: 5, Duration: 6, Warmup: 7, Timeout: -1, Drain: -2, CPUs: CPUSet{0, 1, 2, 9}, Threads: 2, Poll: true, Seed: math.MaxUint64,
		},
		Target: "GET http://h/", Engine: "net", Host: Host{"plan9", "mips", "a CPU", "4", "go1.26", 8, true},
		Start: time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC), Elapsed: 1e9 + 1,
		Requests: 10, Failed: 4, Drained: 3, Abandoned: 2, Unsent: 1, WarmupRequests: 11, Resent: 12, WarmupFailed: 5, Unwritten: 6, OldestAbandoned: 7,
		BytesRead: math.MaxInt64, BytesWritten: 13, BodyBytes: 14, Connections: 15, Statuses: map[int]int64{200: 6, 503: 4},
		Errors:  map[string]ErrorCount{"status": {Count: 4, Sample: "503 \"x\"\n\u2028", First: 1, Last: 1e9}},
		Latency: h(0, 1, 1e6, 5e9, 5*time.Hour, math.MaxInt64), ServiceTime: h(1, 2, 3, 4, 5, 6), TotalTime: h(7), FailedLatency: h(8, 9),
		Connect: h(10), FirstByte: h(11), SendLag: h(12), QueueWait: h(13),
		Intervals: []Interval{{0, 5e8, 5, 2, 1, 2, 3}, {5e8, 5e8, 5, 2, 4, 5, 6}},
		Clients:   Spread{1, 2, 3}, Sample: Sample{Status: 200, Server: "s", BodyBytes: 4, TLS: "TLS 1.3"},
		Generator: Usage{1, 2, CPUSet{3}, 4, 5}, Server: Usage{6, 7, CPUSet{0, 64}, 8, 9},
		Warnings: []Warning{{"a", "b"}, {"", ""}},
	}
}

func TestJSONIsLossless(t *testing.T) {
	for name, rs := range map[string][]*Result{
		"none": nil, "full": {fullResult()}, "several": {fullResult(), {}, fullResult()}, "stored": stored(t, "sweep.json"),
	} {
		var b bytes.Buffer
		if err := WriteJSON(&b, rs...); err != nil {
			t.Fatal(err)
		}
		got, err := ReadJSON(&b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(rs, got, sameResult); diff != "" {
			t.Errorf("%s: -written +read:\n%s", name, diff)
		}
	}
}

// TestJSONKeepsItsForm holds format 1 to what has been stored: read and written again it is the same, byte for byte.
func TestJSONKeepsItsForm(t *testing.T) {
	for _, name := range []string{"single.json", "failed.json", "sweep.json"} {
		var b bytes.Buffer
		if err := WriteJSON(&b, stored(t, name)...); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-stored +written):\n%s", name, diff)
		}
	}
}

func TestJSONOfAResultByItself(t *testing.T) {
	want := fullResult()
	b, err := json.Marshal(map[string]*Result{"r": want, "null": nil})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]*Result
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]*Result{"r": want, "null": nil}, got, sameResult); diff != "" {
		t.Errorf("-marshalled +unmarshalled:\n%s", diff)
	}
	kept := Result{Requests: 3}
	for _, text := range []string{`{"requests": 1}`, `{"format": 2}`, `3`, `[]`, `{"format":1,"options":{}}`} {
		if err := json.Unmarshal([]byte(text), &kept); err == nil || kept.Requests != 3 {
			t.Errorf("Unmarshal(%s): error %v, and the result has %d requests; want an error and an untouched result", text, err, kept.Requests)
		}
	}
	if err := json.Unmarshal([]byte(" null "), &kept); err != nil || kept.Requests != 3 {
		t.Errorf("null: %v, and the result has %d requests", err, kept.Requests)
	}
}

func TestJSONHasDerivedFigures(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, stored(t, "single.json")...); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Format  int
		Results []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || doc.Format != 1 {
		t.Fatalf("format %d, %v", doc.Format, err)
	}
	r := doc.Results[0]
	if r["succeeded"] != 182300.0 || r["throughput_per_second"] != 18230.0 || r["options"].(map[string]any)["cpus"] != "2-3" {
		t.Errorf("succeeded %v, throughput %v, options %v", r["succeeded"], r["throughput_per_second"], r["options"])
	}
	if s := r["statuses"].(map[string]any); s["503"] != 1.0 {
		t.Errorf("statuses are %v", s)
	}
	changed := strings.Replace(b.String(), `"throughput_per_second": 18230`, `"throughput_per_second": 1`, 1)
	rs, err := ReadJSON(strings.NewReader(changed))
	if err != nil || rs[0].Throughput() != 18230 {
		t.Errorf("throughput is %v after reading, %v; the derived figure must not count", rs[0].Throughput(), err)
	}
}

const minimal = `{"format":1,"options":{},"start":"2026-01-02T03:04:05Z","elapsed_ns":1,"requests":2,"failed":1}`

func TestReadJSONForms(t *testing.T) {
	inList := strings.Replace(minimal, `"format":1,`, "", 1)
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {" \n", 0}, {`{"format":1,"results":[]}`, 0}, {"[]", 0}, {minimal, 1}, {minimal + minimal + "\n" + minimal, 3},
		{`{"format":1,"results":[` + inList + "," + inList + `]}` + minimal, 3}, {"[" + minimal + "," + minimal + "]\n[]", 2},
	} {
		rs, err := ReadJSON(strings.NewReader(c.text))
		if err != nil || len(rs) != c.want {
			t.Errorf("%d results, %v; want %d of %s", len(rs), err, c.want, c.text)
		}
		for _, r := range rs {
			for i, h := range []*Histogram{r.Latency, r.ServiceTime, r.TotalTime, r.FailedLatency, r.Connect, r.FirstByte, r.SendLag, r.QueueWait} {
				if h == nil {
					t.Errorf("histogram %d is nil in %s", i, c.text)
				}
			}
		}
	}
}

func TestReadJSONErrors(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(minimal, old, new, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"garbage", "hello", "document 1: invalid character"},
		{"trailing garbage", minimal + " x", "document 2: invalid character"},
		{"cut short", minimal[:40], "document 1: unexpected EOF"},
		{"no format", `{"results":[]}`, `the key "format" is missing`},
		{"format from the future", `{"format":2,"results":[]}`, "format 2 is not known: this version of loadtest reads format 1"},
		{"format of another type", `{"format":"1"}`, "cannot unmarshal string"},
		{"number", "3", "cannot unmarshal number"},
		{"null", "null", `the key "format" is missing`},
		{"null in a list", `{"format":1,"results":[null]}`, "result 1: null is not a result"},
		{"array without formats", `[{"requests":1}]`, `result 1: the key "format" is missing`},
		{"missing keys", `{"format":1}`, `the key "options" is missing`},
		{"huge number", change(`"requests":2`, `"requests":9223372036854775808`), "cannot unmarshal number"},
		{"fraction", change(`"requests":2`, `"requests":2.5`), "cannot unmarshal number"},
		{"NaN", change(`"requests":2`, `"requests":NaN`), "invalid character"},
		{"NaN text", change(`"requests":2`, `"requests":"NaN"`), "cannot unmarshal string"},
		{"infinite rate", change(`"options":{}`, `"options":{"rate_per_second":1e999}`), "cannot unmarshal number"},
		{"negative", change(`"requests":2`, `"requests":-2`), "requests must not be negative (got -2)"},
		{"more failures than requests", change(`"failed":1`, `"failed":3`), "failed must not exceed requests (got 3 of 2)"},
		{"no time", change("2026-01-02T03:04:05Z", "yesterday"), "parsing time"},
		{"no year that JSON knows", change("2026-01-02T03:04:05Z", "9999-12-31T23:59:59-23:00"), "start must be in a year from 0 to 9999 (got 10000)"},
		{"status of another type", change(`"failed":1`, `"failed":1,"statuses":{"ok":1}`), "cannot unmarshal number ok"},
		{"CPU list", change(`"options":{}`, `"options":{"cpus":"0-99999999"}`), "CPU list"},
		{"histogram", change(`"failed":1`, `"failed":1,"latency":{"count":1,"hdr":"AAAA"}`), "decode histogram"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadJSON(strings.NewReader(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), "loadtest: ReadJSON: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q of %s", err, c.want, c.text)
			}
		})
	}
	rs, err := ReadJSON(strings.NewReader(minimal + "x"))
	if len(rs) != 1 || err == nil {
		t.Errorf("%d results before the garbage, %v; want 1 and an error", len(rs), err)
	}
	broken := errors.New("gone")
	if _, err := ReadJSON(failingReader{broken}); !errors.Is(err, broken) {
		t.Errorf("error %v of a reader that fails", err)
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// FuzzReadJSON holds whatever can be read to be written and read again as the same.
func FuzzReadJSON(f *testing.F) {
	small := &Result{Latency: histogramOf(1, 2, 1000), Errors: map[string]ErrorCount{"eof": {Count: 1}}, Intervals: make([]Interval, 1)}
	seed, err := json.Marshal(small)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(minimal))
	f.Add([]byte("[" + minimal + "]" + minimal))
	f.Fuzz(func(t *testing.T, text []byte) {
		rs, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, w := range reportWriters {
			var b bytes.Buffer
			if err := w.write(&b, rs...); err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			if w.name != "WriteJSON" {
				continue
			}
			again, err := ReadJSON(&b)
			if err != nil {
				t.Fatalf("can't read what was written: %v", err)
			}
			if diff := cmp.Diff(rs, again, sameResult); diff != "" {
				t.Fatalf("-read +read again:\n%s", diff)
			}
		}
	})
}
