//! The serial port: bytes, settings, one session at a time, unplugging.

use base::config::{Parity, UartPart};
use pod_protocol::escape::GUARD;
use serde_json::json;
use tokio::time::{Duration, Instant, sleep};

use super::bench::{LONG, Line, bench, lacks};
use super::port::Port;

fn part(path: &std::path::Path, parity: Parity) -> Option<UartPart> {
    let path = path.display().to_string();
    Some(UartPart { path, parity })
}

#[tokio::test]
async fn a_session_carries_bytes_at_the_rate_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("usb-adapter");
    let port = Port::plug(&link);
    let bench = bench(None, part(&link, Parity::None), None);
    let mut commands = Line::to(&bench).await;
    let status = commands.status().await;
    assert_eq!(status["caps"], json!(["command", "uart"]));
    assert_eq!(status["uart_parity"], "none");
    assert_eq!(
        (&status["parts"], &status["missing"]),
        (&json!(["uart"]), &json!([]))
    );

    let mut line = Line::to(&bench).await;
    let start = json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "baud": 250_000});
    assert_eq!(line.ask(start.clone()).await, Ok(json!("uart ready")));
    assert_eq!(port.settings().output_speed(), 250_000);
    assert_eq!(
        commands.ask(start.clone()).await,
        Err("uart busy".to_owned())
    );
    let pins = commands.ask(json!({"cmd": "la_pins"})).await.unwrap();
    assert_eq!(
        (&pins["pins"][0]["la"], &pins["pins"][0]["function"]),
        (&json!(5), &json!("uart_rx"))
    );

    // Every byte, and nothing that a terminal would make of it.
    let all: Vec<u8> = (0..=255).collect();
    line.0.write_raw(&all).await.unwrap();
    assert_eq!(port.hear(all.len()).await, all);
    port.say(&all);
    assert_eq!(line.raw(all.len()).await, all);

    // A pseudo-terminal takes a break and makes nothing of it; bytes go on meanwhile.
    port.say(b"during");
    let refused = commands.ask(json!({"cmd": "uart_break", "ms": 1001})).await;
    assert_eq!(refused, Err("ms out of range: want 1..1000".to_owned()));
    assert_eq!(
        commands.ask(json!({"cmd": "uart_break", "ms": 50})).await,
        Ok(json!(null))
    );
    assert_eq!(line.raw(6).await, b"during");

    // What the port cannot have is refused, and the port free again.
    drop(line);
    commands.until_free().await;
    for (parity, refusal) in [
        ("even", "the serial port has no parity `even`"),
        ("mark", "bad parity: want none, even or odd"),
    ] {
        let start = json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "parity": parity});
        assert_eq!(commands.ask(start).await, Err(refusal.to_owned()));
    }

    // Another rate is another session.
    commands.until_free().await;
    let refused = commands.ask(json!({"cmd": "uart_break"})).await;
    assert_eq!(refused, Err("no uart session is open".to_owned()));
    let mut line = Line::to(&bench).await;
    let slower = json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "baud": 300});
    line.ask(slower).await.unwrap();
    assert_eq!(port.settings().output_speed(), 300);

    // The escape ends the raw mode.
    sleep(GUARD + GUARD / 10).await;
    line.0.write_raw(b"+++").await.unwrap();
    assert_eq!(port.hear(3).await, b"+++");
    sleep(GUARD + GUARD / 2).await;
    assert_eq!(line.ask(json!({"cmd": "ping"})).await, Ok(json!("pong")));
    let pins = commands.ask(json!({"cmd": "la_pins"})).await.unwrap();
    assert_eq!(pins["pins"], json!([]));
}

#[tokio::test]
async fn a_client_that_takes_nothing_makes_no_break_longer() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("usb-adapter");
    let port = Port::plug(&link);
    let bench = bench(None, part(&link, Parity::None), None);
    let mut commands = Line::to(&bench).await;
    let mut line = Line::to(&bench).await;
    let start = json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4});
    line.ask(start).await.unwrap();
    let began = Instant::now();
    let broken = async {
        let broken = commands.ask(json!({"cmd": "uart_break", "ms": 1000})).await;
        (broken, began.elapsed())
    };
    let flooded = async {
        sleep(Duration::from_millis(200)).await;
        port.flood().await;
    };
    let ((broken, took), ()) = tokio::join!(broken, flooded);
    assert_eq!(broken, Ok(json!(null)));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test]
async fn an_unplugged_port_ends_its_session_and_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("usb-adapter");
    let port = Port::plug(&link);
    let power = base::config::PowerPart::Command {
        on: vec!["true".to_owned()],
        off: vec!["true".to_owned()],
    };
    let bench = bench(None, part(&link, Parity::None), Some(power));
    let mut commands = Line::to(&bench).await;
    let mut line = Line::to(&bench).await;
    let start = json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4});
    line.ask(start.clone()).await.unwrap();
    drop(port);
    line.ends().await;
    let status = commands.until(|status| lacks(status, "uart")).await;
    assert_eq!(status["caps"], json!(["command", "power"]));
    let reason = status["missing"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("unplugged") || reason.contains("not plugged in"),
        "{reason}"
    );
    let refused = commands.ask(start.clone()).await.unwrap_err();
    assert!(
        refused.starts_with("missing part: uart: it is away: "),
        "{refused}"
    );

    let port = Port::plug(&link);
    commands.until(|status| !lacks(status, "uart")).await;
    // What came while nobody listened is not heard.
    port.say(b"old");
    sleep(GUARD / 5).await;
    let mut line = Line::to(&bench).await;
    line.ask(start).await.unwrap();
    port.say(b"new");
    assert_eq!(line.raw(3).await, b"new");
}

#[tokio::test]
async fn a_bench_that_is_given_up_ends_its_sessions_and_frees_its_port() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("usb-adapter");
    let port = Port::plug(&link);
    for round in 0..3_u8 {
        let bench = bench(None, part(&link, Parity::None), None);
        let mut idle = Line::to(&bench).await;
        let mut line = Line::to(&bench).await;
        line.ask(json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4}))
            .await
            .unwrap();
        port.say(&[round]);
        assert_eq!(line.raw(1).await, [round]);
        drop(bench);
        line.ends().await;
        idle.ends().await;
    }
}

#[tokio::test]
async fn a_bench_without_any_of_its_parts_is_not_there_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("usb-adapter");
    let bench = bench(None, part(&link, Parity::None), None);
    let error = bench.connect().await.err().unwrap().to_string();
    assert!(
        error.contains("uart: ") && error.contains("is not plugged in"),
        "{error}"
    );
    let port = Port::plug(&link);
    bench.arrival().await;
    let mut line = Line::to(&bench).await;
    drop(port);
    // With the last part goes every connection.
    line.ends().await;
    // A file is no serial port.
    std::fs::write(&link, "x").unwrap();
    let until = Instant::now() + LONG;
    loop {
        let error = bench.connect().await.err().unwrap().to_string();
        if error.contains("is no serial port") {
            break;
        }
        assert!(Instant::now() < until, "{error}");
        sleep(Duration::from_millis(20)).await;
    }
}
