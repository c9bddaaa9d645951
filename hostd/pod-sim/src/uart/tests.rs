//! UART bits on the wires, at their real times, and channels that are free when the session ends.

use serde_json::json;
use tokio::time::{Duration, advance, sleep, timeout};

use crate::SimConfig;
use crate::tests::{Client, bench};

fn wired() -> SimConfig {
    SimConfig {
        jumpers: vec![(3, 4)],
        ..SimConfig::default()
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "sample indices are small"
)]
/// The bytes of an 8N1 line, sampled in the middle of each bit.
fn decode(words: &[u16], la: u8, samples_per_bit: f64) -> Vec<u8> {
    let level = |at: f64| {
        words
            .get(at as usize)
            .is_none_or(|word| word >> (la - 1) & 1 == 1)
    };
    let mut at = 0.0;
    let mut bytes = Vec::new();
    while at < words.len() as f64 {
        if level(at) {
            at += 1.0;
            continue;
        }
        let bit = |index: usize| level(at + (index as f64 + 0.5) * samples_per_bit);
        assert!(bit(9), "stop bit");
        bytes.push((0..8).fold(0, |byte, index| byte | u8::from(bit(index + 1)) << index));
        at += 9.5 * samples_per_bit;
    }
    bytes
}

#[tokio::test(start_paused = true)]
async fn sent_bytes_show_in_a_capture_and_come_back_over_a_jumper() {
    let pod = bench(wired());
    let mut uart = Client::new(&pod).await;
    let ready = uart
        .ok(json!({"cmd": "uart_proxy_start", "rx": 3, "tx": 4, "baud": 100_000}))
        .await;
    assert_eq!(ready, "uart ready");
    let mut other = Client::new(&pod).await;
    other
        .send(&json!({"cmd": "la_capture", "samples": 5000, "sample_rate_mhz": 1.0}))
        .await;
    advance(Duration::from_millis(1)).await;
    uart.send_raw(b"Hi\x00\xff!").await;
    assert_eq!(uart.read_raw(5).await, b"Hi\x00\xff!");
    let captured = other.captured().await.unwrap();
    assert_eq!(decode(&captured.words, 4, 10.0), b"Hi\x00\xff!");
    assert_eq!(decode(&captured.words, 3, 10.0), b"Hi\x00\xff!");
    let low = |word: &u16| word & 8 == 0;
    let first = captured.words.iter().position(low).unwrap();
    // 'H' = 0x48: start and three zero bits, so 40 µs low.
    assert!(captured.words[first..first + 40].iter().all(low));
    assert!(!low(&captured.words[first + 40]));
}

#[tokio::test(start_paused = true)]
async fn a_break_is_low_for_as_long_as_asked_after_what_was_sent() {
    let pod = bench(wired());
    let mut other = Client::new(&pod).await;
    let mut uart = Client::new(&pod).await;
    uart.ok(json!({"cmd": "uart_proxy_start", "rx": 3, "tx": 4, "baud": 100_000}))
        .await;
    let mut looks = Client::new(&pod).await;
    looks
        .send(&json!({"cmd": "la_capture", "samples": 20_000, "sample_rate_mhz": 1.0}))
        .await;
    advance(Duration::from_millis(1)).await;
    uart.send_raw(b"\xff\xff").await;
    assert_eq!(uart.read_raw(1).await, b"\xff");
    // The second byte is on its way; the third is given while the line is held.
    other.send(&json!({"cmd": "uart_break", "ms": 4})).await;
    sleep(Duration::from_millis(1)).await;
    uart.send_raw(b"\xff").await;
    assert_eq!(uart.read_raw(2).await, b"\xff\xff");
    let answer = other.reply().await.unwrap();
    assert_eq!(
        (&answer["status"], &answer["data"]),
        (&json!("ok"), &json!(null))
    );
    let words = looks.captured().await.unwrap().words;
    // Start bits of 10 µs, and 4 ms.
    let lows: Vec<usize> = words
        .chunk_by(|one, next| one & 8 == next & 8)
        .filter(|run| run[0] & 8 == 0)
        .map(<[u16]>::len)
        .collect();
    assert_eq!(lows, [10, 10, 4_000, 10]);
    drop(uart);
    sleep(Duration::from_millis(1)).await;
    let refused = other.refused(json!({"cmd": "uart_break"})).await;
    assert_eq!(refused, "no uart session is open");
}

