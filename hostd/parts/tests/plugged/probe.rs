//! A probe and a serial port.

use base::config::{DeviceConfig, Parity, ProbePart, UartPart};
use nusb::transfer::{Buffer, Bulk, BulkOrInterrupt, Interrupt, Out};
use pod_protocol::dap_frame::{DapFrames, encode};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};
use usb_sim::{Answer, Attached, Bus, Descriptors, Device, Endpoint, Interface, Setup, Speed};

use super::line::lost;
use super::*;

pub(crate) const CASES: &[Case] = &[
    (
        "plugged_in_used_and_pulled_out",
        plugged_in_used_and_pulled_out,
    ),
    (
        "what_was_not_read_is_forgotten",
        what_was_not_read_is_forgotten,
    ),
    (
        "one_that_refuses_packets_is_found_out",
        one_that_refuses_packets_is_found_out,
    ),
];

/// `DAP_SWJ_Sequence` from JTAG to SWD, and `DAP_Transfer` that reads DPIDR.
pub(crate) const SWITCH: [u8; 19] = [
    0x12, 136, 255, 255, 255, 255, 255, 255, 255, 0x9E, 0xE7, 255, 255, 255, 255, 255, 255, 255, 0,
];
pub(crate) const READ_ID: [u8; 4] = [0x05, 0, 1, 0x02];

/// The answer of a Cortex-M0.
pub(crate) const ID: [u8; 7] = [0x05, 1, 1, 0x77, 0x14, 0xB1, 0x0B];

/// Sends packets ahead of their answers, which it returns.
pub(crate) async fn packets(line: &mut Line, sent: &[&[u8]]) -> Vec<Vec<u8>> {
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
            let sent: [&[u8]; 6] = [
                &[0x00, 0xFF],
                &[0x02, 1],
                &[0x13, 0],
                &SWITCH,
                &READ_ID,
                &[0x03],
            ];
            let answers = packets(&mut probe, &sent).await;
            assert_eq!(answers[0], [0x00, 2, 0x00, 0x02]);
            assert_eq!(answers[4], ID);

            // With the plug goes everything that it carried, within a moment.
            let began = Instant::now();
            drop(plugged);
            console.ends().await;
            line.ends().await;
            assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
        }
    });
}

/// A probe that stalls whatever is sent to it.
struct Refusing;

impl Device for Refusing {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: (0x1209, 9),
            version: 0x0100,
            class: (0, 0, 0),
            manufacturer: "Simulated".into(),
            product: "CMSIS-DAP".into(),
            serial: None,
            speed: Speed::High,
            interfaces: vec![Interface {
                class: (0xFF, 0, 0),
                name: Some("CMSIS-DAP v2".into()),
                endpoints: vec![Endpoint::Bulk(0x01), Endpoint::Bulk(0x81)],
                ..Interface::default()
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        // It never has anything to tell. The endpoint that nobody takes is stalled.
        drop(bus.message_input(0x81));
    }

    fn control<'a>(&'a mut self, _: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async { None })
    }
}

fn one_that_refuses_packets_is_found_out() {
    run(async {
        let bench = bench(DeviceConfig {
            probe: Some(ProbePart {
                address: "usb:1209:0009".to_owned(),
            }),
            ..DeviceConfig::default()
        });
        let plugged = Attached::new(Refusing).unwrap();
        let mut line = Line::to(&bench).await;
        let start = json!({"cmd": "dap_start", "swclk": 11, "swdio": 12});
        assert!(line.reply(&start).await.is_err());
        lost(&bench, "stall").await;
        drop(bench);
        sleep(CLOSED_WITHIN).await;
        drop(plugged);
    });
}

/// Sends packets of 64 bytes without fetching their answers.
async fn ask_and_go<Kind: BulkOrInterrupt>(product: u16, interface: u8, endpoint: u8) {
    let mut devices = nusb::list_devices().await.unwrap();
    let found = devices.find(|device| device.product_id() == product);
    let device = found.unwrap().open().await.unwrap();
    let claimed = device.detach_and_claim_interface(interface).await.unwrap();
    let mut output = claimed.endpoint::<Kind, Out>(endpoint).unwrap();
    for request in [[0x00, 0xFE], [0x02, 1], [0x00, 0xF0]] {
        let mut packet = request.to_vec();
        packet.resize(64, 0);
        output.submit(Buffer::from(packet));
        output.next_complete().await.status.unwrap();
    }
}

/// Another program asks, and is killed before it has the answers.
fn what_was_not_read_is_forgotten() {
    run(async {
        let sim = simulated().await;
        for product in [0x0001, 0x0003] {
            let is_hid = product == 0x0003;
            until_listed(product, false).await;
            let plugged = match is_hid {
                true => Attached::new(sim.hid_probe("A")).unwrap(),
                false => Attached::new(sim.plug()).unwrap(),
            };
            until_listed(product, true).await;
            match is_hid {
                true => ask_and_go::<Interrupt>(product, 0, 1).await,
                false => ask_and_go::<Bulk>(product, 1, 2).await,
            }
            let bench = bench(DeviceConfig {
                probe: Some(ProbePart {
                    address: format!("usb:1209:{product:04x}"),
                }),
                ..DeviceConfig::default()
            });
            let mut probe = Line::to(&bench).await;
            probe
                .ask(json!({"cmd": "dap_start", "swclk": 11, "swdio": 12}))
                .await;
            let sent: [&[u8]; 4] = [&[0x00, 0xFF], &[0x02, 1], &SWITCH, &READ_ID];
            let answers = packets(&mut probe, &sent).await;
            assert!(answers[0].starts_with(&[0x00, 2]), "{answers:?}");
            assert!(answers[3].starts_with(&ID), "{answers:?}");
            drop((probe, bench));
            sleep(CLOSED_WITHIN).await;
            drop(plugged);
        }
    });
}

/// Waits until the kernel has a device, or has none.
pub(crate) async fn until_listed(product: u16, is_there: bool) {
    let until = Instant::now() + PATIENCE;
    while nusb::list_devices()
        .await
        .unwrap()
        .any(|device| device.product_id() == product)
        != is_there
    {
        assert!(Instant::now() < until, "{product:04x}: not {is_there}");
        sleep(Duration::from_millis(20)).await;
    }
}
