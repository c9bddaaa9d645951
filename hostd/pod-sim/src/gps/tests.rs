//! The emulated receiver's output, as text and as bits on its channel.

mod sentences;
mod stream;
