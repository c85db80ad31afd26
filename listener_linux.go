package loadtest

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// listensHere reports whether this process itself listens on one of addrs: the server under test is then part of it, as in most tests, and
// shares its CPUs and its CPU time. What /proc does not tell counts as no.
func listensHere(network string, addrs []string) bool {
	own := ownSockets("/proc/self/fd")
	tables, listens := []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}, listensTCP
	if network == "unix" {
		tables, listens = []string{"/proc/self/net/unix"}, listensUnix
	}
	for _, table := range tables {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		found := listens(f, addrs, own)
		_ = f.Close()
		if found {
			return true
		}
	}
	return false
}

// ownSockets returns the inodes of the sockets among the descriptors in dir.
func ownSockets(dir string) map[string]bool {
	entries, _ := os.ReadDir(dir)
	inodes := make(map[string]bool)
	for _, e := range entries {
		to, err := os.Readlink(dir + "/" + e.Name())
		if err != nil {
			continue
		}
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return inodes
}

// listensTCP reports whether the table, as in /proc/net/tcp, has a listening socket with an inode in own and the port of one of addrs. The
// port suffices: a process that listens on it at another address is the likelier explanation than two servers.
func listensTCP(table io.Reader, addrs []string, own map[string]bool) bool {
	ports := make(map[string]bool)
	for _, a := range addrs {
		if ap, err := netip.ParseAddrPort(a); err == nil {
			ports[fmt.Sprintf("%04X", ap.Port())] = true
		}
	}
	const listening = "0A"
	for s := bufio.NewScanner(table); s.Scan(); {
		// sl, local address, remote address, state, tx:rx queue, tr:when, retransmits, uid, timeout, inode
		f := strings.Fields(s.Text())
		if len(f) < 10 || f[0] == "sl" {
			continue
		}
		if f[3] != listening {
			return false // they come first, before what may be thousands of connections
		}
		if !own[f[9]] {
			continue
		}
		if _, port, ok := strings.Cut(f[1], ":"); ok && ports[port] {
			return true
		}
	}
	return false
}

// listensUnix reports whether the table, as in /proc/net/unix, has a listening socket with an inode in own and one of paths.
func listensUnix(table io.Reader, paths []string, own map[string]bool) bool {
	const listening = "00010000" // __SO_ACCEPTCON
	for s := bufio.NewScanner(table); s.Scan(); {
		// number, reference count, protocol, flags, type, state, inode, path as it was bound
		f := strings.Fields(s.Text())
		if len(f) == 8 && f[3] == listening && own[f[6]] && slices.Contains(paths, f[7]) {
			return true
		}
	}
	return false
}
