//! A serial adapter of the family CP210x, behind a driver of the kernel that is not `cdc-acm`: rates, parity and breaks
//! reach it.

use base::config::Parity;
use serde_json::json;
use tokio::time::{Instant, sleep};
use usb_sim::Attached;
use usb_sim::cp210x::{Cp2104, Told};

use super::line::lost;
use super::serial::{echoed, on, session, session_with};
use super::*;

pub(crate) const CASES: &[Case] = &[
    (
        "rate_and_parity_reach_the_device",
        rate_and_parity_reach_the_device,
    ),
    ("a_break_reaches_the_device", a_break_reaches_the_device),
    ("unplugged_within_a_session", unplugged_within_a_session),
];

const PORT: &str = "/dev/ttyUSB0";

/// The rate and the form of frames that held when the first bytes came.
fn line_of(told: &[Told]) -> (Option<u32>, Option<(u8, u8, u8)>) {
    let first = told.iter().position(|told| matches!(told, Told::Bytes(_)));
    let before = &told[..first.unwrap_or(told.len())];
    let rates = before.iter().rev().find_map(|told| match told {
        Told::Rate(rate) => Some(*rate),
        _ => None,
    });
    let frames = before.iter().rev().find_map(|told| match told {
        Told::Frame { bits, parity, stop } => Some((*bits, *parity, *stop)),
        _ => None,
    });
    (rates, frames)
}

fn rate_and_parity_reach_the_device() {
    run(async {
        for (parity, number) in [(Parity::None, 0), (Parity::Even, 2), (Parity::Odd, 1)] {
            let adapter = Cp2104::new("A1");
            let board = adapter.board();
            let plugged = Attached::new(adapter).unwrap();
            let bench = on(PORT, parity);
            let mut frame = None;
            // 300 baud is how a client's break is sent.
            for (baud, bytes) in [
                (9600, &b"slow"[..]),
                (300, &[0]),
                (921_600, b"fast"),
                (74_880, b"odd"),
            ] {
                let mut line = session(&bench, baud).await;
                echoed(&mut line, bytes).await;
                let (rate, new_frame) = line_of(&board.take());
                // The driver rounds to what the clock of the chip gives.
                let rate = rate.unwrap();
                assert!(rate.abs_diff(baud) * 100 < baud, "{rate} for {baud}");
                // It is told once, unless it changes.
                frame = new_frame.or(frame);
                assert_eq!(frame, Some((8, number, 0)));
                drop(line);
            }
            for (asked, number) in [("odd", 1), ("even", 2), ("none", 0)] {
                let mut line = session_with(&bench, asked).await;
                echoed(&mut line, asked.as_bytes()).await;
                frame = line_of(&board.take()).1.or(frame);
                assert_eq!(frame, Some((8, number, 0)));
                drop(line);
            }
            drop(bench);
            // The port is let go before it is pulled out.
            sleep(CLOSED_WITHIN).await;
            drop(plugged);
        }
    });
}

fn a_break_reaches_the_device() {
    run(async {
        let adapter = Cp2104::new("A1");
        let board = adapter.board();
        let _plugged = Attached::new(adapter).unwrap();
        let bench = on(PORT, Parity::None);
        let mut line = session(&bench, 9600).await;
        echoed(&mut line, b"before").await;
        let mut commands = Line::to(&bench).await;
        board.take();
        // Bytes that were given before come before.
        line.0.write_raw(b"ahead").await.unwrap();
        let began = Instant::now();
        commands.ask(json!({"cmd": "uart_break", "ms": 250})).await;
        assert!(began.elapsed() >= Duration::from_millis(250));
        let told = board.take();
        let breaks = [Told::Break(true), Told::Break(false)];
        let (before, last) = told.split_at(told.len() - 2);
        assert_eq!(last, breaks);
        let is_bytes = |told: &Told| matches!(told, Told::Bytes(_));
        assert!(
            !before.is_empty() && before.iter().all(is_bytes),
            "{told:?}"
        );
        line.until_read("ahead").await;
        // The session goes on as it was.
        echoed(&mut line, b"after").await;
        drop(line);
        let refused = loop {
            match commands.reply(&json!({"cmd": "uart_break"})).await {
                Ok(_) => {}
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused, "no uart session is open");
    });
}

fn unplugged_within_a_session() {
    run(async {
        let bench = on(PORT, Parity::None);
        for _ in 0..2 {
            let plugged = Attached::new(Cp2104::new("A1")).unwrap();
            let mut line = session(&bench, 115_200).await;
            echoed(&mut line, b"before").await;
            drop(plugged);
            line.ends().await;
            lost(&bench, PORT).await;
        }
    });
}
