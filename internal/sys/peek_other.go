//go:build !unix

package sys

// Peek can't tell.
func Peek(uintptr) error { return ErrNothing }
