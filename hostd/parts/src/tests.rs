//! Benches as a whole, over the protocol: serial ports on PTYs, a simulated supply, a simulated probe and target.

mod bench;
mod port;
mod power;
mod probe;
mod sampling;
mod uart;
