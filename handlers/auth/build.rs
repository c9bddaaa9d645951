//! Gives the component a small stack. The default of 1 MiB would be most of an instance's memory;
//! the deepest thing a handler does is to parse JSON, whose nesting is bounded.

/// Bytes, a multiple of 16. Overflow traps, because the stack lies at the bottom of memory.
const STACK_BYTES: u32 = 128 << 10;

#[allow(
    clippy::print_stdout,
    reason = "this is how a build script talks to cargo"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
