//! Probes with protocols of their makers, which a bench has as it has others.

use base::config::{DeviceConfig, ProbePart};
use parts::scan::{Family, Kind, plugged};
use serde_json::json;
use tokio::time::Instant;
use usb_sim::{Attached, Device, jlink, stlink};

use super::line::lost;
use super::probe::packets;
use super::*;

pub(crate) const CASES: &[Case] = &[("jlink", jlink), ("stlink", stlink)];

const SERIAL: &str = "000069101234";

fn jlink() {
    run(used_and_pulled_out(jlink::IDS, Family::JLink, |sim| {
        sim.jlink(SERIAL)
    }));
}

fn stlink() {
    run(used_and_pulled_out(stlink::IDS, Family::StLink, |sim| {
        sim.stlink(SERIAL)
    }));
}

/// Switches the wires to SWD, asks for power, halts the core at its reset vector, and reads the name of the target.
const SWITCH: [u8; 19] = [
    0x12, 136, 255, 255, 255, 255, 255, 255, 255, 0x9E, 0xE7, 255, 255, 255, 255, 255, 255, 255, 0,
];

async fn used_and_pulled_out<D: Device>(
    ids: (u16, u16),
    family: Family,
    plug: impl Fn(&Arc<SimPod>) -> D,
) {
    let sim = simulated().await;
    let (vendor, product) = ids;
    let bench = bench(DeviceConfig {
        probe: Some(ProbePart {
            address: format!("usb:{vendor:04x}:{product:04x}:{SERIAL}"),
        }),
        ..DeviceConfig::default()
    });
    let away = format!("the probe {vendor:04x}:{product:04x}:{SERIAL} is not plugged in");
    lost(&bench, &away).await;
    for _ in 0..2 {
        restarted(&sim).await;
        let attached = Attached::new(plug(&sim)).unwrap();
        let mut line = Line::to(&bench).await;
        let status = line.until_missing(&[]).await;
        assert_eq!(status["caps"], json!(["command", "swd", "nrst_pin"]));
        let found = plugged().await.unwrap().devices;
        let kinds = found.iter().map(parts::scan::UsbDevice::kind);
        assert!(
            kinds
                .into_iter()
                .any(|kind| kind == Some(Kind::VendorProbe(family)))
        );

        let mut probe = Line::to(&bench).await;
        probe
            .ask(json!({"cmd": "dap_start", "swclk": 11, "swdio": 12, "wait_ms": 10_000}))
            .await;
        let sent: [&[u8]; 9] = [
            &[0x02, 1],
            &[0x11, 0x00, 0x09, 0x3D, 0x00],
            &SWITCH,
            // DPIDR of a Cortex-M0.
            &[0x05, 0, 1, 0x02],
            // Errors are cleared and power is asked for.
            &[
                0x05, 0, 3, 0x00, 0x1E, 0, 0, 0, 0x08, 0, 0, 0, 0, 0x04, 0, 0, 0, 0x50,
            ],
            // Words, counted up, from the debug unit's DHCSR and CPUID.
            &[
                0x05, 0, 4, 0x01, 0x12, 0, 0, 0x23, 0x05, 0x00, 0xED, 0, 0xE0, 0x0F, 0x06,
            ],
            // Where nothing is: a fault, which stays until it is cleared.
            &[0x05, 0, 2, 0x05, 0, 0, 0, 0x60, 0x0F],
            &[0x08, 0, 0x1E, 0, 0, 0],
            &[0x05, 0, 1, 0x05, 0x00, 0xED, 0, 0xE0],
        ];
        let answers = packets(&mut probe, &sent).await;
        assert_eq!(answers[0], [0x02, 1]);
        assert_eq!(answers[1], [0x11, 0]);
        assert_eq!(answers[3], [0x05, 1, 1, 0x77, 0x14, 0xB1, 0x0B]);
        assert_eq!(answers[4], [0x05, 3, 1]);
        assert_eq!(answers[5][..7], [0x05, 4, 1, 0x00, 0xC2, 0x0C, 0x41]);
        assert_eq!(answers[5][7..], [0, 0, 0, 0xF0]);
        assert_eq!(answers[6], [0x05, 1, 4]);
        assert_eq!(answers[7], [0x08, 0]);
        assert_eq!(answers[8], [0x05, 1, 1]);
        // The reset line is the probe's, too.
        let reset = line.reply(&json!({"cmd": "nrst", "pulse_ms": 10})).await;
        assert!(reset.unwrap_err().contains("busy"));

        let began = Instant::now();
        drop(attached);
        probe.ends().await;
        lost(&bench, &away).await;
        assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
    }
}
