package loadtest

import (
	"net"
	"strings"
	"testing"
)

func TestListensHere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if !listensHere("tcp", []string{"192.0.2.1:1", addr}) {
		t.Errorf("listensHere(%s) = false, but this test does", addr)
	}
	_ = l.Close()
	if listensHere("tcp", []string{addr}) {
		t.Errorf("listensHere(%s) = true after Close", addr)
	}
}

func TestListensTCP(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0000 100 0 0 10 0
   1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0000 100 0 0 10 0
   2: 0100007F:1F92 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 333 1 0000 100 0 0 10 0
`
	own := map[string]bool{"111": true, "333": true}
	for addr, want := range map[string]bool{
		"127.0.0.1:8080": true,
		"127.0.0.1:8081": false, // another process's
		"127.0.0.1:8082": false, // a connection, not a listener
		"[::1]:8080":     true,
		"not an address": false,
	} {
		if got := listensTCP(strings.NewReader(table), []string{addr}, own); got != want {
			t.Errorf("listensTCP(%s) = %v, want %v", addr, got, want)
		}
	}
}

func TestListensHereUnix(t *testing.T) {
	path := t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !listensHere("unix", []string{path}) {
		t.Errorf("listensHere(%s) = false, but this test does", path)
	}
	if listensHere("unix", []string{path + "x"}) {
		t.Errorf("listensHere(%sx) = true", path)
	}
}
