//! What a pod does on its link: tunnels are connections to it, single commands a connection each, and it tells what it is
//! and what its supplies do.

use std::collections::HashMap;
use std::pin::pin;

use bytes::BytesMut;
use pod_protocol::commands::Tier;
use pod_protocol::connection::lines::Lines;
use pod_protocol::dial::{self, FromPod, POD_DATA_BYTES, TUNNELS_MAX, ToPod};
use pod_protocol::{REPLY_LINE_BYTES_MAX, Reply};
use serde_json::{Map, Value};
use tokio::io::{
    AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Duration;

use super::mailbox::Outbox;
use crate::access::Origin;
use crate::{SimPod, status};

/// Bytes of a tunnel between the link and what serves it, each way.
const PIPE_BYTES: usize = 4 * 1024;

/// Single commands under way; one more is refused.
const COMMANDS_MAX: usize = 8;

/// A tunnel that is open.
struct Tunnel {
    to: WriteHalf<DuplexStream>,
    reading: AbortHandle,
}

/// What the server was last told.
#[derive(Default, PartialEq)]
struct Told {
    capabilities: Map<String, Value>,
    efuses: Vec<(u8, bool, bool)>,
}

/// One link.
struct Session<'a> {
    pod: &'a SimPod,
    device_id: &'a str,
    send: mpsc::Sender<String>,
    tunnels: HashMap<String, Tunnel>,
    tasks: JoinSet<()>,
    told: Told,
}

impl SimPod {
    /// Serves a server whose frames come from `from`, until one of them is no message, or nobody takes or sends any
    /// more. Tunnels and the hold of a job end with it.
    pub async fn converse(&self, device_id: &str, mut from: Outbox, send: mpsc::Sender<String>) {
        let _hold = Held(self);
        let mut session = Session {
            pod: self,
            device_id,
            send,
            tunnels: HashMap::new(),
            tasks: JoinSet::new(),
            told: Told::default(),
        };
        let mut changed = pin!(self.shared.changed().notified());
        let mut goes_on = session.tell().await;
        while goes_on.is_some() {
            goes_on = tokio::select! {
                taken = from.take() => match taken.as_deref().map(ToPod::read) {
                    Some(Ok(message)) => session.take(message).await,
                    _ => None,
                },
                () = &mut changed => {
                    changed.set(self.shared.changed().notified());
                    session.tell().await
                }
            };
        }
    }
}

