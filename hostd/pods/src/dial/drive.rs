//! Drives a session: reads what the pod says and sends what its connections have, until either side is gone.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use pod_protocol::dial::{FromPod, SILENCE_MAX, login};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tracing::{debug, info, warn};

use super::channel::Offered;
use super::pace::{STUCK_AFTER, Turn};
use super::session::{Next, Session};
use super::{Dialled, Key, TUNNEL_BYTES_MAX};

/// A connection that takes no bytes for so long is given up.
const SEND_WAIT: Duration = Duration::from_secs(20);

/// Time for the close of a connection.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// How long a full tunnel may hold up the others in [`HOLD_PER`]: a reader that is only late for once finds the time to
/// catch up, and one that is too slow does not keep the others waiting.
const HOLD_MAX: Duration = Duration::from_millis(500);

/// See [`HOLD_MAX`].
const HOLD_PER: Duration = Duration::from_secs(5);

/// What comes from a pod.
#[derive(Debug)]
pub enum Heard<T> {
    /// A frame of text.
    Text(T),
    /// Anything that only says that it is there.
    Sign,
    /// A frame that no pod sends.
    Odd,
}

/// What goes to a pod.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// A frame of text.
    Text(String),
    /// The end, and why.
    Close(String),
}

/// Leaves the pod's place when it is dropped, whatever for.
struct Seat<'a> {
    dialled: &'a Dialled,
    key: Key,
    session: Arc<Session>,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.dialled.leave(&self.key, &self.session);
    }
}

/// A connection that is not closed yet.
struct Open<'a>(&'a Dialled);

impl<'a> Open<'a> {
    fn new(dialled: &'a Dialled) -> Self {
        dialled.open.send_modify(|open| *open += 1);
        Self(dialled)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

impl Dialled {
    /// Serves a pod that has proven that it has this key, to the end of its session; says why it ended. A session that
    /// it had before ends at once.
    pub async fn serve<T, E, R, W>(&self, public_key: &str, mut from: R, mut to: W) -> String
    where
        T: AsRef<str>,
        E: Display,
        R: Stream<Item = Result<Heard<T>, E>> + Unpin,
        W: Sink<Said> + Unpin,
    {
        let _open = Open::new(self);
        let entered = login::key(public_key).ok_or("the pod has no key");
        let entered = entered.and_then(|key| Ok((key, self.enter(key)?)));
        let reason = match entered {
            Err(reason) => reason.to_owned(),
            Ok((key, session)) => {
                let seat = Seat {
                    dialled: self,
                    key,
                    session,
                };
                info!(public_key, "a pod has dialled in");
                let session = &*seat.session;
                let ended = tokio::select! {
                    ended = hear(session, &mut from) => ended,
                    ended = say(session, &mut to) => ended,
                    () = session.over.notified() => String::new(),
                };
                let reason = session.end(&ended).to_string();
                info!(
                    public_key,
                    reason, "the session of a pod that dialled in has ended"
                );
                reason
            }
        };
        let close = to.send(Said::Close(reason.clone()));
        // It may be gone already.
        let _ = timeout(CLOSE_WAIT, close).await;
        reason
    }
}

/// Hears the pod until it ends the session, or breaks its rules. Returns why.
async fn hear<T, E, R>(session: &Session, from: &mut R) -> String
where
    T: AsRef<str>,
    E: Display,
    R: Stream<Item = Result<Heard<T>, E>> + Unpin,
{
    let mut hold = Hold::new();
    loop {
        let heard = match timeout(SILENCE_MAX, from.next()).await {
            Err(_) => return format!("nothing was heard of it for {} s", SILENCE_MAX.as_secs()),
            Ok(None) => return "it has closed the connection".to_owned(),
            Ok(Some(Err(error))) => return format!("the connection broke: {error}"),
            Ok(Some(Ok(heard))) => heard,
        };
        let text = match &heard {
            Heard::Text(text) => text.as_ref(),
            Heard::Sign => continue,
            Heard::Odd => return "it sent a frame that is no text".to_owned(),
        };
        match FromPod::read(text) {
            Err(error) => return error.to_string(),
            Ok(FromPod::Data { tunnel_id, data }) => {
                while session.offer(&tunnel_id, &data) == Offered::Full {
                    if !hold.wait(session).await {
                        warn!(%tunnel_id, "closed a tunnel whose reader is too slow");
                        session.overflow(&tunnel_id, &too_slow());
                        break;
                    }
                }
            }
            Ok(FromPod::Response { request_id, answer }) => session.answer(&request_id, answer),
            Ok(FromPod::Pong) => session.signed(),
            Ok(FromPod::Capabilities(fields)) => session.described(&fields),
            // Whoever wants to know asks for its state.
            Ok(FromPod::Efuse {
                efuse,
                enabled,
                fault,
            }) => debug!(efuse, enabled, fault, "a supply was switched"),
            Ok(FromPod::Other) => {}
        }
    }
}

fn too_slow() -> String {
    let limit = TUNNEL_BYTES_MAX / (1024 * 1024);
    format!(
        "the tunnel was closed: more than {limit} MiB waited, which its reader takes too slowly"
    )
}

/// Sends what there is until the pod takes nothing more. Returns why.
async fn say<W: Sink<Said> + Unpin>(session: &Session, to: &mut W) -> String {
    loop {
        match session.next() {
            Next::Idle => session.work.notified().await,
            Next::Send(frame) => match timeout(SEND_WAIT, to.send(Said::Text(frame))).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return "the connection broke".to_owned(),
                Err(_) => return format!("it has taken nothing for {} s", SEND_WAIT.as_secs()),
            },
            Next::Wait(Turn::Now) => {}
            Next::Wait(Turn::At(at)) => sleep_until(at).await,
            Next::Wait(Turn::AfterSign(until)) => {
                let is_late = timeout_at(until, session.work.notified()).await.is_err();
                if is_late && until <= Instant::now() {
                    let seconds = STUCK_AFTER.as_secs();
                    return format!("it has read nothing that was sent to it for {seconds} s");
                }
            }
        }
    }
}

/// How long the session may still be held up.
struct Hold {
    left: Duration,
    renewed: Instant,
}

impl Hold {
    fn new() -> Self {
        Self {
            left: HOLD_MAX,
            renewed: Instant::now(),
        }
    }

    /// Waits until there may be room; false if that takes too long.
    async fn wait(&mut self, session: &Session) -> bool {
        let began = Instant::now();
        if began >= self.renewed + HOLD_PER {
            self.left = HOLD_MAX;
            self.renewed = began;
        }
        let has_room = timeout(self.left, session.room.notified()).await.is_ok();
        self.left = self.left.saturating_sub(began.elapsed());
        has_room
    }
}
