//! Places as lines, as they are found.

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use ::search::Search;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::super::decode::{PART_WAIT_MAX, Parts};
use super::NotFound;
use crate::found;
use lab::captures::reader::Reader;

/// Places are sent no later than this behind each other, as far as there are any.
const LINES_WAIT_MAX: Duration = Duration::from_millis(50);

/// Sends places as lines of JSON. Only for blocking threads.
pub(super) struct Lines {
    writer: Parts,
    gone: mpsc::Sender<io::Result<Bytes>>,
    last: mpsc::OwnedPermit<io::Result<Bytes>>,
    left: u64,
}

impl Lines {
    pub(super) fn new(parts: mpsc::Sender<io::Result<Bytes>>, limit: Option<u32>) -> Self {
        let last = parts.clone().try_reserve_owned();
        Self {
            last: last.expect("a new queue has room"),
            gone: parts.clone(),
            writer: Parts::new(parts, PART_WAIT_MAX),
            left: limit.map_or(u64::MAX, |limit| limit.max(1).into()),
        }
    }

    /// Until the end or until the client has left. `begin` hears of what is wrong before the first line.
    pub(super) fn send(
        mut self,
        reader: &Reader,
        search: &Search,
        range: Range<u64>,
        begin: oneshot::Sender<Result<(), NotFound>>,
    ) {
        let segment = reader.logic().map_err(NotFound::Read);
        let segment = segment.and_then(|segment| {
            search.check(&segment)?;
            Ok(segment)
        });
        let segment = match segment {
            Ok(segment) => segment,
            Err(error) => {
                // A client that has left does not learn of it.
                let _ = begin.send(Err(error));
                return;
            }
        };
        let _ = begin.send(Ok(()));
        let mut written = Ok(());
        let mut sent: Option<Instant> = None;
        let gone = self.gone;
        let ended = search.run(&segment, range, &|| !gone.is_closed(), &mut |hit| {
            written = self.writer.write_all(found::line(&hit).as_bytes());
            if written.is_ok() && sent.is_none_or(|sent| LINES_WAIT_MAX < sent.elapsed()) {
                written = self.writer.flush();
                sent = Some(Instant::now());
            }
            self.left -= 1;
            match written.is_err() || self.left == 0 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        if let Err(error) = ended {
            tracing::error!(%error, "failed to search in a capture");
            self.last.send(Err(io::Error::other("the search failed")));
            return;
        }
        match written.and_then(|()| self.writer.flush()) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                tracing::info!("cut a search whose client took nothing of it");
                self.last.send(Err(io::Error::other(error)));
            }
            // A closed channel means that the client has left.
            Ok(()) | Err(_) => {}
        }
    }
}
