package sys

import (
	"slices"
	"testing"
	"unsafe"
)

func TestGroupNumbers(t *testing.T) {
	sizes := []int{40, 40, 3}
	check := func(cpu int, group uint16, bit int, ok bool) {
		t.Helper()
		gotGroup, gotBit, gotOK := locate(sizes, cpu)
		if gotGroup != group || gotBit != bit || gotOK != ok {
			t.Errorf("locate(%d) = %d, %d, %v, want %d, %d, %v", cpu, gotGroup, gotBit, gotOK, group, bit, ok)
		}
		if !ok {
			return
		}
		if got := (groupAffinity{mask: 1 << bit, group: group}).cpus(sizes); !slices.Equal(got, []int{cpu}) {
			t.Errorf("CPUs of group %d bit %d = %v, want %d", group, bit, got, cpu)
		}
	}
	if unsafe.Sizeof(uintptr(0)) == 8 { // 32-bit Windows has groups of 32
		check(39, 0, 39, true)
		check(79, 1, 39, true)
	}
	check(0, 0, 0, true)
	check(45, 1, 5, true)
	check(80, 2, 0, true)
	check(82, 2, 2, true)
	check(83, 0, 0, false)
	check(-1, 0, 0, false)
	if got := (groupAffinity{mask: 1, group: 3}).cpus(sizes); got != nil {
		t.Errorf("CPUs of a group that there is not = %v", got)
	}
}

func TestParseCores(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("the records are those of 64-bit Windows")
	}
	record := func(group byte, mask byte) []byte {
		r := make([]byte, 48)
		r[4] = 48
		r[30] = 1
		r[32] = mask
		r[40] = group
		return r
	}
	sizes := []int{4, 4}
	buf := slices.Concat(record(0, 0b0011), record(0, 0b1100), record(1, 0b0001), record(1, 0b1110))
	check := func(name string, buf []byte, want [][]int) {
		t.Helper()
		if got := parseCores(buf, sizes); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: parseCores = %v, want %v", name, got, want)
		}
	}
	check("two groups", buf, [][]int{{0, 1}, {2, 3}, {4}, {5, 6, 7}})
	check("cut off in the last record", buf[:len(buf)-1], [][]int{{0, 1}, {2, 3}, {4}})
	check("more masks than there is room for", func() []byte { r := record(0, 1); r[30] = 9; return r }(), [][]int{{0}})
	check("size 0", make([]byte, 48), nil)
	check("empty", nil, nil)
}