#[tokio::test(start_paused = true)]
async fn pins_are_claimed_while_open_and_free_right_after() {
    let pod = bench(SimConfig::default());
    let mut other = Client::new(&pod).await;
    let mut uart = Client::new(&pod).await;
    let start = json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 10});
    uart.ok(start.clone()).await;
    let table = other.ok(json!({"cmd": "la_pins"})).await;
    assert_eq!(table["pins"][4]["function"], "uart_rx");
    assert_eq!(table["pins"][4]["pull"]["on"], true);
    assert_eq!(table["pins"][9]["function"], "uart_tx");
    assert!(
        other
            .refused(start)
            .await
            .contains("stop the uart proxy first")
    );
    let elsewhere = json!({"cmd": "uart_proxy_start", "rx": 1, "tx": 2});
    assert_eq!(other.refused(elsewhere).await, "uart busy");
    drop(uart);
    tokio::task::yield_now().await;
    let table = other.ok(json!({"cmd": "la_pins"})).await;
    assert_eq!(table["pins"][4]["function"], "none");
    assert_eq!(table["pins"][4]["pull"]["on"], false);
    assert_eq!(table["pins"][9]["function"], "none");
}

#[tokio::test(start_paused = true)]
async fn three_pluses_between_silences_lead_back_to_commands() {
    let pod = bench(SimConfig::default());
    let mut uart = Client::new(&pod).await;
    uart.ok(json!({"cmd": "uart_proxy_start", "rx": 3, "tx": 4}))
        .await;
    uart.send_raw(b"+++").await;
    sleep(Duration::from_secs(3)).await;
    uart.send_raw(b"a+++").await;
    sleep(Duration::from_secs(3)).await;
    uart.send_raw(b"++").await;
    uart.send_raw(b"+").await;
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(uart.ok(json!({"cmd": "ping"})).await, "pong");
}

#[tokio::test(start_paused = true)]
async fn a_silent_line_gives_no_bytes() {
    let pod = bench(SimConfig::default());
    let mut uart = Client::new(&pod).await;
    uart.ok(json!({"cmd": "uart_proxy_start", "rx": 9, "tx": 10}))
        .await;
    let read = timeout(Duration::from_secs(60), uart.read_raw(1)).await;
    assert!(read.is_err());
}

#[tokio::test(start_paused = true)]
async fn wrong_requests_are_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    for (request, text) in [
        (json!({"cmd": "uart_proxy_start", "tx": 4}), "missing rx"),
        (
            json!({"cmd": "uart_proxy_start", "rx": 4, "tx": 4}),
            "differ",
        ),
        (
            json!({"cmd": "uart_proxy_start", "rx": 4, "tx": 15}),
            "tx out of range",
        ),
        (
            json!({"cmd": "uart_proxy_start", "rx": 3, "tx": 4, "baud": 299}),
            "baud out of range",
        ),
    ] {
        assert!(client.refused(request).await.contains(text));
    }
    client
        .ok(json!({"cmd": "la", "la": 7, "pullup": "on"}))
        .await;
    let pulled = json!({"cmd": "uart_proxy_start", "rx": 7, "tx": 4});
    assert!(
        client
            .refused(pulled)
            .await
            .starts_with("pull conflict: LA7")
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_is_silent_while_an_upload_runs() {
    let pod = bench(wired());
    let mut uart = Client::new(&pod).await;
    uart.ok(json!({"cmd": "uart_proxy_start", "rx": 3, "tx": 4}))
        .await;
    let mut other = Client::new(&pod).await;
    let load = json!({"cmd": "load_bin", "total": 64, "psram": true});
    assert_eq!(other.ok(load).await["ready"], 64);
    uart.send_raw(b"late").await;
    assert!(
        timeout(Duration::from_secs(5), uart.read_raw(1))
            .await
            .is_err()
    );
    other.send_raw(&[0; 64]).await;
    other.reply().await.unwrap();
    assert_eq!(uart.read_raw(4).await, b"late");
}
