//! Byte tunnels: a pod connection over a WebSocket, for as long as the lease that let it in lasts.
//!
//! Binary frames carry the byte stream of a pod connection in both directions, split anywhere. The
//! [`gate`] decides what may pass. A client's Close is answered only after the pod has freed what the
//! tunnel used, since the client's next request may need it at once.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use futures_util::FutureExt;
use pods::{Pod, Session};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tracing::{debug, info};

use crate::leases::Visit;
use base::live::{Ending, Goodbye, Live, Peer, Said};

pub(crate) mod escape;
pub mod gate;

use gate::{Gate, Verdict};

/// Approximate bytes from the pod per frame.
const READ_BYTES: usize = 64 << 10;

/// Time for the pod to take what the client sent.
const POD_WAIT: Duration = Duration::from_secs(30);

/// A granted tunnel.
pub struct Tunnel {
    pub pod: Pod,
    pub session: Session,
    pub visit: Visit,
    pub gate: Gate,
}

/// Why a tunnel's bytes stop.
enum End {
    /// The pod has closed its connection, cleanly or because it is gone.
    Pod,
    Other(Goodbye),
}

impl From<Goodbye> for End {
    fn from(goodbye: Goodbye) -> Self {
        Self::Other(goodbye)
    }
}

impl Live for Tunnel {
    fn name(&self) -> &'static str {
        "tunnel"
    }

    fn serve(
        self: Box<Self>,
        peer: Peer,
        ending: Ending,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(run(*self, peer, ending))
    }
}

async fn run(tunnel: Tunnel, mut peer: Peer, mut ending: Ending) {
    let Tunnel {
        pod,
        mut session,
        mut visit,
        mut gate,
    } = tunnel;
    let end = tokio::select! {
        end = relay(&mut session, &mut gate, &mut peer) => end,
        () = visit.over() => {
            info!("the lease of a tunnel is over");
            Goodbye::lease_lost().into()
        }
        goodbye = ending.ended() => goodbye.into(),
    };
    let ended = session.end();
    let released = session.close().await;
    if let Err(error) = &released {
        debug!(%error, "a tunnel was closed before the pod had let go");
    }
    drop(visit);
    if gate.has_reloaded() {
        tokio::spawn(async move {
            if let Err(error) = pod.refresh().await {
                debug!(%error, "a pod did not say what it is after a tunnel");
            }
        });
    }
    let goodbye = match (end, ended, released) {
        (End::Other(goodbye), ..) => goodbye,
        (End::Pod, Some(end), _) => Goodbye::device_offline(&end.to_string()),
        // It cannot be asked any more.
        (End::Pod, None, Err(error)) => Goodbye::device_offline(&error.to_string()),
        (End::Pod, None, Ok(())) => Goodbye::normal(""),
    };
    peer.close(goodbye).await;
}

/// Carry bytes both ways until one side ends it.
async fn relay(session: &mut Session, gate: &mut Gate, peer: &mut Peer) -> End {
    match carry(session, gate, peer).await {
        Err(end) => end,
        Ok(never) => match never {},
    }
}

/// What the client has sent and the pod has not taken yet.
#[derive(Debug, Default)]
struct Outbound {
    /// Waiting for the gate.
    waiting: Bytes,
    /// For the pod.
    passed: Bytes,
    /// Deadline for the pod to take what was passed but not yet flushed.
    deadline: Option<Instant>,
}

async fn carry(session: &mut Session, gate: &mut Gate, peer: &mut Peer) -> Result<Infallible, End> {
    let (mut from_pod, mut to_pod) = tokio::io::split(session);
    let mut buffer = BytesMut::new();
    let mut out = Outbound::default();
    loop {
        while out.deadline.is_none() && gate.is_open() && !out.waiting.is_empty() {
            pass(&mut to_pod, gate, peer, &mut out).await?;
        }
        // Usually the pod takes all of it at once, and no timer is needed.
        if out.deadline.is_some() {
            out.deliver(&mut to_pod).now_or_never().transpose()?;
            if out.deadline.is_none() && !out.waiting.is_empty() {
                continue;
            }
        }
        let (owes, listen) = (out.deadline.is_some(), out.is_empty());
        let wakes_at = [gate.wakes_at(), out.deadline].into_iter().flatten().min();
        buffer.reserve(READ_BYTES);
        tokio::select! {
            read = from_pod.read_buf(&mut buffer) => {
                let Ok(1..) = read else {
                    return Err(End::Pod);
                };
                let bytes = buffer.split().freeze();
                gate.pod(&bytes, Instant::now());
                // Never an empty frame: clients take it for the end.
                peer.send(Message::Binary(bytes)).await?;
            }
            delivered = out.deliver(&mut to_pod), if owes => delivered?,
            said = peer.hear(listen) => out.waiting = match said? {
                Said::Bytes(bytes) => bytes,
                Said::Text(text) => text.into(),
            },
            () = until(wakes_at) => {
                let now = Instant::now();
                if out.deadline.is_some_and(|at| at <= now) {
                    return Err(Goodbye::device_offline("the device takes nothing").into());
                }
                if let Some(end) = gate.pause(now) {
                    return Err(Goodbye::normal(&end.to_string()).into());
                }
            }
        }
    }
}

impl Outbound {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.deadline.is_none()
    }

    fn pass(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.passed = bytes;
            self.deadline = Some(Instant::now() + POD_WAIT);
        }
    }

    /// Give the pod what was passed. Safe to cancel.
    async fn deliver(&mut self, pod: &mut (impl AsyncWrite + Unpin)) -> Result<(), End> {
        while !self.passed.is_empty() {
            match pod.write(&self.passed).await {
                Ok(taken @ 1..) => self.passed.advance(taken),
                Ok(0) | Err(_) => return Err(End::Pod),
            }
        }
        pod.flush().await.map_err(|_| End::Pod)?;
        self.deadline = None;
        Ok(())
    }
}

/// Pass waiting bytes through the gate as far as it allows; the rest waits for the pod.
async fn pass(
    pod: &mut (impl AsyncWrite + Unpin),
    gate: &mut Gate,
    peer: &mut Peer,
    out: &mut Outbound,
) -> Result<(), End> {
    match gate.client(std::mem::take(&mut out.waiting), Instant::now()) {
        Verdict::Pass { bytes, rest } => {
            out.pass(bytes);
            out.waiting = rest;
            Ok(())
        }
        Verdict::Refuse { before, line, rest } => {
            out.pass(before);
            out.waiting = rest;
            Ok(peer.send(Message::Binary(line.into())).await?)
        }
        Verdict::Last { bytes, why } => {
            out.pass(bytes);
            match tokio::time::timeout(POD_WAIT, out.deliver(pod)).await {
                Ok(delivered) => delivered?,
                Err(_) => debug!("the pod does not take what came before the end of a tunnel"),
            }
            Err(Goodbye::policy(&why.to_string()).into())
        }
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
