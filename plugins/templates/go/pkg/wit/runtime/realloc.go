package runtime

import (
	"runtime"
	"unsafe"
)

// What the host has put here for the call that is about to begin.
var received runtime.Pinner

// Unpin lets go of it: the call has taken what it needs.
func Unpin() { received.Unpin() }

// Memory for those who ask before Go has started: the adapter of WASI, for its own state.
var (
	early     [256 << 10]byte
	earlyUsed uintptr
	started   bool
)

func init() { started = true }

// The collector asks what time it is, and a component may call nobody while the host hands over an argument. The adapter
// answers with the last time that it knows while this is set.
//
//go:wasmimport wasi_snapshot_preview1 adapter_monotonic_clock_set_paused
func pauseClock(paused bool)

// The host asks for memory of which it then fills all.
//
//go:wasmexport cabi_realloc
func realloc(old unsafe.Pointer, oldSize, align, size uintptr) unsafe.Pointer {
	if old != nil || oldSize != 0 {
		panic("memory that was handed over cannot grow")
	}
	if !started {
		begin := (uintptr(unsafe.Pointer(&early))+earlyUsed+align-1)&^(align-1) - uintptr(unsafe.Pointer(&early))
		earlyUsed = begin + size
		return unsafe.Pointer(&early[begin : begin+size][0])
	}
	pauseClock(true)
	memory := Allocate(&received, size, align)
	pauseClock(false)
	return memory
}
