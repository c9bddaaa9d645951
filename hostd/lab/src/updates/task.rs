//! One update from its first byte to its final record: the conversation with the pod.

use std::sync::Arc;
use std::time::Duration;

use pods::{
    OTA_PART_BYTES_MAX, OtaProgress, OtaTarget, Pod, PodError, PodEvent, PodState, Session,
};
use serde_json::Value;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout};
use tracing::{info, warn};

use super::image::Image;
use super::live::{Live, Stop};
use super::{Terms, Updates};
use crate::leases::{Closed, Visit};
use crate::uart::{During, Stage};
use store::updates::{Event, Phase};

/// How often an update resumes after the link to its pod broke.
const RESUMES_MAX: u32 = 3;

/// How long a pod may take to write the image and come back.
const REBOOT_WAIT: Duration = Duration::from_secs(120);

/// How long a pod may take to drop an image.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// Everything one update needs while it runs.
pub(super) struct Task {
    pub updates: Arc<Updates>,
    pub live: Arc<Live>,
    pub pod: Pod,
    /// Keeps other sessions away; its connection does not survive the restart.
    pub session: Option<Session>,
    pub visit: Visit,
    pub closed: Closed,
    /// The device's UART waits for the pod.
    pub(crate) during: During,
    pub image: Image,
    pub terms: Terms,
}

/// What tells that a pod has restarted since this was made.
struct Restart {
    since: Instant,
    events: broadcast::Receiver<PodEvent>,
    states: watch::Receiver<PodState>,
}

/// Why an update failed.
#[derive(Debug, thiserror::Error)]
enum TaskError {
    #[error(transparent)]
    Stopped(#[from] Stop),
    #[error("{}", sentence(.0))]
    Pod(#[from] PodError),
    #[error("the pod refused the image: {0}")]
    Rejected(String),
    #[error("the pod has lost the image, as a restart makes it: its update is `{0}`")]
    Lost(String),
    #[error("the pod did not restart within {} s after it was told to install the image", REBOOT_WAIT.as_secs())]
    NoRestart,
    #[error("the pod restarted and did not come back within {} s", REBOOT_WAIT.as_secs())]
    NoReturn,
    #[error("the pod runs {found} after the update, not {wanted}")]
    Version { found: String, wanted: String },
}

impl Task {
    pub(super) async fn go(mut self) {
        let outcome = self.drive().await;
        if outcome.is_err() && self.live.record().phase.may_abort() {
            drop_image(&self.pod).await;
        }
        let (event, error) = match &outcome {
            Ok(()) => (Event::Returned, None),
            Err(TaskError::Stopped(Stop::Asked)) => (Event::Abort, None),
            Err(error) => (Event::Fail, Some(error.to_string())),
        };
        let now_ms = self.updates.clock.now_ms();
        let record = self.live.outcome(event, error, now_ms);
        info!(update = record.id, phase = ?record.phase, error = record.error, "update ended");
        self.updates.note(record.clone()).await;
        let Self {
            updates,
            live,
            session,
            visit,
            closed,
            during,
            ..
        } = self;
        // The device is open again before anybody is told that the update is over.
        drop(session);
        drop(visit);
        during.end(match record.phase {
            Phase::Done => Stage::Done,
            Phase::Aborted => Stage::Cancelled,
            _ => Stage::Failed,
        });
        updates.leave(&record.device);
        drop(closed);
        live.end(record.clone());
        updates.tell(&record);
    }

    async fn drive(&mut self) -> Result<(), TaskError> {
        let live = self.live.clone();
        let stage = stage(&self.pod, &live, &self.image, &self.terms, &self.updates);
        tokio::select! {
            staged = stage => staged?,
            why = live.stopped() => return Err(why.into()),
            () = self.visit.over() => return Err(Stop::Lease.into()),
        }
        let restart = Restart::of(&self.pod);
        advance(&live, &self.updates, Event::Install).await?;
        match self.pod.ota_commit().await {
            Ok(_) => {}
            // The pod may have heard: whether it restarts will tell.
            Err(error) if is_of_link(&error) => warn!(%error, "no answer to the commit"),
            Err(error) => return Err(error.into()),
        }
        self.session = None;
        advance(&live, &self.updates, Event::Committed).await?;
        check_version(&self.pod, &live, &self.terms, restart).await
    }
}

impl Restart {
    fn of(pod: &Pod) -> Self {
        let mut states = pod.watch();
        states.mark_unchanged();
        Self {
            since: Instant::now(),
            events: pod.events(),
            states,
        }
    }

    /// Resolves when it has.
    async fn seen(self) -> Result<(), PodError> {
        tokio::select! {
            restarted = restarted(self.events) => restarted,
            () = younger(self.states, self.since) => Ok(()),
        }
    }
}

/// Wait for the pod to come back, and see what it runs.
async fn check_version(
    pod: &Pod,
    live: &Live,
    terms: &Terms,
    restart: Restart,
) -> Result<(), TaskError> {
    let restart = timeout(REBOOT_WAIT, restart.seen()).await;
    restart.map_err(|_| TaskError::NoRestart)??;
    let online = pod.wait_online(REBOOT_WAIT).await;
    online.map_err(|_| TaskError::NoReturn)?;
    let found = pod.refresh().await?.firmware_version.clone();
    let version = found.clone();
    live.note(|record| record.version_after = Some(version));
    match &terms.version {
        Some(wanted) if *wanted != found => Err(TaskError::Version {
            found,
            wanted: wanted.clone(),
        }),
        _ => Ok(()),
    }
}

/// The pod's staging memory is also its capture memory, which others need.
async fn drop_image(pod: &Pod) {
    if !pod.state().is_online() {
        return;
    }
    let dropped = timeout(DROP_WAIT, pod.ota_abort()).await;
    if !matches!(dropped, Ok(Ok(_))) {
        // The pod drops it by itself after 30 s.
        warn!("the pod did not drop the image of a failed update");
    }
}

/// Everything up to the point where the pod holds a checked image.
async fn stage(
    pod: &Pod,
    live: &Live,
    image: &Image,
    terms: &Terms,
    updates: &Updates,
) -> Result<(), TaskError> {
    let size = image.bytes.len() as u64;
    let signature = terms.signature.as_deref();
    let begun = pod
        .ota_begin(OtaTarget::Firmware, size, &image.sha256, signature)
        .await?;
    let begun = accepted(begun, "receiving")?;
    live.note(|record| record.signature = Some(begun.sig));
    let mut sender = Sender {
        pod,
        size,
        resumes: 0,
    };
    let mut offset = 0;
    while offset < size {
        offset = sender.part(&image.bytes, offset).await?;
        live.note(|record| record.bytes = offset);
    }
    advance(live, updates, Event::Sent).await?;
    sender.verify().await?;
    advance(live, updates, Event::Verified).await
}

async fn advance(live: &Live, updates: &Updates, event: Event) -> Result<(), TaskError> {
    let record = live.advance(event)?;
    updates.note(record).await;
    Ok(())
}

/// Sends the image, and resumes where it was after a short break of the link.
struct Sender<'r> {
    pod: &'r Pod,
    size: u64,
    resumes: u32,
}

impl Sender<'_> {
    /// Send the part at `offset`; returns the offset of the next one.
    async fn part(&mut self, bytes: &[u8], offset: u64) -> Result<u64, TaskError> {
        let from = usize::try_from(offset).expect("an image fits into memory");
        let to = bytes.len().min(from + OTA_PART_BYTES_MAX);
        match self.pod.ota_data(offset, &bytes[from..to]).await {
            Ok(progress) => accepted(progress, "receiving")?,
            Err(error) => {
                let progress = accepted(self.resume(error).await?, "receiving")?;
                return Ok(progress.received.min(self.size));
            }
        };
        Ok(to as u64)
    }

