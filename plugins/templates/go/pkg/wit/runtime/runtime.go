// Package runtime has memory that the host and this component hand each other, and handles of the host's resources.
package runtime

import (
	"runtime"
	"unsafe"
)

// Handle is a resource of the host, until somebody takes it.
type Handle struct {
	number int32
}

// MakeHandle holds a resource, whose number is not 0.
func MakeHandle(number int32) *Handle {
	handle := &Handle{}
	handle.Set(number)
	return handle
}

// Use returns the number and keeps the resource.
func (h *Handle) Use() int32 {
	if h.number == 0 {
		panic("the resource was given away")
	}
	return h.number
}

// Take returns the number and gives the resource away.
func (h *Handle) Take() int32 {
	number := h.Use()
	h.number = 0
	return number
}

// TakeOrNil is Take, or 0 if the resource was given away.
func (h *Handle) TakeOrNil() int32 {
	number := h.number
	h.number = 0
	return number
}

// Set puts a resource where there is none.
func (h *Handle) Set(number int32) {
	if number == 0 || h.number != 0 {
		panic("there must be one resource in a handle")
	}
	h.number = number
}

// Allocate returns memory that stays where it is until the pinner lets go.
func Allocate(pinner *runtime.Pinner, size, align uintptr) unsafe.Pointer {
	if size == 0 {
		return nil
	}
	// The collector aligns by the type, and nothing that crosses the border needs more than 8 bytes.
	memory := unsafe.Pointer(unsafe.SliceData(make([]uint64, (size+7)/8)))
	pinner.Pin(memory)
	return memory
}
