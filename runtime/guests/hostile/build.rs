//! Gives this guest the linker's usual stack instead of the small one that handlers get: it must be
//! able to exhaust the engine's own stack before its own.

/// Bytes, a multiple of 16.
const STACK_BYTES: u32 = 1 << 20;

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
