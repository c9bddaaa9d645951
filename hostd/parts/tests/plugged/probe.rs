//! A probe and a serial port.

use base::config::{DeviceConfig, Parity, ProbePart, UartPart};
use pod_protocol::dap_frame::{DapFrames, encode};
use serde_json::json;
use tokio::time::{Instant, timeout};
use usb_sim::Attached;

use super::*;

pub(crate) const CASES: &[Case] = &[(
    "plugged_in_used_and_pulled_out",
    plugged_in_used_and_pulled_out,
)];

/// Sends packets ahead of their answers, which it returns.
async fn packets(line: &mut Line, sent: &[&[u8]]) -> Vec<Vec<u8>> {
    let frames: Vec<Vec<u8>> = sent.iter().map(|packet| encode(packet).unwrap()).collect();
    line.0.write_raw(&frames.concat()).await.unwrap();
    let (mut received, mut answers) = (DapFrames::default(), Vec::new());
    while answers.len() < sent.len() {
        received.push(
            &timeout(PATIENCE, line.0.read_raw(1024))
                .await
                .unwrap()
                .unwrap(),
        );
        while let Some(packet) = received.next_packet().unwrap() {
            answers.push(packet);
        }
    }
    answers
}

fn plugged_in_used_and_pulled_out() {
    run(async {
        let sim = simulated().await;
        let bench = bench(DeviceConfig {
            probe: Some(ProbePart {
                address: "usb:1209:0001".to_owned(),
            }),
            uart: Some(UartPart {
                path: "/dev/ttyACM0".to_owned(),
                parity: Parity::None,
            }),
            ..DeviceConfig::default()
        });
        let error = bench.connect().await.err().unwrap().to_string();
        assert!(
            error.contains("the probe 1209:0001 is not plugged in"),
            "{error}"
        );
        assert!(error.contains("/dev/ttyACM0 is not plugged in"), "{error}");
        for _ in 0..2 {
            let plugged = Attached::new(sim.plug()).unwrap();
            let mut line = Line::to(&bench).await;
            let status = line.until_missing(&[]).await;
            assert_eq!(
                status["caps"],
                json!(["command", "uart", "swd", "nrst_pin"])
            );

            let mut console = Line::to(&bench).await;
            console
                .ask(json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "baud": 115_200}))
                .await;
            console.0.write_raw(b"ping\r").await.unwrap();
            console.until_read("PING ok").await;

            let mut probe = Line::to(&bench).await;
            probe
                .ask(json!({"cmd": "dap_start", "swclk": 11, "swdio": 12, "wait_ms": 10_000}))
                .await;
            let switch = [
                0x12, 136, 255, 255, 255, 255, 255, 255, 255, 0x9E, 0xE7, 255, 255, 255, 255, 255,
                255, 255, 0,
            ];
            let sent: [&[u8]; 6] = [
                &[0x00, 0xFF],
                &[0x02, 1],
                &[0x13, 0],
                &switch,
                // DPIDR of a Cortex-M0.
                &[0x05, 0, 1, 0x02],
                &[0x03],
            ];
            let answers = packets(&mut probe, &sent).await;
            assert_eq!(answers[0], [0x00, 2, 0x00, 0x02]);
            assert_eq!(answers[4], [0x05, 1, 1, 0x77, 0x14, 0xB1, 0x0B]);

            // With the plug goes everything that it carried, within a moment.
            let began = Instant::now();
            drop(plugged);
            console.ends().await;
            line.ends().await;
            assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
        }
    });
}
