//! hostd.
fn main() {}
