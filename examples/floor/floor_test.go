package floor

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest"
)

func TestThroughput(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(Greet))
	defer server.Close()

	target := &loadtest.HTTP{URL: server.URL + "/?name=Ada"}
	r, err := loadtest.Run(t.Context(), target, loadtest.Options{
		Concurrency: 8,
		Warmup:      100 * time.Millisecond,
		Duration:    500 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)

	// A failed request breaks the limits too. Leave room for the slowest machine that runs this.
	loadtest.Assert(t, r, loadtest.Limits{MinThroughput: 500, MaxP99: 250 * time.Millisecond})
}
