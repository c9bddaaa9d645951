//! Uploads raw bytes for the DAC or the SPI master, and replays them.

use std::time::Duration;

use pod_protocol::connection::lines::Lines;
use pod_protocol::{REPLY_LINE_BYTES_MAX, Reply};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::session::Session;
use super::{Pod, PodError, ProtocolError, SessionKind, commands, link};

/// Minimum timeout of each step of an upload: pods write to slow memory meanwhile.
pub const UPLOAD_TIMEOUT_MIN: Duration = Duration::from_secs(60);

/// Bytes sent between two reports of progress.
const CHUNK_BYTES: usize = 8 * 1024;

/// Lines of progress a pod may send after the last byte: one for each 8 KiB of its deep memory,
/// with room to spare.
const PROGRESS_LINES_MAX: usize = 4096;

/// A finished upload. The pod reserves its capture hardware for the replay until this is closed or
/// dropped.
pub struct Upload {
    lines: Lines<Session>,
}

impl Pod {
    /// Uploads DAC codes (u16, little-endian) in a `dac` session; `deep` for more codes than the
    /// small memory holds. `progress` is called with the number of bytes sent so far.
    ///
    /// # Errors
    /// As [`begin`](Pod::begin), and [`PodError::Refused`] when the pod does not accept them.
    pub async fn upload(
        &self,
        codes: &[u8],
        deep: bool,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Upload, PodError> {
        let session = self.begin(SessionKind::Dac).await?;
        Upload::send(session, codes, deep, progress).await
    }

    /// Uploads bytes for the SPI master to the deep memory, in a session that excludes others.
    ///
    /// # Errors
    /// As [`upload`](Self::upload) and [`Session::close`].
    pub async fn stage(
        &self,
        bytes: &[u8],
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<(), PodError> {
        let session = self.begin(SessionKind::Exclusive).await?;
        let upload = Upload::send(session, bytes, true, progress).await?;
        upload.close().await
    }
}

impl Upload {
    async fn send(
        session: Session,
        bytes: &[u8],
        deep: bool,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Self, PodError> {
        let mut lines = Lines::new(session, REPLY_LINE_BYTES_MAX);
        let mut request = commands::request("load_bin", [("total", bytes.len().into())]);
        if deep {
            request.insert("psram".to_owned(), true.into());
        }
        let line = link::request_line(&request)?;
        link::exchange(&mut lines, "load_bin", line, UPLOAD_TIMEOUT_MIN).await?;
        let mut sent = 0;
        for chunk in bytes.chunks(CHUNK_BYTES) {
            timeout(UPLOAD_TIMEOUT_MIN, lines.write_raw(chunk))
                .await
                .map_err(|_| PodError::timeout("load_bin", UPLOAD_TIMEOUT_MIN))?
                .map_err(|error| PodError::from_line("load_bin", error))?;
            sent += chunk.len();
            progress(sent);
        }
        for _ in 0..PROGRESS_LINES_MAX {
            let line = timeout(UPLOAD_TIMEOUT_MIN, lines.read())
                .await
                .map_err(|_| PodError::timeout("load_bin", UPLOAD_TIMEOUT_MIN))?
                .map_err(|error| PodError::from_line("load_bin", error))?
                .ok_or_else(PodError::closed)?;
            if is_progress(line) {
                continue;
            }
            return match Reply::parse(line).map_err(ProtocolError::Reply)? {
                Reply::Done(_) => Ok(Self { lines }),
                Reply::Refused(refusal) => Err(PodError::Refused(refusal)),
            };
        }
        Err(ProtocolError::OutOfStep.into())
    }

    /// Plays it until `dac_stop`, at the pod's highest rate if none is given; with `on_capture` the
    /// next capture starts it. Returns the pod's report.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn replay(
        &mut self,
        samples: Option<u64>,
        sample_rate_mhz: Option<f64>,
        on_capture: bool,
    ) -> Result<Value, PodError> {
        let mut request = commands::request("replay", []);
        let mut put = |name: &str, value: Value| request.insert(name.to_owned(), value);
        if let Some(samples) = samples {
            put("samples", samples.into());
        }
        if let Some(rate) = sample_rate_mhz {
            put("sample_rate_mhz", rate.into());
        }
        if on_capture {
            put("on_capture", true.into());
        }
        let line = link::request_line(&request)?;
        link::exchange(&mut self.lines, "replay", line, UPLOAD_TIMEOUT_MIN).await
    }

    /// Closes its session and waits until the pod has noticed. A replay continues.
    ///
    /// # Errors
    /// As [`Session::close`].
    pub async fn close(self) -> Result<(), PodError> {
        let (session, _unread) = self.lines.into_parts();
        session.close().await
    }
}

/// Whether a line only reports the progress of an upload: `{"ack": bytes}`.
fn is_progress(line: &[u8]) -> bool {
    let object = serde_json::from_slice::<Map<String, Value>>(line);
    object.is_ok_and(|object| object.contains_key("ack") && !object.contains_key("status"))
}