/// The hold of a job ends with the link.
struct Held<'a>(&'a SimPod);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl Session<'_> {
    /// Tells what is new about the pod.
    async fn tell(&mut self) -> Option<()> {
        let now = self.pod.shared.with(|world, now_ns| Told {
            capabilities: status::announced(world, now_ns),
            efuses: (1..=2)
                .map(|efuse| {
                    let (enabled, fault) = world.digital.rails.efuse(efuse, now_ns);
                    (efuse, enabled, fault)
                })
                .collect(),
        });
        if now.capabilities != self.told.capabilities {
            let capabilities = FromPod::Capabilities(now.capabilities.clone());
            self.say(&capabilities).await?;
        }
        for (index, efuse) in now.efuses.iter().enumerate() {
            if self.told.efuses.get(index) != Some(efuse) {
                let (efuse, enabled, fault) = *efuse;
                let event = FromPod::Efuse {
                    efuse,
                    enabled,
                    fault,
                };
                self.say(&event).await?;
            }
        }
        self.told = now;
        Some(())
    }

    async fn say(&self, message: &FromPod<'_>) -> Option<()> {
        self.send.send(message.write(self.device_id)).await.ok()
    }

    async fn take(&mut self, message: ToPod<'_>) -> Option<()> {
        while self.tasks.try_join_next().is_some() {}
        match message {
            ToPod::Request {
                request_id,
                command,
            } => {
                let request_id = request_id.into_owned();
                if self.tasks.len() >= COMMANDS_MAX + 2 * TUNNELS_MAX {
                    let answer = Err("busy: too many commands at once".to_owned());
                    let request_id = request_id.into();
                    return self.say(&FromPod::Response { request_id, answer }).await;
                }
                self.command(request_id, &command);
            }
            ToPod::Open { tunnel_id, tier } => {
                self.close(&tunnel_id).await;
                if self.tunnels.len() < TUNNELS_MAX {
                    self.open(tunnel_id.into_owned(), tier);
                }
            }
            ToPod::Data { tunnel_id, data } => {
                let mut bytes = BytesMut::new();
                dial::decode(&data, &mut bytes)?;
                if let Some(tunnel) = self.tunnels.get_mut(&*tunnel_id) {
                    // What serves it may have ended; the server closes it then.
                    let _ = tunnel.to.write_all(&bytes).await;
                }
            }
            ToPod::Close { tunnel_id } => self.close(&tunnel_id).await,
            ToPod::Lease { held: None } => self.pod.release(),
            ToPod::Lease {
                held: Some((holder, left_s)),
            } => self.pod.hold(&holder, Duration::from_secs(left_s.into())),
            ToPod::Ping => self.say(&FromPod::Pong).await?,
            ToPod::Other => {}
        }
        Some(())
    }

    fn open(&mut self, tunnel_id: String, tier: Tier) {
        let (near, far) = duplex(PIPE_BYTES);
        let (from, to) = split(near);
        let pod = SimPod {
            shared: self.pod.shared.clone(),
        };
        self.tasks.spawn(async move {
            let _ending = pod.serve_as(far, Origin::Tunnel(tier)).await;
        });
        let reading = carry(tunnel_id.clone(), from, self.send.clone());
        let reading = self.tasks.spawn(reading);
        self.tunnels.insert(tunnel_id, Tunnel { to, reading });
    }

    async fn close(&mut self, tunnel_id: &str) {
        if let Some(mut tunnel) = self.tunnels.remove(tunnel_id) {
            tunnel.reading.abort();
            // As with TCP, what serves it sees the end.
            let _ = tunnel.to.shutdown().await;
        }
    }

    fn command(&mut self, request_id: String, command: &Map<String, Value>) {
        let line =
            serde_json::to_vec(command).expect("a JSON object with text keys can be written");
        let pod = SimPod {
            shared: self.pod.shared.clone(),
        };
        let (send, device_id) = (self.send.clone(), self.device_id.to_owned());
        self.tasks.spawn(async move {
            let answer = answer(pod, line).await;
            let request_id = request_id.into();
            let response = FromPod::Response { request_id, answer }.write(&device_id);
            // Nobody takes it any more when the link ends.
            let _ = send.send(response).await;
        });
    }
}

/// Carries what a tunnel's connection says to the link.
async fn carry(tunnel_id: String, mut from: ReadHalf<DuplexStream>, send: mpsc::Sender<String>) {
    let mut bytes = [0; POD_DATA_BYTES];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let frame = dial::frame(&tunnel_id, &bytes[..count]);
        if send.send(frame).await.is_err() {
            return;
        }
    }
}

/// Runs a single command on a connection of its own.
async fn answer(pod: SimPod, line: Vec<u8>) -> Result<Value, String> {
    let (near, far) = duplex(PIPE_BYTES);
    let serving = pod.serve_beside(far, Origin::Tunnel(Tier::Firmware));
    let asking = async {
        let mut lines = Lines::new(near, REPLY_LINE_BYTES_MAX);
        lines.write(line).await.ok()?;
        Reply::parse(lines.read().await.ok()??).ok()
    };
    let reply = tokio::select! {
        reply = asking => reply,
        _ending = serving => None,
    };
    match reply {
        Some(Reply::Done(data)) => Ok(data),
        Some(Reply::Refused(refusal)) => Err(refusal.text),
        None => Err("busy: the pod does not answer now".to_owned()),
    }
}
