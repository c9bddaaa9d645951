//! The sensor on its bus, and through the pod's commands.

use serde_json::{Value, json};

mod bus;
mod commands;

use crate::tests::Client;

/// Engages the pull-ups of LA1 and LA2, and starts a sensor there: SCL on LA1, SDA on LA2.
async fn start(client: &mut Client, model: &str) -> Value {
    for la in [1, 2] {
        client
            .ok(json!({"cmd": "la", "la": la, "pullup": "on"}))
            .await;
    }
    client
        .ok(json!({"cmd": "sensor_start", "type": model, "sda": 2, "scl": 1}))
        .await
}

/// The data of a reply that comes in packets.
async fn bytes(client: &mut Client, request: Value) -> Vec<u8> {
    client.send(&request).await;
    let mut bytes = Vec::new();
    loop {
        let reply = client.reply().await.unwrap();
        assert_ne!(reply["status"], "error", "{request} gave {reply}");
        let data = reply["data"].as_array().unwrap().iter();
        bytes.extend(data.map(|byte| u8::try_from(byte.as_u64().unwrap()).unwrap()));
        if reply["more"] != json!(true) {
            return bytes;
        }
    }
}
