//! The same flash as a user does it, through the server, and by probe-rs alone: both over TCP to one
//! `hostd pod-sim`, whose chip takes the true times of its flash.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use flash::{DapLink, LinkError};
use tests::PodSim;

use crate::{CHIP, PACKET_BYTES, PACKET_COUNT, plain};

/// Longer than any packet takes.
const READ_WAIT: Duration = Duration::from_secs(30);

/// A pod with a chip, and a server for it.
pub(crate) struct Bench {
    pod: PodSim,
    bench: tests::Bench,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let pod = PodSim::start(&["--target", "blank", "--target-part", CHIP]).unwrap();
        let bench = tests::Bench::start(&[&format!("tcp:{}", pod.address)]).unwrap();
        Self { pod, bench }
    }

    /// From the request with the file to the answer.
    pub(crate) fn served(&self, data: &[u8]) -> Duration {
        let path = format!("/api/bench/devices/{}/flash", self.bench.devices[0]);
        let file = ("firmware", "firmware.bin", data);
        let client = self.bench.server.client();
        let began = Instant::now();
        let answer = client.post_form(&path, &[("target", CHIP)], file).unwrap();
        let took = began.elapsed();
        let answer = answer.expect(200);
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(answer["bytes"], data.len());
        took
    }

    /// From the connection to the pod to the end of its probe session.
    pub(crate) fn direct(&self, file: &Path) -> Duration {
        let began = Instant::now();
        plain(Wire::open(&self.pod.address), file);
        began.elapsed()
    }
}

/// The pod's debug probe over TCP, without anything of hostd in between.
struct Wire {
    stream: BufReader<TcpStream>,
}

impl Wire {
    fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(READ_WAIT)).unwrap();
        let mut wire = Self {
            stream: BufReader::new(stream),
        };
        wire.command(r#"{"cmd":"la_voltage","mv":3300}"#);
        wire.command(r#"{"cmd":"target_power","efuse":1,"state":1}"#);
        let start = format!(
            r#"{{"cmd":"dap_start","swclk":11,"swdio":12,"packet_size":{PACKET_BYTES},"packet_count":{PACKET_COUNT},"wait_ms":5000}}"#
        );
        wire.command(&start);
        wire
    }

    fn command(&mut self, command: &str) {
        let stream = self.stream.get_mut();
        stream.write_all(format!("{command}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        self.stream.read_line(&mut answer).unwrap();
        assert!(answer.contains(r#""status":"ok""#), "{command}: {answer}");
    }

    fn send(&mut self, packets: &[Vec<u8>]) -> std::io::Result<()> {
        let mut frames = Vec::new();
        for packet in packets {
            let length = u16::try_from(packet.len()).unwrap();
            frames.extend(length.to_le_bytes());
            frames.extend(packet);
        }
        self.stream.get_mut().write_all(&frames)
    }

    fn receive(&mut self) -> std::io::Result<Vec<u8>> {
        let mut length = [0; 2];
        self.stream.read_exact(&mut length)?;
        let mut answer = vec![0; usize::from(u16::from_le_bytes(length))];
        self.stream.read_exact(&mut answer)?;
        Ok(answer)
    }
}

impl DapLink for Wire {
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.send(&[packet.to_vec()]).map_err(LinkError::lost)?;
        self.receive().map_err(LinkError::lost)
    }

    fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LinkError> {
        self.send(packets).map_err(LinkError::lost)?;
        let answers = packets.iter().map(|_| self.receive());
        answers.collect::<Result<_, _>>().map_err(LinkError::lost)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // The pod closes once the probe's channels are free, which the next one needs.
        let _ = self.stream.get_ref().shutdown(std::net::Shutdown::Write);
        let _ = self.stream.read_to_end(&mut Vec::new());
    }
}
