//! The page for pod manufacturers: its example session and samples match the simulator.

use pod_protocol::chunk::{decode_b64, encode_b64};
use serde_json::Value;

use super::Client;
use crate::{SimConfig, SimPod};

fn page() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pod-protocol.md");
    std::fs::read_to_string(page).unwrap()
}

/// The code block after a heading.
fn block<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, section) = page.split_once(heading).unwrap();
    section.split("```").nth(1).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_session_of_the_page_happens_as_printed() {
    let page = page();
    let pod = SimPod::new(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut answers = 0;
    for line in block(&page, "## A session in bytes").lines() {
        if let Some(request) = line.strip_prefix("> {") {
            client.send_bytes(format!("{{{request}").as_bytes()).await;
        } else if let Some(reply) = line.strip_prefix("< {") {
            let printed: Value = serde_json::from_str(&format!("{{{reply}")).unwrap();
            assert_eq!(client.reply().await.unwrap(), printed);
            answers += 1;
        }
    }
    assert_eq!(answers, 7);
}

#[test]
fn the_counts_of_the_page_are_encoded_as_printed() {
    let page = page();
    let counts = block(&page, "**Counts.**");
    let (numbers, encoded) = counts.split_once('→').unwrap();
    let numbers: Vec<u16> = numbers
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let encoded = encoded.split('"').nth(3).unwrap();
    assert_eq!(encode_b64(&numbers), encoded);
    assert_eq!(decode_b64(encoded).unwrap(), numbers);
}
