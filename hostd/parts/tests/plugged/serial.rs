//! A serial adapter behind the kernel's driver: what a bench asks of its port reaches the device.

use base::config::{DeviceConfig, Parity, UartPart};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};
use usb_sim::Attached;

use super::adapter::{Adapter, Record, Told};
use super::line::lost;
use super::*;

pub(crate) const CASES: &[Case] = &[
    (
        "rate_and_parity_reach_the_device",
        rate_and_parity_reach_the_device,
    ),
    ("a_break_reaches_the_device", a_break_reaches_the_device),
    (
        "a_port_that_stays_low_is_opened_anew",
        a_port_that_stays_low_is_opened_anew,
    ),
    ("unplugged_within_a_session", unplugged_within_a_session),
];

const PORT: &str = "/dev/ttyACM0";

/// A bench of a serial port alone.
pub(crate) fn on(port: &str, parity: Parity) -> Arc<dyn Transport> {
    bench(DeviceConfig {
        uart: Some(UartPart {
            path: port.to_owned(),
            parity,
        }),
        ..DeviceConfig::default()
    })
}

/// Begins a session, once the one before has ended.
pub(crate) async fn session(bench: &Arc<dyn Transport>, baud: u32) -> Line {
    began(
        bench,
        json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "baud": baud}),
    )
    .await
}

/// Begins a session with another parity than the one that is configured.
pub(crate) async fn session_with(bench: &Arc<dyn Transport>, parity: &str) -> Line {
    began(
        bench,
        json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "parity": parity}),
    )
    .await
}

async fn began(bench: &Arc<dyn Transport>, start: serde_json::Value) -> Line {
    let mut line = Line::to(bench).await;
    line.until_missing(&[]).await;
    line.ask(start).await;
    line
}

/// Sends bytes and waits for their echo.
pub(crate) async fn echoed(line: &mut Line, bytes: &[u8]) {
    line.0.write_raw(bytes).await.unwrap();
    let mut back = Vec::new();
    while back.len() < bytes.len() {
        let read = timeout(PATIENCE, line.0.read_raw(256)).await.unwrap();
        back.extend(read.unwrap());
    }
    assert_eq!(back, bytes);
}

/// The bytes among what it was told, and the line when the first came.
fn bytes_and_line(told: &[Told]) -> (Vec<u8>, Option<Told>) {
    let is_line = |told: &&Told| matches!(told, Told::Line(..));
    let bytes = told.iter().filter_map(|told| match told {
        Told::Bytes(bytes) => Some(bytes.clone()),
        Told::Line(..) | Told::Break(_) => None,
    });
    let is_bytes = |told: &Told| matches!(told, Told::Bytes(_));
    let first = told.iter().position(is_bytes);
    let before = &told[..first.unwrap_or(told.len())];
    (
        bytes.flatten().collect(),
        before.iter().rfind(is_line).cloned(),
    )
}

fn rate_and_parity_reach_the_device() {
    run(async {
        for (parity, number) in [(Parity::None, 0), (Parity::Even, 2), (Parity::Odd, 1)] {
            let record = Record::default();
            let plugged = Attached::new(Adapter::new(&record)).unwrap();
            let bench = on(PORT, parity);
            // The one of 300 baud is how a client's break is sent: nine bits of zero, 30 ms long, which ends before the
            // next rate is set.
            for (baud, bytes) in [
                (9600, &b"slow"[..]),
                (300, &[0]),
                (921_600, b"fast"),
                // No divisor of a usual clock.
                (74_880, b"odd"),
            ] {
                let mut line = session(&bench, baud).await;
                echoed(&mut line, bytes).await;
                let (told, before) = bytes_and_line(&record.take());
                assert_eq!(told, bytes);
                assert_eq!(before, Some(Told::Line(baud, number, 8)));
                drop(line);
            }
            for (asked, number) in [("odd", 1), ("even", 2), ("none", 0)] {
                let mut line = session_with(&bench, asked).await;
                echoed(&mut line, asked.as_bytes()).await;
                let (told, before) = bytes_and_line(&record.take());
                assert_eq!(told, asked.as_bytes());
                assert_eq!(before, Some(Told::Line(115_200, number, 8)));
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
        let record = Record::default();
        let _plugged = Attached::new(Adapter::new(&record)).unwrap();
        let bench = on(PORT, Parity::None);
        let mut line = session(&bench, 9600).await;
        echoed(&mut line, b"before").await;
        let mut commands = Line::to(&bench).await;
        record.take();
        commands.ask(json!({"cmd": "uart_break"})).await;
        assert_eq!(record.take(), [Told::Break(0xFFFF), Told::Break(0)]);
        echoed(&mut line, b"after").await;
    });
}

fn a_port_that_stays_low_is_opened_anew() {
    run(async {
        let record = Record::default();
        let _plugged = Attached::new(Adapter::new(&record)).unwrap();
        let bench = on(PORT, Parity::None);
        let mut line = session(&bench, 9600).await;
        echoed(&mut line, b"before").await;
        let mut commands = Line::to(&bench).await;
        record.take();
        // Once is nothing.
        record.refuse_ends(1);
        commands.ask(json!({"cmd": "uart_break"})).await;
        assert_eq!(record.take(), [Told::Break(0xFFFF), Told::Break(0)]);
        echoed(&mut line, b"after").await;
        record.take();

        record.refuse_ends(u32::MAX);
        let refused = commands.reply(&json!({"cmd": "uart_break"})).await;
        assert!(refused.is_err(), "{refused:?}");
        line.ends().await;
        let told = record.take();
        assert!(told.contains(&Told::Break(0xFFFF)) && !told.contains(&Told::Break(0)));
        record.refuse_ends(0);
        let start = json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "baud": 9600});
        let until = Instant::now() + PATIENCE;
        let mut line = loop {
            let mut line = Line::to(&bench).await;
            match line.reply(&start).await {
                Ok(_) => break line,
                Err(refused) => assert!(Instant::now() < until, "{refused}"),
            }
            sleep(CLOSED_WITHIN).await;
        };
        echoed(&mut line, b"anew").await;
        assert!(record.take().contains(&Told::Break(0)));
    });
}

fn unplugged_within_a_session() {
    run(async {
        let record = Record::default();
        let bench = on(PORT, Parity::None);
        for _ in 0..2 {
            let plugged = Attached::new(Adapter::new(&record)).unwrap();
            let mut line = session(&bench, 115_200).await;
            echoed(&mut line, b"before").await;
            let began = Instant::now();
            drop(plugged);
            line.ends().await;
            println!(
                "unplugging ends a serial session after {:?}",
                began.elapsed()
            );
            assert!(began.elapsed() < PATIENCE / 3, "{:?}", began.elapsed());
            lost(&bench, PORT).await;
        }
    });
}
