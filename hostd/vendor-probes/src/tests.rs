//! CMSIS-DAP packets to a port that is a script, to a simulated target on a wire of bits, and through the thread.

mod scripted;
mod threaded;
mod wired;

/// The bytes of a word, as packets have them.
fn word(value: u32) -> [u8; 4] {
    value.to_le_bytes()
}
