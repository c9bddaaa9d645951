//! Input at the console, and its answers.

use std::sync::Arc;

use fastrand::Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use crate::tests::{Client, bench};
use crate::{Board, SimConfig, SimPod};

struct Terminal(DuplexStream);

impl Terminal {
    fn new(pod: &Arc<SimPod>) -> Self {
        let (near, far) = duplex(4096);
        let pod = pod.clone();
        tokio::spawn(async move { pod.console(far).await });
        Self(near)
    }

    /// Types text, and returns everything shown up to the next prompt.
    async fn types(&mut self, text: &str) -> String {
        self.0.write_all(text.as_bytes()).await.unwrap();
        let mut shown = Vec::new();
        while !shown.ends_with(b"\r\n> ") {
            shown.push(self.0.read_u8().await.unwrap());
        }
        String::from_utf8(shown).unwrap()
    }
}

fn older() -> SimConfig {
    SimConfig {
        faults: vec!["firmware=3.8.0".parse().unwrap()],
        la_voltage_mv: Some(0),
        ..SimConfig::default()
    }
}

#[tokio::test(start_paused = true)]
async fn it_says_who_it_is_in_the_lines_that_clients_read() {
    let mut terminal = Terminal::new(&bench(SimConfig::default()));
    assert_eq!(terminal.types("\r").await, "\r\n> ");
    let status = terminal.types("status\n").await;
    assert!(
        status.starts_with("status\r\n  device : benchpod\r\n"),
        "{status}"
    );
    for part in [
        "board  : stm32h563  fw v3.9.4  rev v3  nrst_pin=yes  usb_cc=yes\r\n",
        "gateware v48",
        "16-bit x1, 4096 mV",
        "usb    : net off",
        "reset  : power-on",
        "crash  : none",
    ] {
        assert!(status.contains(part), "{status}");
    }
    assert_eq!(
        terminal.types("ping\r\n").await,
        "ping\r\n  PING ok  version=0x30\r\n> "
    );
    let identity = terminal.types("identity\n").await;
    let words: Vec<&str> = identity.split_ascii_whitespace().collect();
    assert_eq!(
        (words[1], words[2].len(), words[3].len()),
        ("identity", 6, 43)
    );
}

#[tokio::test(start_paused = true)]
async fn instruments_are_left_to_the_network_and_jargon_is_unknown() {
    let mut terminal = Terminal::new(&bench(SimConfig::default()));
    for typed in ["la-voltage 3300\n", "power 1 on\n"] {
        let shown = terminal.types(typed).await;
        assert!(shown.contains("moved to the network API"), "{shown}");
    }
    for typed in ["dap-start 11 12\n", "{\"cmd\":\"ping\"}\n"] {
        let shown = terminal.types(typed).await;
        assert!(shown.contains("unknown command"), "{shown}");
    }
    assert!(terminal.types("help\n").await.contains("commands:"));
}

#[tokio::test(start_paused = true)]
async fn older_firmware_does_it_itself() {
    let pod = bench(SimConfig {
        board: Board::V2,
        ..older()
    });
    let mut terminal = Terminal::new(&pod);
    assert!(!terminal.types("status\n").await.contains("usb    :"));
    let shown = terminal.types("la-voltage\n").await;
    assert!(shown.contains("LA VCCIO = UNSET (st=1)"), "{shown}");
    let shown = terminal.types("la-voltage 1800\n").await;
    assert!(shown.contains("needs a v3 pod"), "{shown}");
    let shown = terminal.types("la-voltage 3300\n").await;
    assert!(shown.contains("LA VCCIO = 3300 mV (st=1)"), "{shown}");
    for bad in ["la-voltage x\n", "power 1\n", "power\n"] {
        assert!(terminal.types(bad).await.contains("usage:"));
    }
    assert!(terminal.types("power 3 on\n").await.contains("bad eFuse"));
    assert!(terminal.types("power 2 on\n").await.contains("eFuse2 ON"));
    let mut client = Client::new(&pod).await;
    let fuses = client.ok(serde_json::json!({"cmd": "target_status"})).await;
    assert_eq!(fuses["efuse2"]["enabled"], 1);
}

#[tokio::test(start_paused = true)]
async fn mistakes_are_rubbed_out_and_long_lines_end() {
    let mut terminal = Terminal::new(&bench(SimConfig::default()));
    let shown = terminal.types("pinx\x08\x7f\x7f\x7f\x7f\x7fping\n").await;
    assert!(shown.contains("PING ok"), "{shown}");
    let shown = terminal.types(&format!("{}\n", "x".repeat(10_000))).await;
    assert!(shown.contains("unknown command"), "{}", shown.len());
    assert!(shown.len() < 400, "{}", shown.len());
}

#[tokio::test(start_paused = true)]
async fn noise_never_ends_it() {
    let mut terminal = Terminal::new(&bench(older()));
    let mut random = Rng::with_seed(3);
    for _ in 0..300 {
        let length = random.usize(..200);
        let noise: Vec<u8> = (0..length)
            .map(|_| u8::try_from(random.usize(..256)).unwrap())
            .collect();
        // If nothing were read meanwhile, both ends would wait for each other.
        let (mut reader, mut writer) = tokio::io::split(&mut terminal.0);
        let mut shown = [0; 4096];
        writer.write_all(&noise).await.unwrap();
        tokio::select! {
            _ = reader.read(&mut shown) => {}
            () = tokio::time::sleep(std::time::Duration::from_millis(1)) => {}
        }
    }
    let shown = terminal.types("\rping\n\n").await;
    assert!(!shown.is_empty());
}
