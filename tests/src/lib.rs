//! What the end-to-end tests share: the real binary on its own port, and a client for it.

pub mod bench;
pub mod cable;
pub mod client;
pub mod guide;
pub mod isolation;
pub mod issuer;
pub mod judge;
pub mod kept;
pub mod line;
pub mod offline;
pub mod operator;
pub mod package;
pub mod pod_sim;
pub mod port;
pub mod receiver;
pub mod server;
pub mod socket;
pub mod supply;
pub mod swaps;
pub mod swellings;

pub use bench::{Bench, demo_elf, flash, until};
pub use cable::Cable;
pub use client::{Client, Reply};
pub use isolation::{can_isolate, doctor};
pub use kept::Kept;
pub use line::Line;
pub use operator::Operator;
pub use pod_sim::PodSim;
pub use port::own_port;
pub use receiver::Receiver;
pub use server::Server;
pub use socket::{Opened, Socket};
pub use supply::Supply;
