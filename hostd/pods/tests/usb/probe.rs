//! The pod's CMSIS-DAP interface, as a debugger finds it that knows nothing of pods.

use std::time::Duration;

use nusb::MaybeFuture;
use nusb::transfer::{Buffer, Bulk, In, Out};
use tokio::io::AsyncWriteExt;
use usb_sim::Attached;

use super::*;

pub(crate) const CASES: &[Case] = &[("a_debugger_reads_the_target", a_debugger_reads_the_target)];

/// Where the descriptors have it.
const INTERFACE: u8 = 1;

struct Dap {
    output: nusb::Endpoint<Bulk, Out>,
    input: nusb::Endpoint<Bulk, In>,
}

impl Dap {
    fn exchange(&mut self, request: &[u8]) -> Vec<u8> {
        let limit = Duration::from_secs(10);
        let sent = self
            .output
            .transfer_blocking(Buffer::from(request.to_vec()), limit);
        sent.status.unwrap();
        let answer = self.input.transfer_blocking(Buffer::new(512), limit);
        answer.status.unwrap();
        answer.buffer.to_vec()
    }
}

fn a_debugger_reads_the_target() {
    run(async {
        let _plugged = Attached::new(simulated(1).plug()).unwrap();
        // The pod is in use meanwhile, as it is by a server.
        let pod = online("usb").await;
        command(&pod, json!({"cmd": "la_voltage", "mv": 3300})).await;
        command(
            &pod,
            json!({"cmd": "target_power", "efuse": 1, "state": true}),
        )
        .await;
        tokio::task::spawn_blocking(debug).await.unwrap();
        // The wires are free again.
        let mut stream = pod.open().await.unwrap();
        let request = json!({"cmd": "dap_start", "swclk": 11, "swdio": 12});
        let request = format!("{request}\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = line(&mut stream).await;
        assert!(answer.contains("dap ready"), "{answer}");
    });
}

fn debug() {
    let device = nusb::list_devices()
        .wait()
        .unwrap()
        .find(|device| {
            let mut names = device.interfaces().filter_map(|i| i.interface_string());
            names.any(|name| name.contains("CMSIS-DAP"))
        })
        .expect("a debugger finds it by its name");
    let device = device.open().wait().unwrap();
    let interface = device.claim_interface(INTERFACE).wait().unwrap();
    let mut dap = Dap {
        output: interface.endpoint(0x02).unwrap(),
        input: interface.endpoint(0x82).unwrap(),
    };
    // Packet size, then the port: SWD.
    assert_eq!(dap.exchange(&[0x00, 0xFF]), [0x00, 2, 0x00, 0x02]);
    assert_eq!(dap.exchange(&[0x02, 1]), [0x02, 1]);
    dap.exchange(&[0x11, 0x40, 0x42, 0x0F, 0x00]);
    dap.exchange(&[0x04, 0, 64, 0, 0, 0]);
    dap.exchange(&[0x13, 0]);
    // Line reset, the switch from JTAG to SWD, line reset, idle.
    let ones = [0xFF; 7];
    dap.exchange(&[&[0x12, 56][..], &ones].concat());
    dap.exchange(&[0x12, 16, 0x9E, 0xE7]);
    dap.exchange(&[&[0x12, 56][..], &ones].concat());
    dap.exchange(&[0x12, 8, 0x00]);
    // DPIDR of a Cortex-M0.
    let read = dap.exchange(&[0x05, 0, 1, 0x02]);
    assert_eq!(read, [0x05, 1, 1, 0x77, 0x14, 0xB1, 0x0B]);
    assert_eq!(dap.exchange(&[0x03]), [0x03, 0]);
}
