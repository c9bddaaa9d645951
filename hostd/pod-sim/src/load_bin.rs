//! `load_bin`: an upload in raw bytes. The capture hardware stays reserved until its replay.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use serde_json::json;
use tokio::time::{Duration, Instant, timeout};

use super::args::Args;
use super::client::{Client, Gone};
use super::hold::Hold;
use super::refuse::Refuse;
use super::shared::Shared;
use super::upload::{PSRAM_BYTES_MAX, RAM_BYTES_MAX};

/// An upload that stalls for this long is aborted.
const STALL: Duration = Duration::from_secs(30);

/// How long a finished upload reserves the capture hardware for its replay.
const RESERVED: Duration = Duration::from_secs(120);

/// Bytes read from the connection at once.
const READ_BYTES: usize = 16 * 1024;

/// The capture hardware, reserved for the replay of an upload.
pub(crate) struct Reserved {
    _hold: Hold,
    shared: Arc<Shared>,
    until: Instant,
    replayed: bool,
}

impl Reserved {
    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    /// The replay has started and no longer needs the reservation.
    pub(crate) fn replayed(mut self) {
        self.replayed = true;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.replayed {
            // An upload to the small memory ends with its reservation.
            self.shared.with(|world, _| world.upload.ram.clear());
        }
    }
}

/// An upload in progress.
struct Loading(Arc<Shared>);

impl Loading {
    fn start(shared: &Arc<Shared>) -> Self {
        shared.with(|world, _| world.loading += 1);
        shared.wires_changed();
        Self(shared.clone())
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.0
            .with(|world, _| world.loading = world.loading.saturating_sub(1));
        self.0.wires_changed();
    }
}

/// A `load_bin` as requested.
pub(crate) struct LoadBin {
    total: usize,
    psram: bool,
}

impl LoadBin {
    pub(crate) fn from_args(args: &Args<'_>) -> Result<Self, Refuse> {
        let psram = args.flag("psram")?.unwrap_or(false);
        let limit = if psram {
            PSRAM_BYTES_MAX
        } else {
            RAM_BYTES_MAX
        };
        let limit = i64::try_from(limit).expect("a small constant");
        let total = args
            .uint("total", 1..=limit)?
            .ok_or(Refuse::Missing { field: "total" })?;
        Ok(Self { total, psram })
    }

    /// Receives the bytes. The capture hardware stays reserved for the replay.
    pub(crate) async fn run<S: Stream>(
        self,
        shared: &Arc<Shared>,
        client: &mut Client<S>,
    ) -> Result<Option<Reserved>, Gone> {
        let hold = match Hold::take(shared) {
            Ok(hold) => hold,
            Err(refusal) => return client.refuse(&refusal).await.map(|()| None),
        };
        let _loading = Loading::start(shared);
        client.ok(json!({"ready": self.total})).await?;
        let mut bytes = Vec::with_capacity(self.total);
        while bytes.len() < self.total {
            let most = READ_BYTES.min(self.total - bytes.len());
            match timeout(STALL, client.read_raw(most)).await {
                Ok(Ok(read)) if !read.is_empty() => bytes.extend(read),
                Ok(_) => return Err(Gone),
                Err(_) => {
                    let seconds = STALL.as_secs();
                    let stalled = Refuse::UploadStalled { seconds };
                    return client.refuse(&stalled).await.map(|()| None);
                }
            }
        }
        shared.with(|world, _| {
            world.upload.deep = self.psram;
            if self.psram {
                // Captures use the same memory.
                world.kept = None;
                world.upload.psram = bytes;
            } else {
                world.upload.ram = bytes;
            }
        });
        let reserved = Reserved {
            _hold: hold,
            shared: shared.clone(),
            until: Instant::now() + RESERVED,
            replayed: false,
        };
        client.ok(json!({"total": self.total / 2})).await?;
        Ok(Some(reserved))
    }
}

#[cfg(test)]
mod tests;
