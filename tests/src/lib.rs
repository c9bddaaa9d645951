//! What the end-to-end tests share: the real binary on its own port, and a client for it.

pub mod bench;
pub mod client;
pub mod guide;
pub mod isolation;
pub mod issuer;
pub mod judge;
pub mod line;
pub mod offline;
pub mod pod_sim;
pub mod server;
pub mod socket;

pub use bench::{Bench, demo_elf, flash, until};
pub use client::{Client, Reply};
pub use isolation::can_isolate;
pub use line::Line;
pub use pod_sim::PodSim;
pub use server::Server;
pub use socket::{Opened, Socket};
