package sys

import (
	"encoding/binary"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

var procGetLogicalProcessorInformationEx = kernel32.NewProc("GetLogicalProcessorInformationEx")

// relationProcessorCore is RelationProcessorCore of winnt.h: one record for each physical core.
const relationProcessorCore = 0

// Cores returns the logical CPUs of each physical core, numbered as everywhere in this package. Does not block.
func Cores() ([][]int, error) {
	var size uint32
	_, _, err := procGetLogicalProcessorInformationEx.Call(relationProcessorCore, 0, uintptr(unsafe.Pointer(&size)))
	if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) || size == 0 {
		return nil, os.NewSyscallError("GetLogicalProcessorInformationEx", err)
	}
	buf := make([]byte, size)
	ok, _, err := procGetLogicalProcessorInformationEx.Call(relationProcessorCore,
		uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)))
	if ok == 0 {
		return nil, os.NewSyscallError("GetLogicalProcessorInformationEx", err)
	}
	return parseCores(buf[:size], groupSizes()), nil
}

// parseCores reads SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX records: relationship and size, four bytes each, then a
// PROCESSOR_RELATIONSHIP: 22 bytes of no interest here, the number of masks in two, and the masks, which are GROUP_AFFINITY.
func parseCores(buf []byte, sizes []int) [][]int {
	const masksAt = 32
	var cores [][]int
	for len(buf) >= masksAt {
		size := int(binary.LittleEndian.Uint32(buf[4:]))
		if size < masksAt || size > len(buf) {
			break
		}
		var core []int
		masks := buf[masksAt:size]
		for range binary.LittleEndian.Uint16(buf[30:]) {
			if len(masks) < int(unsafe.Sizeof(groupAffinity{})) {
				break
			}
			var g groupAffinity
			if unsafe.Sizeof(g.mask) == 8 {
				g.mask = uintptr(binary.LittleEndian.Uint64(masks))
			} else {
				g.mask = uintptr(binary.LittleEndian.Uint32(masks))
			}
			g.group = binary.LittleEndian.Uint16(masks[unsafe.Offsetof(g.group):])
			core = append(core, g.cpus(sizes)...)
			masks = masks[unsafe.Sizeof(g):]
		}
		if len(core) > 0 {
			cores = append(cores, core)
		}
		buf = buf[size:]
	}
	return cores
}