    async fn verify(&mut self) -> Result<(), TaskError> {
        loop {
            let progress = match self.pod.ota_end().await {
                Ok(progress) => progress,
                Err(error) => self.resume(error).await?,
            };
            // After a broken link nobody knows whether the pod has heard.
            if progress.state != "receiving" {
                return accepted(progress, "verified").map(drop);
            }
        }
    }

    /// After `error`, ask the pod what it has. The question waits for as long as the pod's grace
    /// period.
    async fn resume(&mut self, error: PodError) -> Result<OtaProgress, TaskError> {
        // A pod that has silently restarted refuses, since it knows of no update.
        let refused = matches!(error, PodError::Refused(_));
        if !refused && (!is_of_link(&error) || self.resumes >= RESUMES_MAX) {
            return Err(error.into());
        }
        let progress = self.pod.ota_status().await?;
        if progress.size != self.size || progress.state == "idle" {
            return Err(TaskError::Lost(progress.state));
        }
        if refused {
            return Err(error.into());
        }
        self.resumes += 1;
        warn!(%error, "the link broke during an update");
        info!(received = progress.received, "the update goes on");
        Ok(progress)
    }
}

/// The pod's answer, if it is in the expected state.
fn accepted(progress: OtaProgress, state: &str) -> Result<OtaProgress, TaskError> {
    if progress.state == state {
        return Ok(progress);
    }
    let said = progress.error.filter(|text| !text.is_empty());
    Err(TaskError::Rejected(said.unwrap_or(progress.state)))
}

/// Whether the command may have arrived, and may be answered on another link.
fn is_of_link(error: &PodError) -> bool {
    matches!(
        error,
        PodError::Offline { .. } | PodError::Timeout { .. } | PodError::Protocol(_)
    )
}

/// Resolves when the pod has restarted.
async fn restarted(mut events: broadcast::Receiver<PodEvent>) -> Result<(), PodError> {
    loop {
        match events.recv().await {
            Ok(PodEvent::Rebooted { .. } | PodEvent::FirmwareChanged { .. })
            // Events were missed: the version will tell.
            | Err(broadcast::error::RecvError::Lagged(_)) => return Ok(()),
            Ok(_) => {}
            Err(broadcast::error::RecvError::Closed) => {
                return Err(PodError::Offline {
                    reason: "it was let go".to_owned(),
                });
            }
        }
    }
}

/// Resolves when the pod says that it runs for less time than has passed since then. Of two restarts within seconds, into
/// the same firmware, the second is no event: uptimes are compared with some slack there.
async fn younger(mut states: watch::Receiver<PodState>, since: Instant) {
    while states.changed().await.is_ok() {
        let uptime_ms = match &*states.borrow_and_update() {
            PodState::Online(facts) => facts.raw.get("uptime_ms").and_then(Value::as_u64),
            _ => None,
        };
        if uptime_ms.is_some_and(|ms| Duration::from_millis(ms) < since.elapsed()) {
            return;
        }
    }
    // The pod was let go, which its events say.
    std::future::pending().await
}

/// A pod's failure with its cause, for people.
fn sentence(error: &PodError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
