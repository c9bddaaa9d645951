//! `speedtest`: sends bytes through a tunnel as fast as possible, and a line when they have
//! arrived.

use pod_protocol::connection::Stream;
use serde_json::json;

use super::access::{Origin, Peer};
use super::args::Args;
use super::client::{Client, Gone};
use super::refuse::Refuse;

/// Number of bytes if the request names none, and the maximum.
const BYTES_DEFAULT: usize = 1 << 20;
const BYTES_MAX: i64 = 64 << 20;

/// Bytes that the pod sends per byte that the client sends back.
const WINDOW_BYTES: usize = 8 << 10;

/// A test as requested.
pub(crate) struct Speedtest {
    bytes: usize,
    down: bool,
}

impl Speedtest {
    pub(crate) fn from_args(args: &Args<'_>, peer: Peer) -> Result<Self, Refuse> {
        if !matches!(peer.origin, Origin::Tunnel(_)) {
            return Err(Refuse::TunnelOnly);
        }
        let down = match args.text("dir")? {
            Some("down") => true,
            Some("up") => false,
            Some(_) => {
                return Err(Refuse::Bad {
                    field: "dir",
                    want: "up or down",
                });
            }
            None => return Err(Refuse::Missing { field: "dir" }),
        };
        let bytes = args.uint("bytes", 1..=BYTES_MAX)?;
        Ok(Self {
            bytes: bytes.unwrap_or(BYTES_DEFAULT),
            down,
        })
    }

    pub(crate) async fn run<S: Stream>(self, client: &mut Client<S>) -> Result<(), Gone> {
        let window = [0x55; WINDOW_BYTES];
        let mut left = self.bytes;
        while left > 0 {
            let most = left.min(WINDOW_BYTES);
            left -= if self.down {
                client.write_raw(&window[..most]).await?;
                if client.read_raw(1).await?.is_empty() {
                    return Err(Gone);
                }
                most
            } else {
                match client.read_raw(most).await?.len() {
                    0 => return Err(Gone),
                    read => read,
                }
            };
        }
        client
            .send(&json!({"speedtest": "done", "bytes": self.bytes}))
            .await
    }
}

#[cfg(test)]
mod tests;
