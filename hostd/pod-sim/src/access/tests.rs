//! Each gate, what passes it, and which of two closed gates answers.

use pod_protocol::commands::Tier;
use pod_protocol::{Refusal, RefusalKind};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::tests::{Client, bench};
use crate::{Board, Origin, SimConfig, SimPod};

const CLOUD: Origin = Origin::Tunnel(Tier::Firmware);

async fn set_lan_policy(pod: &std::sync::Arc<SimPod>, policy: &str) {
    let mut usb = Client::from(pod, Origin::Usb).await;
    usb.ok(json!({"cmd": "lan_policy", "set": policy})).await;
}

async fn refused(client: &mut Client, request: Value, text: &str, kind: RefusalKind) {
    let said = client.refused(request).await;
    assert_eq!(said, text);
    assert_eq!(Refusal::new(said).kind, kind);
}

#[tokio::test(start_paused = true)]
async fn a_locked_lan_changes_no_settings_and_no_firmware() {
    let pod = bench(SimConfig::default());
    set_lan_policy(&pod, "locked").await;
    for origin in [Origin::Lan, Origin::LanTls] {
        let mut client = Client::from(&pod, origin).await;
        for verb in ["cloud_clear", "ota_begin", "warp"] {
            let text = format!("locked: `{verb}` is not open to the LAN");
            refused(
                &mut client,
                json!({"cmd": verb}),
                &text,
                RefusalKind::Locked,
            )
            .await;
        }
        client.ok(json!({"cmd": "cloud_status"})).await;
        client
            .ok(json!({"cmd": "gpio", "la": 3, "mode": "output"}))
            .await;
    }
    for origin in [Origin::Usb, CLOUD] {
        let mut client = Client::from(&pod, origin).await;
        client.ok(json!({"cmd": "cloud_clear"})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_lan_there_is_no_listener() {
    let pod = bench(SimConfig::default());
    let mut before = Client::new(&pod).await;
    before.ok(json!({"cmd": "ping"})).await;
    set_lan_policy(&pod, "off").await;
    before.send(&json!({"cmd": "ping"})).await;
    assert_eq!(before.reply().await, None);
    assert!(pod.link(Origin::Lan).connect().await.is_err());
    assert!(pod.link(Origin::LanTls).connect().await.is_err());
    set_lan_policy(&pod, "open").await;
    Client::new(&pod).await.ok(json!({"cmd": "ping"})).await;
}

#[tokio::test(start_paused = true)]
async fn a_cloud_job_leaves_the_lan_only_looks() {
    let pod = bench(SimConfig::default());
    let mut lan = Client::new(&pod).await;
    pod.hold("job 7 (me@example)", Duration::from_millis(89_500));
    let text = "busy: a cloud job holds this pod (job 7 (me@example), 90 s left)";
    let kind = RefusalKind::Leased {
        holder: "job 7 (me@example)".to_owned(),
        left_s: 90,
    };
    for request in [
        json!({"cmd": "la_capture"}),
        json!({"cmd": "gpio"}),
        json!({"cmd": "can_read"}),
        json!({"cmd": "sig_policy", "set": "audit"}),
        json!({"cmd": "warp"}),
    ] {
        refused(&mut lan, request, text, kind.clone()).await;
    }
    for verb in ["ping", "la_pins", "sig_policy", "ota_status"] {
        lan.ok(json!({"cmd": verb})).await;
    }
    let lease = &lan.ok(json!({"cmd": "status"})).await["lease"];
    let held = json!({"held": true, "holder": "job 7 (me@example)", "left_s": 90});
    assert_eq!(lease, &held);
    for origin in [Origin::Usb, CLOUD] {
        let mut client = Client::from(&pod, origin).await;
        client.ok(json!({"cmd": "gpio"})).await;
    }
    sleep(Duration::from_secs(89)).await;
    let said = lan.refused(json!({"cmd": "gpio"})).await;
    assert!(said.ends_with("1 s left)"), "{said}");
    sleep(Duration::from_millis(500)).await;
    lan.ok(json!({"cmd": "gpio"})).await;
    pod.hold("again", Duration::from_secs(9000));
    let said = lan.refused(json!({"cmd": "gpio"})).await;
    assert!(said.ends_with("600 s left)"), "{said}");
    pod.release();
    lan.ok(json!({"cmd": "gpio"})).await;
    let lease = &lan.ok(json!({"cmd": "status"})).await["lease"];
    assert_eq!(lease, &json!({"held": false, "holder": "", "left_s": 0}));
}

#[tokio::test(start_paused = true)]
async fn a_tunnel_does_what_its_tier_allows() {
    let pod = bench(SimConfig::default());
    let requests = [
        json!({"cmd": "ping"}),
        json!({"cmd": "gpio"}),
        json!({"cmd": "cloud_clear"}),
        json!({"cmd": "ota_abort"}),
    ];
    for allowed in 0..=3 {
        let tier = Tier::from_number(allowed).unwrap();
        let mut client = Client::from(&pod, Origin::Tunnel(tier)).await;
        for (needed, request) in (0..).zip(&requests) {
            let verb = request["cmd"].as_str().unwrap();
            if needed <= allowed {
                client.ok(request.clone()).await;
                continue;
            }
            let text =
                format!("forbidden: `{verb}` needs tier {needed}, this tunnel has {allowed}");
            refused(&mut client, request.clone(), &text, RefusalKind::Forbidden).await;
        }
    }
    let mut client = Client::from(&pod, Origin::Tunnel(Tier::Instrument)).await;
    client.ok(json!({"cmd": "sig_policy"})).await;
    let text = "forbidden: `sig_policy` needs tier 2, this tunnel has 1";
    let set = json!({"cmd": "sig_policy", "set": "required"});
    refused(&mut client, set, text, RefusalKind::Forbidden).await;
}

#[tokio::test(start_paused = true)]
async fn safe_mode_leaves_what_a_rescue_needs() {
    let pod = bench(SimConfig::default());
    pod.set_safe_mode(Some("3 crashes"));
    let mut client = Client::new(&pod).await;
    for verb in ["gpio", "la_capture", "warp"] {
        let text = format!("safe mode: `{verb}` is off after repeated crashes at boot");
        refused(&mut client, json!({"cmd": verb}), &text, RefusalKind::Plain).await;
    }
    for verb in ["ping", "target_status", "la_voltage", "can_status", "nrst"] {
        client.ok(json!({"cmd": verb})).await;
    }
    let status = client.ok(json!({"cmd": "status"})).await;
    assert_eq!(
        (&status["safe_mode"], &status["safe_reason"]),
        (&json!(true), &json!("3 crashes"))
    );
    pod.set_safe_mode(None);
    client.ok(json!({"cmd": "gpio"})).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_shut_gate_answers() {
    let pod = bench(SimConfig {
        board: Board::Digital,
        ..SimConfig::default()
    });
    pod.set_safe_mode(Some("crashes"));
    set_lan_policy(&pod, "locked").await;
    pod.hold("job", Duration::from_secs(60));
    let set = json!({"cmd": "calibrate", "clear": true});
    let starts = async |client: &mut Client| {
        let text = client.refused(set.clone()).await;
        text.split([':', '`']).next().unwrap().to_owned()
    };
    let mut lan = Client::new(&pod).await;
    assert_eq!(starts(&mut lan).await, "locked");
    set_lan_policy(&pod, "open").await;
    assert_eq!(starts(&mut lan).await, "busy");
    let mut tunnel = Client::from(&pod, Origin::Tunnel(Tier::Instrument)).await;
    assert_eq!(starts(&mut tunnel).await, "forbidden");
    pod.release();
    assert_eq!(starts(&mut lan).await, "safe mode");
    pod.set_safe_mode(None);
    let text = lan.refused(set.clone()).await;
    assert!(text.starts_with("this BenchPod has no analog front end"));
}
