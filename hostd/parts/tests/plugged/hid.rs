//! A probe of the first version of CMSIS-DAP, which the kernel takes for a human interface device.

use std::path::Path;

use base::config::{DeviceConfig, ProbePart};
use pod_protocol::dap_frame::encode;
use serde_json::json;
use tokio::time::{Instant, sleep};
use usb_sim::Attached;

use super::line::lost;
use super::probe::{ID, READ_ID, SWITCH, packets, until_listed};
use super::*;

pub(crate) const CASES: &[Case] = &[
    ("used_and_let_go", used_and_let_go),
    ("pulled_out_at_any_time", pulled_out_at_any_time),
    ("two_are_told_apart", two_are_told_apart),
];

/// What the kernel's driver has for programs, while it has the first probe.
const RAW: &str = "/dev/hidraw0";

/// Bytes of a report.
const REPORT_BYTES: usize = 64;

/// How soon a session ends whose probe is gone: it is looked for every second.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

fn with_probe(address: &str) -> Arc<dyn Transport> {
    bench(DeviceConfig {
        probe: Some(ProbePart {
            address: address.to_owned(),
        }),
        ..DeviceConfig::default()
    })
}

/// Waits until the kernel's driver has a probe, or has none.
async fn until_raw(is_there: bool) {
    let until = Instant::now() + PATIENCE;
    while Path::new(RAW).exists() != is_there {
        assert!(Instant::now() < until, "{RAW} is there: {}", !is_there);
        sleep(Duration::from_millis(20)).await;
    }
}

/// A debug session.
async fn session(bench: &Arc<dyn Transport>) -> Line {
    let mut line = Line::to(bench).await;
    line.ask(json!({"cmd": "dap_start", "swclk": 11, "swdio": 12}))
        .await;
    line
}

/// An answer with the zeros behind it.
fn report(start: &[u8]) -> Vec<u8> {
    let mut report = start.to_vec();
    report.resize(REPORT_BYTES, 0);
    report
}

fn used_and_let_go() {
    run(async {
        // That of the test before leaves first.
        until_listed(0x0003, false).await;
        let sim = simulated().await;
        let bench = with_probe("usb:1209:0003");
        lost(&bench, "the probe 1209:0003 is not plugged in").await;
        let plugged = Attached::new(sim.hid_probe("A")).unwrap();
        let mut line = Line::to(&bench).await;
        let status = line.until_missing(&[]).await;
        assert_eq!(status["caps"], json!(["command", "swd", "nrst_pin"]));
        // Nobody else hears the answers meanwhile.
        assert!(!Path::new(RAW).exists(), "the kernel's driver has it, too");

        let mut probe = session(&bench).await;
        let sent: [&[u8]; 6] = [
            &[0x00, 0xFF],
            &[0x02, 1],
            &[0x13, 0],
            &SWITCH,
            &READ_ID,
            &[0x03],
        ];
        let answers = packets(&mut probe, &sent).await;
        assert_eq!(answers[0], report(&[0x00, 2, 64, 0]));
        assert_eq!(answers[4], report(&ID));
        let full = [&READ_ID[..], &[0; REPORT_BYTES - READ_ID.len()]].concat();
        assert_eq!(packets(&mut probe, &[&full]).await[0][0], 0x05);

        // A longer packet is not sent: it would be two reports. The session ends, the probe stays.
        let long = encode(&[0; REPORT_BYTES + 1]).unwrap();
        probe.0.write_raw(&long).await.unwrap();
        probe.ends().await;
        line.until_missing(&[]).await;
        let mut probe = session(&bench).await;
        let answers = packets(&mut probe, &sent).await;
        assert_eq!(answers[4], report(&ID));
        // Whoever comes afterwards finds it as it was.
        drop((line, probe, bench));
        until_raw(true).await;
        sleep(CLOSED_WITHIN).await;
        drop(plugged);
    });
}

fn pulled_out_at_any_time() {
    run(async {
        // That of the test before leaves first.
        until_listed(0x0003, false).await;
        let sim = simulated().await;
        let bench = with_probe("usb:1209:0003:A");
        for is_under_way in [false, true] {
            let plugged = Attached::new(sim.hid_probe("A")).unwrap();
            let mut line = Line::to(&bench).await;
            line.until_missing(&[]).await;
            let mut probe = session(&bench).await;
            let sent: [&[u8]; 3] = [&[0x02, 1], &SWITCH, &READ_ID];
            assert_eq!(packets(&mut probe, &sent).await[2], report(&ID));
            if is_under_way {
                // A wait for the pin of the reset line, which is not what it is to be.
                let wait = encode(&[0x10, 0, 0x80, 0x40, 0x42, 0x0F, 0x00]).unwrap();
                probe.0.write_raw(&wait).await.unwrap();
                sleep(Duration::from_millis(200)).await;
            }
            let began = Instant::now();
            drop(plugged);
            probe.ends().await;
            let ended = began.elapsed();
            println!("unplugged, a packet under way: {is_under_way}: told after {ended:?}");
            assert!(ended < ENDED_WITHIN, "{ended:?}");
            line.ends().await;
            lost(&bench, "the probe 1209:0003:A is not plugged in").await;
        }
        let plugged = Attached::new(sim.hid_probe("A")).unwrap();
        Line::to(&bench).await.until_missing(&[]).await;
        drop(bench);
        sleep(CLOSED_WITHIN).await;
        drop(plugged);
    });
}

fn two_are_told_apart() {
    run(async {
        // That of the test before leaves first.
        until_listed(0x0003, false).await;
        let (with_power, without) = (simulated().await, unpowered());
        let first = Attached::new(without.hid_probe("A")).unwrap();
        let second = Attached::new(with_power.hid_probe("B")).unwrap();
        let benches = ["usb:1209:0003:B", "usb:1209:0003:A"].map(with_probe);
        let sent: [&[u8]; 3] = [&[0x02, 1], &SWITCH, &READ_ID];
        let mut sessions = Vec::new();
        for (bench, is_powered) in benches.iter().zip([true, false]) {
            let mut probe = session(bench).await;
            let answers = packets(&mut probe, &sent).await;
            assert_eq!(answers[2] == report(&ID), is_powered, "{:?}", answers[2]);
            sessions.push(probe);
        }
        // The one that is left is still used.
        drop(first);
        sessions[1].ends().await;
        lost(&benches[1], "the probe 1209:0003:A is not plugged in").await;
        let answers = packets(&mut sessions[0], &sent).await;
        assert_eq!(answers[2], report(&ID));
        drop((sessions, benches));
        sleep(CLOSED_WITHIN).await;
        drop(second);
    });
}
