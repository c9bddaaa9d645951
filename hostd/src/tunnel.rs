//! Byte tunnels: a pod connection over a WebSocket, for as long as the lease that let it in.
//!
//! Binary frames carry the byte stream of a pod connection in both directions, cut anywhere. What may
//! pass is up to the [`gate`]. A Close of the client is answered once the pod has freed what the
//! tunnel used, since the client's next request may ask for it at once.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pods::{Pod, Session};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tracing::{debug, info};

use crate::http::socket::{Goodbye, Live, Peer, Said, Stopping, stopped};
use crate::leases::Visit;

pub mod escape;
pub mod gate;

use gate::{Gate, Verdict};

/// Bytes from the pod in one frame.
const READ_BYTES: usize = 16 << 10;

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
    /// The pod has closed its connection: in order, or because it is gone.
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
        stopping: Stopping,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(run(*self, peer, stopping))
    }
}

async fn run(tunnel: Tunnel, mut peer: Peer, mut stopping: Stopping) {
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
        () = stopped(&mut stopping) => Goodbye::stopping().into(),
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

/// Carry bytes both ways until somebody ends it.
async fn relay(session: &mut Session, gate: &mut Gate, peer: &mut Peer) -> End {
    match carry(session, gate, peer).await {
        Err(end) => end,
        Ok(never) => match never {},
    }
}

async fn carry(session: &mut Session, gate: &mut Gate, peer: &mut Peer) -> Result<Infallible, End> {
    let mut from_pod = vec![0; READ_BYTES];
    let mut waiting: Vec<u8> = Vec::new();
    loop {
        if gate.is_open() && !waiting.is_empty() {
            let bytes = std::mem::take(&mut waiting);
            waiting = pass(session, gate, peer, &bytes).await?;
            continue;
        }
        let wakes_at = gate.wakes_at();
        tokio::select! {
            read = session.read(&mut from_pod) => {
                let Ok(count @ 1..) = read else {
                    return Err(End::Pod);
                };
                gate.pod(&from_pod[..count], Instant::now());
                // Never an empty frame: clients take one for the end.
                peer.send(Message::Binary(Bytes::copy_from_slice(&from_pod[..count]))).await?;
            }
            said = peer.hear(waiting.is_empty()) => match said? {
                Said::Bytes(bytes) => waiting.extend_from_slice(&bytes),
                Said::Text(text) => waiting.extend_from_slice(text.as_bytes()),
            },
            () = until(wakes_at) => {
                if let Some(end) = gate.pause(Instant::now()) {
                    return Err(Goodbye::normal(&end.to_string()).into());
                }
            }
        }
    }
}

/// Hand bytes of the client to the pod as far as the gate lets them; what is left waits for the pod.
async fn pass(
    session: &mut Session,
    gate: &mut Gate,
    peer: &mut Peer,
    bytes: &[u8],
) -> Result<Vec<u8>, End> {
    match gate.client(bytes, Instant::now()) {
        Verdict::Pass { bytes, rest } => {
            write(session, &bytes).await?;
            Ok(rest)
        }
        Verdict::Refuse { before, line, rest } => {
            write(session, &before).await?;
            peer.send(Message::Binary(line.into())).await?;
            Ok(rest)
        }
        Verdict::Last { bytes, why } => {
            write(session, &bytes).await?;
            Err(Goodbye::policy(&why.to_string()).into())
        }
    }
}

async fn write(session: &mut Session, bytes: &[u8]) -> Result<(), End> {
    if bytes.is_empty() {
        return Ok(());
    }
    let writing = async {
        session.write_all(bytes).await?;
        session.flush().await
    };
    match tokio::time::timeout(POD_WAIT, writing).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(End::Pod),
        Err(_) => Err(Goodbye::device_offline("the device takes nothing").into()),
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
