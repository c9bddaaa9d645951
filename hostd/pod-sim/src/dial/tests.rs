//! A pod that dials behaves on its link as on any connection, and within its memory.

use std::sync::Arc;

use pod_protocol::commands::Tier;
use pod_protocol::dial::{FromPod, ToPod, frame};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Duration, sleep};

use super::{Inbox, mailbox};
use crate::tests::bench;
use crate::{SimConfig, SimPod};

/// A server at the other end of a link.
struct Server {
    inbox: Inbox,
    frames: mpsc::Receiver<String>,
}

impl Server {
    fn of(pod: &Arc<SimPod>) -> Self {
        let (inbox, outbox) = mailbox();
        let (send, frames) = mpsc::channel(32);
        let pod = pod.clone();
        tokio::spawn(async move { pod.converse("01D", outbox, send).await });
        Self { inbox, frames }
    }

    fn say(&self, message: &ToPod<'_>) {
        self.inbox.put(message.write()).unwrap();
    }

    fn open(&self, tunnel: &str, tier: Tier) {
        let tunnel_id = tunnel.into();
        self.say(&ToPod::Open { tunnel_id, tier });
    }

    fn send(&self, tunnel: &str, bytes: &[u8]) {
        self.inbox.put(frame(tunnel, bytes)).unwrap();
    }

    async fn hear(&mut self) -> Value {
        let frame = self.frames.recv().await.unwrap();
        FromPod::read(&frame).unwrap();
        serde_json::from_str(&frame).unwrap()
    }

    async fn hear_of(&mut self, kind: &str) -> Value {
        loop {
            let heard = self.hear().await;
            if heard["type"] == kind {
                return heard;
            }
        }
    }

    async fn command(&mut self, command: Value) -> Value {
        let request_id = "7".into();
        let command = command.as_object().cloned().unwrap();
        self.say(&ToPod::Request {
            request_id,
            command,
        });
        self.hear_of("command.response").await
    }

    /// The next whole line of a tunnel.
    async fn line(&mut self, tunnel: &str) -> Value {
        let mut bytes = bytes::BytesMut::new();
        while !bytes.ends_with(b"\n") {
            let heard = self.hear_of("tunnel.data").await;
            assert_eq!(heard["tunnel_id"], tunnel);
            pod_protocol::dial::decode(heard["data_b64"].as_str().unwrap(), &mut bytes).unwrap();
        }
        serde_json::from_slice(&bytes).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn it_says_what_it_is_and_what_its_supplies_do() {
    let pod = bench(SimConfig::default());
    let mut server = Server::of(&pod);
    let capabilities = server.hear().await;
    assert_eq!(capabilities["type"], "capabilities");
    assert_eq!(capabilities["device_id"], "01D");
    assert_eq!(capabilities["board"], "stm32h563");
    assert_eq!(capabilities["lease_state"], true);
    for efuse in [1, 2] {
        let event = server.hear().await;
        let wanted = json!({"type": "efuse.event", "device_id": "01D", "efuse": efuse,
            "enabled": false, "fault": false});
        assert_eq!(event, wanted);
    }
    let request_id = "7".into();
    let power = json!({"cmd": "target_power", "efuse": 2, "state": 1});
    let command = power.as_object().cloned().unwrap();
    server.say(&ToPod::Request {
        request_id,
        command,
    });
    // In either order.
    let mut heard = [server.hear().await, server.hear().await];
    heard.sort_by_key(|message| message["type"].to_string());
    let [answer, event] = heard;
    assert_eq!(
        (&answer["request_id"], &answer["status"]),
        (&json!("7"), &json!("ok"))
    );
    assert_eq!(
        (&event["efuse"], &event["enabled"]),
        (&json!(2), &json!(true))
    );
    let answer = server.command(json!({"cmd": "nonsense"})).await;
    assert_eq!(answer["status"], "error");
    assert!(
        answer["error"].as_str().unwrap().contains("unknown cmd"),
        "{answer}"
    );
}

#[tokio::test(start_paused = true)]
async fn tunnels_are_connections_of_their_tier_and_three() {
    let pod = bench(SimConfig::default());
    let mut server = Server::of(&pod);
    server.open("a", Tier::Read);
    for tunnel in ["b", "c", "d"] {
        server.open(tunnel, Tier::Firmware);
    }
    server.send("a", b"{\"cmd\":\"ping\"}\n");
    assert_eq!(
        server.line("a").await,
        json!({"status": "ok", "data": "pong"})
    );
    server.send("a", b"{\"cmd\":\"nrst\",\"state\":0}\n");
    let refused = server.line("a").await;
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .starts_with("forbidden:"),
        "{refused}"
    );
    // The fourth was ignored, and data for it as well.
    server.send("d", b"{\"cmd\":\"ping\"}\n");
    server.send("c", b"{\"cmd\":\"ping\"}\n");
    assert_eq!(server.line("c").await["data"], "pong");
    // Its place is free once another has ended, and a known one begins afresh.
    server.say(&ToPod::Close {
        tunnel_id: "c".into(),
    });
    server.open("d", Tier::Firmware);
    server.send("d", b"{\"cmd\":\"pi");
    server.open("d", Tier::Firmware);
    server.send("d", b"{\"cmd\":\"ping\"}\n");
    assert_eq!(server.line("d").await["data"], "pong");
}

#[tokio::test(start_paused = true)]
async fn a_job_holds_the_pod_until_the_link_ends() {
    let pod = bench(SimConfig::default());
    let mut server = Server::of(&pod);
    server.say(&ToPod::Lease {
        held: Some(("ci".to_owned(), 60)),
    });
    let lease = server.command(json!({"cmd": "status"})).await["data"]["lease"].clone();
    assert_eq!(
        (&lease["held"], &lease["holder"]),
        (&json!(true), &json!("ci"))
    );
    drop(server);
    sleep(Duration::from_millis(1)).await;
    let mut server = Server::of(&pod);
    let lease = server.command(json!({"cmd": "status"})).await["data"]["lease"].clone();
    assert_eq!(lease["held"], false);
}

#[tokio::test(start_paused = true)]
async fn frames_it_has_read_are_acknowledged_and_too_many_are_not_kept() {
    let pod = bench(SimConfig::default());
    let mut server = Server::of(&pod);
    server.say(&ToPod::Ping);
    server.hear_of("pong").await;
    // Whoever sends on without waiting.
    let frame = frame("x", &[0; 1024]);
    let sent = (0..100)
        .take_while(|_| server.inbox.put(frame.clone()).is_ok())
        .count();
    assert_eq!(sent, 11);
}
