package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestHandler(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		method  string
		kind    string // of the failures; "": none
		status  int
		size    int64
	}{
		{name: "nothing written", handler: func(http.ResponseWriter, *http.Request) {}, status: 200},
		{name: "text", handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "test") }, status: 200, size: 4},
		{name: "string", handler: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "test") }, status: 200, size: 4},
		{name: "created", handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); io.WriteString(w, "x") }, status: 201, size: 1},
		{name: "error", handler: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 500) }, status: 500, size: 3, kind: "status"},
		{name: "redirect", handler: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, method: "POST", status: 302, kind: "status"},
		{name: "interim", handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(404) }, status: 404, kind: "status"},
		{name: "second status is ignored", handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); w.WriteHeader(500) }, status: 200},
		{name: "status after the body is ignored", handler: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x"); w.WriteHeader(500) }, status: 200, size: 1},
		{name: "flush", handler: func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).Flush(); err != nil {
				w.WriteHeader(500)
			}
			w.(http.Flusher).Flush()
			w.WriteHeader(500)
		}, status: 200},
		{name: "body of 204", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrBodyNotAllowed) {
				panic(err)
			}
		}, status: 204},
		{name: "HEAD", method: "HEAD", handler: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "test") }, status: 200},
		{name: "aborted", handler: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x"); panic(http.ErrAbortHandler) }, kind: "eof", size: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			method := tt.method
			if method == "" {
				method = "GET"
			}
			var calls atomic.Int64
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				tt.handler(w, r)
			})
			r := mustRun(t, Handler(h, httptest.NewRequest(method, "/x", nil)), Options{Concurrency: 3, Requests: 50})
			if calls.Load() != 50 || r.Requests != 50 || r.BodyBytes != 50*tt.size {
				t.Errorf("%d calls, %d requests, %d bytes; want 50, 50, %d", calls.Load(), r.Requests, r.BodyBytes, 50*tt.size)
			}
			if tt.kind == "" && r.Failed != 0 || tt.kind != "" && r.Errors[tt.kind].Count != 50 {
				t.Errorf("%v, want kind %q", r.Errors, tt.kind)
			}
			if tt.status != 0 && r.Statuses[tt.status] != 50 || tt.status == 0 && len(r.Statuses) != 0 {
				t.Errorf("Statuses = %v, want 50 of %d", r.Statuses, tt.status)
			}
			if r.Engine != "func" || r.Target != method+" /x (handler)" {
				t.Errorf("engine %q, target %q", r.Engine, r.Target)
			}
		})
	}
}

// Whatever r lacks that a server's request has, the handler sees it.
func TestHandlerRequest(t *testing.T) {
	client, err := http.NewRequest("POST", "http://example.test:81/p?q=1", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	client.Header.Set("X-Name", "value")
	clientGet, err := http.NewRequest("", "http://example.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		r    *http.Request
		want string
	}{
		{"server's", httptest.NewRequest("PUT", "/p?q=1", strings.NewReader("body")), "PUT /p q=1 /p?q=1 example.com \"\" \"body\""},
		{"client's", client, "POST /p q=1 /p?q=1 example.test:81 \"value\" \"body\""},
		{"client's without a body", clientGet, "GET   / example.test \"\" \"\""},
		{"bare", &http.Request{URL: &url.URL{Path: "/x", Host: "h"}}, "GET /x  /x h \"\" \"\""},
		{"no body", httptest.NewRequest("GET", "/", http.NoBody), "GET /  / example.com \"\" \"\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err == nil {
					err = r.Body.Close()
				}
				got := fmt.Sprintf("%s %s %s %s %s %q %q", r.Method, r.URL.Path, r.URL.RawQuery, r.RequestURI, r.Host, r.Header.Get("X-Name"), body)
				if got != tt.want || err != nil {
					t.Errorf("the handler sees %s, %v; want %s", got, err, tt.want)
				}
				r.Header.Set("X-Name", "changed") // which must not be seen by another copy
				r.URL.Path = "/changed"
				w.Header().Set("X", "y")
				if len(w.Header()) != 1 {
					t.Errorf("header is left from another response: %v", w.Header())
				}
				w.Header().Set("Z", "z")
			})
			r := mustRun(t, Handler(h, tt.r), Options{Concurrency: 4, Requests: 100})
			if r.Failed != 0 {
				t.Error(r.Errors)
			}
		})
	}
}

func TestHandlerMux(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET example.test/{name}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.PathValue("name")) })
	req, err := http.NewRequest("GET", "http://example.test/four", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, Handler(mux, req), Options{Concurrency: 2, Requests: 10}); r.Failed != 0 || r.BodyBytes != 40 {
		t.Errorf("%v, %d bytes; want 40", r.Errors, r.BodyBytes)
	}
}

func TestHandlerContext(t *testing.T) {
	type key struct{}
	req := httptest.NewRequest("GET", "/", nil)
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, ok := r.Context().Deadline(); !ok || r.Context().Value(key{}) != "value" {
			t.Error("the context of a request has no deadline, or not the values of Run's")
		}
		<-r.Context().Done()
	})
	ctx := context.WithValue(t.Context(), key{}, "value")
	r, err := Run(ctx, Handler(slow, req), Options{Concurrency: 2, Requests: 4, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
	if r.Errors["timeout"].Count != 4 || r.FailedLatency.Max() > 50*time.Millisecond+slack {
		t.Errorf("%v, slowest %v; want 4 timeouts after 50ms", r.Errors, r.FailedLatency.Max())
	}
}

type brokenBody struct{ io.Closer }

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestHandlerErrors(t *testing.T) {
	ok := http.NotFoundHandler()
	broken := httptest.NewRequest("POST", "/", io.NopCloser(brokenBody{}))
	for name, target := range map[string]Target{
		"h must not be nil":                  Handler(nil, httptest.NewRequest("GET", "/", nil)),
		"r must be a request with a URL":     Handler(ok, nil),
		"r must be a request with a URL (2)": Handler(ok, &http.Request{}),
		"read the body of r: broken":         Handler(ok, broken),
	} {
		want := "loadtest: Handler: " + strings.TrimSuffix(name, " (2)")
		if r, err := Run(t.Context(), target, Options{Requests: 1}); r != nil || err == nil || err.Error() != want {
			t.Errorf("Run = %v, %v; want %q", r, err, want)
		}
		if c, err := target.NewClient(t.Context(), 0); c != nil || err == nil {
			t.Errorf("NewClient = %v, %v; want an error", c, err)
		}
	}
}

// The targets of this package can be wrapped.
func TestHandlerWrapped(t *testing.T) {
	inner := Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }), httptest.NewRequest("GET", "/", nil))
	r := mustRun(t, &probe{target: inner}, Options{Concurrency: 2, Requests: 10})
	if r.Errors["status"].Count != 10 || !strings.Contains(r.Errors["status"].Sample, "503") {
		t.Errorf("%v, want 10 of kind status", r.Errors)
	}
}
