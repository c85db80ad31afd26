//go:build !linux

package loadtest

func listensHere([]string) bool { return false }
