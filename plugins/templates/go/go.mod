module wit_component

go 1.25

require go.bytecodealliance.org/pkg v0.4.0

// What the generated bindings stand on, as far as they use it here, so that nothing is downloaded.
replace go.bytecodealliance.org/pkg => ./pkg
