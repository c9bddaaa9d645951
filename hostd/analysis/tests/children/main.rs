//! Runs in real children. This program is also the child.
fn main() {}
