// Package types has the types of WIT that Go has no own for.
package types

// Unit is the type of nothing.
type Unit struct{}

// Tuple2 is a pair.
type Tuple2[A, B any] struct {
	F0 A
	F1 B
}

// Tags of options and results, as the bindings compare them.
const (
	OptionNone = iota
	OptionSome
)

// See OptionNone.
const (
	ResultOk = iota
	ResultErr
)

// Option is a value, or none.
type Option[T any] struct {
	isSome bool
	value  T
}

// Some is an option with a value.
func Some[T any](value T) Option[T] { return Option[T]{true, value} }

// None is an option without one.
func None[T any]() Option[T] { return Option[T]{} }

// Tag is OptionNone or OptionSome.
func (o Option[T]) Tag() uint8 {
	if o.isSome {
		return OptionSome
	}
	return OptionNone
}

// IsSome tells whether there is a value.
func (o Option[T]) IsSome() bool { return o.isSome }

// IsNone tells whether there is none.
func (o Option[T]) IsNone() bool { return !o.isSome }

// Some returns the value; there must be one.
func (o Option[T]) Some() T {
	if !o.isSome {
		panic("the option has no value")
	}
	return o.value
}

// SomeOr returns the value, or another if there is none.
func (o Option[T]) SomeOr(other T) T {
	if o.isSome {
		return o.value
	}
	return other
}

// Result is what a function returned, or why it failed.
type Result[T, E any] struct {
	isErr bool
	ok    T
	err   E
}

// Ok is the result of a function that succeeded.
func Ok[T, E any](value T) Result[T, E] { return Result[T, E]{ok: value} }

// Err is the result of a function that failed.
func Err[T, E any](err E) Result[T, E] { return Result[T, E]{isErr: true, err: err} }

// Tag is ResultOk or ResultErr.
func (r Result[T, E]) Tag() uint8 {
	if r.isErr {
		return ResultErr
	}
	return ResultOk
}

// IsOk tells whether the function succeeded.
func (r Result[T, E]) IsOk() bool { return !r.isErr }

// IsErr tells whether it failed.
func (r Result[T, E]) IsErr() bool { return r.isErr }

// Ok returns the value; the function must have succeeded.
func (r Result[T, E]) Ok() T {
	if r.isErr {
		panic("the function failed")
	}
	return r.ok
}

// Err returns the reason; the function must have failed.
func (r Result[T, E]) Err() E {
	if !r.isErr {
		panic("the function succeeded")
	}
	return r.err
}
