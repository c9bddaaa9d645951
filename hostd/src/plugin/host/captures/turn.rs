//! Reading captures for a plugin: on a thread that may block, a few at a time, and no longer than somebody waits.

use std::sync::Arc;
use std::time::Duration;

use admission::{Admission, Limits, Requester};
use lab::captures::reader::{ReadError, Reader};

use super::super::{offers, refusal};
use crate::host::internal;
use crate::host::waiting::{Gone, Waiting};
use crate::plugin::sight::Sight;
use offers::types::Error;

/// Reads of one plugin at once; of them one organisation's and one user's. All plugins and the server's own readers
/// share `captures.read_max`.
const READS_MAX: u32 = 2;
const READS_PER_ORG_MAX: u32 = 1;
const READS_PER_USER_MAX: u32 = 1;

/// Calls of one plugin that wait to read, and how long; their deadline may be shorter.
const QUEUED_MAX: u32 = 64;
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The places of one version of a plugin.
pub(in crate::plugin) fn places() -> Arc<Admission> {
    Arc::new(Admission::new(Limits {
        permits_max: READS_MAX,
        per_user_max: READS_PER_USER_MAX,
        per_org_max: READS_PER_ORG_MAX,
        queued_max: QUEUED_MAX,
        wait_max: WAIT_MAX,
    }))
}

/// Read, when it is this call's turn.
pub(super) async fn read<T: Send + 'static>(
    sight: &Sight<'_>,
    (places, requester): (&Arc<Admission>, Option<&Requester>),
    reader: Arc<Reader>,
    work: impl FnOnce(&Reader, &Gone) -> Result<T, ReadError> + Send + 'static,
) -> Result<T, Error> {
    let place = places.enter_owned(requester).await.map_err(|_| {
        let sentence = "too many calls of the plugin read captures; try again in a while";
        refusal("timeout", sentence)
    })?;
    let permit = sight.services.captures.reader_permit().await;
    // It may have been open, and have waited, for long.
    sight.still(reader.record())?;
    let waiting = Waiting::default();
    let gone = waiting.gone();
    let done = tokio::task::spawn_blocking(move || {
        let done = work(&reader, &gone);
        drop((place, permit));
        done
    });
    match done.await {
        Ok(Ok(read)) => Ok(read),
        // A rate that does not fit is the order's fault, not the file's.
        Ok(Err(ReadError::Decode(
            error @ (decode::DecodeError::NoSampleRate
            | decode::DecodeError::SampleRateTooLow { .. }),
        ))) => Err(refusal("invalid", format!("failed to {error}"))),
        Ok(Err(error)) => Err(failed(sight, &error)),
        Err(error) => Err(failed(sight, &error)),
    }
}

fn failed(sight: &Sight<'_>, error: &(dyn std::error::Error + 'static)) -> Error {
    refusal("internal", internal(sight.context, "captures", error))
}
