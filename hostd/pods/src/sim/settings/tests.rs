//! Settings are read here and changed elsewhere, in words that clients classify.

use serde_json::json;

use crate::protocol::{Refusal, RefusalKind};
use crate::sim::SimConfig;
use crate::sim::tests::{Client, bench};

#[tokio::test(start_paused = true)]
async fn settings_are_read_and_not_changed() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let cloud = client.ok(json!({"cmd": "cloud_status"})).await;
    assert_eq!(
        (&cloud["configured"], &cloud["state"]),
        (&json!(false), &json!("disabled"))
    );
    for (command, field, value, set) in [
        ("lan_policy", "policy", "open", "off"),
        ("sig_policy", "policy", "audit", "required"),
        ("usb_network", "setting", "on", "off"),
    ] {
        assert_eq!(client.ok(json!({"cmd": command})).await[field], value);
        let text = client.refused(json!({"cmd": command, "set": set})).await;
        assert!(text.starts_with(command));
        assert_eq!(Refusal::new(text).kind, RefusalKind::Locked, "{command}");
        assert_eq!(client.ok(json!({"cmd": command})).await[field], value);
    }
}
