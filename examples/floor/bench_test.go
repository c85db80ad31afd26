package floor

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/loadtest-go/loadtest"
)

// BenchmarkGreet prints requests per second, p50 and p99. Save the output of several runs (-count 10) and compare it with benchstat.
func BenchmarkGreet(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(Greet))
	defer server.Close()
	loadtest.Bench(b, &loadtest.HTTP{URL: server.URL + "/?name=Ada"}, loadtest.Options{Concurrency: 8})
}
