package getopt

import (
	"flag"
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.Int("n", 0, "")
	fs.Int("c", 0, "")
	fs.Bool("k", false, "")
	fs.String("H", "", "")
	fs.Bool("latency", false, "")
	fs.String("timeout", "", "")
	for _, c := range []struct{ name, args, want string }{
		{"plain", "-n 5 -c 7 url", "-n 5 -c 7 -- url"},
		{"glued value", "-n5 -c7 url", "-n 5 -c 7 -- url"},
		{"glued letters", "-kc7 url", "-k -c 7 -- url"},
		{"glued letters, value apart", "-kc 7 url", "-k -c 7 -- url"},
		{"as flag has them", "-n=5 --c 7 --c=8 url", "-n=5 --c 7 --c=8 -- url"},
		{"a value with equals", "-Ha:b=c url", "-H a:b=c -- url"},
		{"a value with a dash", "-H -k url", "-H -k -- url"},
		{"options last", "url -n 5 -k", "-n 5 -k -- url"},
		{"long", "--latency --timeout 2s url", "--latency --timeout 2s -- url"},
		{"end of options", "-k -- -n", "-k -- -n"},
		{"unknown", "-x5 --why url", "-x -5 --why -- url"},
		{"value missing", "url -n", "-n"},
		{"operands", "url url2", "-- url url2"},
	} {
		if got := strings.Join(Args(fs, strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%s: Args(%s) = %s, want %s", c.name, c.args, got, c.want)
		}
	}
}
