//! What the emulated receiver says, as text and as bits on its channel.

mod sentences;
mod stream;
