//! Settings are stored, survive a restart, and change only from where they may; clients classify
//! the refusals.

use pod_protocol::commands::Tier;
use pod_protocol::{Refusal, RefusalKind};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::tests::{Client, bench};
use crate::{Origin, SimConfig};

const CLOUD: Origin = Origin::Tunnel(Tier::Firmware);

fn keyed() -> SimConfig {
    SimConfig {
        update_keys: vec![[7; 32]],
        ..SimConfig::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_was_never_set_up_says_so() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for (command, expected) in [
        (
            "cloud_status",
            json!({"configured": false, "state": "disabled", "device_id": "", "last_error": "",
                "host": "", "port": 0, "tls": true, "verify": true}),
        ),
        (
            "wifi_status",
            json!({"state": "disabled", "configured": false, "connected": false, "ssid": ""}),
        ),
        ("lan_policy", json!({"policy": "open"})),
        (
            "sig_policy",
            json!({"policy": "audit", "enforces": false, "keys": 0}),
        ),
        ("usb_network", json!({"setting": "on"})),
        ("cloud_ca", json!({"present": false, "certs": []})),
        ("cloud_proxy", json!({})),
    ] {
        assert_eq!(client.ok(json!({"cmd": command})).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_lan_is_told_where_to_change_what_it_may_not() {
    let pod = bench(keyed());
    let mut client = Client::new(&pod).await;
    for (request, text) in [
        (
            json!({"cmd": "lan_policy", "set": "locked"}),
            "lan_policy: change it from the cloud or the USB console",
        ),
        (
            json!({"cmd": "sig_policy", "set": "required"}),
            "sig_policy: change it from the cloud or the USB console",
        ),
        (
            json!({"cmd": "usb_network", "set": "off"}),
            "usb_network: change it on the device",
        ),
        (
            json!({"cmd": "cloud_ca", "clear": true}),
            "cloud_ca: change it from the cloud or over USB",
        ),
        (
            json!({"cmd": "cloud_proxy", "set": "proxy:3128"}),
            "cloud_proxy: change it from the cloud or over USB",
        ),
        (
            json!({"cmd": "identity_wipe"}),
            "identity_wipe: change it on the device, at its USB console",
        ),
    ] {
        let refused = client.refused(request.clone()).await;
        assert_eq!(refused, text);
        assert_eq!(Refusal::new(refused).kind, RefusalKind::Locked, "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_signature_policy_is_loosened_over_usb_only() {
    let pod = bench(keyed());
    let mut cloud = Client::from(&pod, CLOUD).await;
    let set = |policy: &str| json!({"cmd": "sig_policy", "set": policy});
    let tightened = cloud.ok(set("required")).await;
    assert_eq!(
        tightened,
        json!({"policy": "required", "enforces": true, "keys": 1})
    );
    let text = cloud.refused(set("permissive")).await;
    assert_eq!(
        text,
        "sig_policy: only the USB console can loosen `required`"
    );
    assert_eq!(Refusal::new(text).kind, RefusalKind::Locked);
    let mut usb = Client::from(&pod, Origin::Usb).await;
    assert_eq!(usb.ok(set("audit")).await["policy"], "audit");
    assert_eq!(
        usb.refused(set("strict")).await,
        "bad set: want audit, permissive or required"
    );
    let mut keyless = Client::from(&bench(SimConfig::default()), Origin::Usb).await;
    assert_eq!(
        keyless.refused(set("required")).await,
        "sig_policy: this firmware has no keys to check signatures with"
    );
}

#[tokio::test(start_paused = true)]
async fn settings_outlive_a_restart() {
    let pod = bench(keyed());
    let mut usb = Client::from(&pod, Origin::Usb).await;
    for request in [
        json!({"cmd": "cloud_set", "host": "cloud.example", "device_id": "b1"}),
        json!({"cmd": "cloud_proxy", "set": "proxy:3128", "user": "u", "password": "secret"}),
        json!({"cmd": "wifi_set", "ssid": "bench", "password": "correct horse"}),
        json!({"cmd": "usb_network", "set": "off"}),
        json!({"cmd": "lan_policy", "set": "locked"}),
        json!({"cmd": "sig_policy", "set": "permissive"}),
        json!({"cmd": "eth", "action": "speed", "mbit": 10, "duplex": "half"}),
    ] {
        usb.ok(request).await;
    }
    let read = async |client: &mut Client| {
        let mut all = Vec::new();
        for command in ["usb_network", "lan_policy", "sig_policy", "cloud_proxy"] {
            all.push(client.ok(json!({"cmd": command})).await);
        }
        all.push(client.ok(json!({"cmd": "eth", "action": "stats"})).await);
        all
    };
    let before = read(&mut usb).await;
    assert_eq!(
        before[3],
        json!({"host": "proxy", "port": 3128, "auth": true})
    );
    assert_eq!(before[4]["mbit"], 10);
    pod.reboot();
    sleep(Duration::from_secs(2)).await;
    let mut usb = Client::from(&pod, Origin::Usb).await;
    assert_eq!(read(&mut usb).await, before);
    let status = usb.ok(json!({"cmd": "status"})).await;
    assert_eq!(status["lan_policy"], "locked");
    assert_eq!(status["sig_keys"], 1);
    for (command, state) in [("cloud_status", "connecting"), ("wifi_status", "connected")] {
        assert_eq!(usb.ok(json!({"cmd": command})).await["state"], state);
    }
    sleep(Duration::from_secs(12)).await;
    let cloud = usb.ok(json!({"cmd": "cloud_status"})).await;
    assert_eq!(
        (&cloud["state"], &cloud["host"], &cloud["port"]),
        (&json!("backoff"), &json!("cloud.example"), &json!(443))
    );
    for command in ["cloud_clear", "wifi_clear"] {
        assert_eq!(usb.ok(json!({"cmd": command})).await, "cleared");
    }
    let cleared = usb.ok(json!({"cmd": "cloud_proxy", "clear": true})).await;
    assert_eq!(cleared, json!({}));
    for command in ["cloud_status", "wifi_status"] {
        assert_eq!(usb.ok(json!({"cmd": command})).await["configured"], false);
    }
}

#[tokio::test(start_paused = true)]
async fn values_that_cannot_be_stored_are_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::from(&pod, Origin::Usb).await;
    let long = "x".repeat(129);
    for (request, text) in [
        (json!({"cmd": "cloud_set"}), "missing host"),
        (
            json!({"cmd": "cloud_set", "host": "a"}),
            "missing device_id",
        ),
        (
            json!({"cmd": "cloud_set", "host": long, "device_id": "b"}),
            "bad host: want 1 to 128 bytes without blanks",
        ),
        (
            json!({"cmd": "cloud_set", "host": "a", "device_id": "b", "tls": false}),
            "cloud_set: this firmware connects over TLS only",
        ),
        (
            json!({"cmd": "wifi_set", "ssid": ""}),
            "bad ssid: want 1 to 32 bytes",
        ),
        (
            json!({"cmd": "wifi_set", "ssid": "a", "password": "short"}),
            "bad password: want 8 to 63 bytes",
        ),
        (
            json!({"cmd": "cloud_proxy", "set": "proxy"}),
            "bad set: want host:port",
        ),
        (
            json!({"cmd": "lan_policy", "set": "closed"}),
            "bad set: want open, locked or off",
        ),
        (
            json!({"cmd": "usb_network", "set": 1}),
            "bad set: want a string",
        ),
        (json!({"cmd": "eth"}), "missing action"),
        (
            json!({"cmd": "eth", "action": "speed", "mbit": 55}),
            "bad mbit: want 10 or 100",
        ),
    ] {
        assert_eq!(client.refused(request).await, text);
    }
    let cloud = client.ok(json!({"cmd": "cloud_status"})).await;
    assert_eq!(cloud["configured"], Value::Bool(false));
}
