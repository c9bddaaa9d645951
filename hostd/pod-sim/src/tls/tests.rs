//! What a pod reports about its certificate, and who may change it.

use pod_protocol::commands::Tier;
use pod_protocol::{Refusal, RefusalKind};
use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::tests::{Client, bench};
use crate::{Origin, SimConfig};

#[tokio::test(start_paused = true)]
async fn a_pod_reports_the_certificate_it_made() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let tls = client.ok(json!({"cmd": "lan_tls"})).await;
    let public = client.ok(json!({"cmd": "identity_public"})).await;
    assert_eq!(public["public"].as_str().unwrap().len(), 43);
    let subject = tls["subject"].as_str().unwrap();
    let name = subject.strip_prefix("CN=").unwrap();
    assert!(name.starts_with("benchpod-") && name.len() == 15, "{name}");
    assert_eq!(tls["san"], json!([format!("{name}.local")]));
    assert_eq!(tls["sha256"].as_str().unwrap().len(), 64);
    for (field, expected) in [
        ("port", json!(8443)),
        ("https_only", json!(false)),
        ("sessions", json!(0)),
        ("origin", json!("generated")),
        ("key", json!("Ed25519")),
        ("not_after", json!("9999-12-31")),
        ("error", json!("")),
    ] {
        assert_eq!(tls[field], expected, "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn plaintext_can_be_closed_but_not_opened_from_plaintext() {
    let pod = bench(SimConfig::default());
    let mut plain = Client::new(&pod).await;
    let text = "lan_tls: change it over TLS (port 8443), over USB or from the cloud";
    for request in [
        json!({"cmd": "lan_tls", "https_only": false}),
        json!({"cmd": "lan_tls", "regenerate": true}),
    ] {
        let said = plain.refused(request).await;
        assert_eq!(said, text);
        assert_eq!(Refusal::new(said).kind, RefusalKind::Locked);
    }
    let closed = plain
        .ok(json!({"cmd": "lan_tls", "https_only": true}))
        .await;
    assert_eq!(closed["https_only"], true);
    assert_eq!(plain.reply().await, None);
    assert!(pod.link(Origin::Lan).connect().await.is_err());
    pod.reboot();
    sleep(Duration::from_secs(2)).await;
    assert!(pod.link(Origin::Lan).connect().await.is_err());
    for origin in [Origin::LanTls, Origin::Usb, Origin::Tunnel(Tier::Settings)] {
        let mut client = Client::from(&pod, origin).await;
        client
            .ok(json!({"cmd": "lan_tls", "regenerate": true}))
            .await;
        client
            .ok(json!({"cmd": "lan_tls", "https_only": false}))
            .await;
        let mut plain = Client::new(&pod).await;
        plain
            .ok(json!({"cmd": "lan_tls", "https_only": true}))
            .await;
    }
}
