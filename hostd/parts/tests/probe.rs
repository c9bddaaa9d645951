//! A probe and a serial port on USB, behind the kernel's own USB stack: those of a simulated pod, of which a bench of parts
//! knows nothing else.
//!
//! It is plugged into the kernel's virtual controller (`vhci_hcd`), which takes root. Where that is missing the tests are
//! left out; `cargo xtask test-usb` runs them in a virtual machine.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test, though it is its own harness"
)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::config::{DeviceConfig, Parity, ProbePart, UartPart};
use libtest_mimic::{Arguments, Trial};
use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport};
use pod_protocol::dap_frame::{DapFrames, encode};
use pod_protocol::driver::Driver as _;
use pod_protocol::{REPLY_LINE_BYTES_MAX, Reply};
use pod_sim::{SimConfig, SimPod, TargetConfig};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use usb_sim::Attached;

/// Makes it a failure that there is no virtual controller.
const NEEDED: &str = "TESTS_NEED_USB";

/// How long anything may take. An emulated processor is slow.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if !Attached::is_possible() && !arguments.list {
        eprintln!("this kernel has no virtual USB controller, so these tests are left out");
        return match std::env::var_os(NEEDED) {
            Some(_) => ExitCode::FAILURE,
            None => ExitCode::SUCCESS,
        };
    }
    let trial = Trial::test("plugged_in_used_and_pulled_out", || {
        run();
        Ok(())
    });
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

#[tokio::main]
async fn run() {
    timeout(4 * PATIENCE, plugged_in_used_and_pulled_out())
        .await
        .expect("the test takes too long");
}

struct Line(Lines<BoxedStream>);

impl Line {
    async fn to(bench: &Arc<dyn Transport>) -> Self {
        let until = Instant::now() + PATIENCE;
        loop {
            match bench.connect().await {
                Ok(stream) => return Self(Lines::new(stream, REPLY_LINE_BYTES_MAX)),
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn ask(&mut self, request: Value) -> Value {
        self.0
            .write(request.to_string().into_bytes())
            .await
            .unwrap();
        let line = timeout(PATIENCE, self.0.read()).await.unwrap().unwrap();
        match Reply::parse(line.expect("a reply")).unwrap() {
            Reply::Done(data) => data,
            Reply::Refused(refusal) => panic!("{request}: {refusal}"),
        }
    }

    /// Asks until these parts are away.
    async fn until_missing(&mut self, parts: &[&str]) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.ask(json!({"cmd": "status"})).await;
            let missing = status["missing"].as_array().unwrap();
            if missing
                .iter()
                .map(|away| away["part"].as_str().unwrap())
                .eq(parts.iter().copied())
            {
                return status;
            }
            assert!(Instant::now() < until, "{status}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until_read(&mut self, text: &str) {
        let mut read = String::new();
        while !read.contains(text) {
            let more = timeout(PATIENCE, self.0.read_raw(256))
                .await
                .unwrap()
                .unwrap();
            assert!(!more.is_empty(), "it ended after {read:?}");
            read.push_str(&String::from_utf8_lossy(&more));
        }
    }

    async fn ends(&mut self) {
        // An error is an end, too.
        while timeout(PATIENCE, self.0.read_raw(256))
            .await
            .unwrap()
            .is_ok_and(|read| !read.is_empty())
        {}
    }
}

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

async fn plugged_in_used_and_pulled_out() {
    let sim = SimPod::new(SimConfig {
        seed: 1,
        target: Some(TargetConfig::demo()),
        ..SimConfig::default()
    });
    // Its target has power, whoever does that.
    let own: Arc<dyn Transport> = sim.clone();
    let mut own = Line::to(&own).await;
    own.ask(json!({"cmd": "la_voltage", "mv": 3300})).await;
    own.ask(json!({"cmd": "target_power", "efuse": 1, "state": 1}))
        .await;
    let device = DeviceConfig {
        name: "b".to_owned(),
        address: "parts:b".to_owned(),
        probe: Some(ProbePart {
            address: "usb:1209:0001".to_owned(),
        }),
        uart: Some(UartPart {
            path: "/dev/ttyACM0".to_owned(),
            parity: Parity::None,
        }),
        ..DeviceConfig::default()
    };
    let bench = parts::Driver::new(&[device]).transport("b").unwrap();
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
            0x12, 136, 255, 255, 255, 255, 255, 255, 255, 0x9E, 0xE7, 255, 255, 255, 255, 255, 255,
            255, 0,
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
}
