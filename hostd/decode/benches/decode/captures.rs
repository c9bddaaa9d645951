//! From the file to the last annotation, against sigrok-cli on the same file.
//!
//! Both print their annotations (ours into memory). For both, the time that passes is compared, and the processor time of
//! all threads: ours inflates on several.

use crate::clock::{process_seconds, user_seconds};
use decode::{Format, Spec, sr};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

struct Job {
    /// Under `testdata/captures`.
    file: &'static str,
    protocol: &'static str,
    map: &'static [(&'static str, &'static str)],
    options: &'static [(&'static str, &'static str)],
    annotations: &'static str,
}

const JOBS: &[Job] = &[
    Job {
        file: "i2c_trekstor_120s/trekstor_ebr30_a_i2c_120s.sr",
        protocol: "i2c",
        map: &[("scl", "SCL"), ("sda", "SDA")],
        options: &[],
        annotations: "i2c=addr-data",
    },
    Job {
        file: "i2c_rtc8564_nacks/8564je_nacks.sr",
        protocol: "i2c",
        map: &[("scl", "SCL"), ("sda", "SDA")],
        options: &[],
        annotations: "i2c=addr-data",
    },
    Job {
        file: "multi_rding_temper/rding_temper_i2c_usb_led_eeprom_and_sensor_5s.sr",
        protocol: "i2c",
        map: &[("scl", "SCL"), ("sda", "SDA")],
        options: &[],
        annotations: "i2c=addr-data",
    },
    Job {
        file: "spi_mrf24j40/mrf24j40ma_no_txfails.sr",
        protocol: "spi",
        map: &[
            ("clk", "SCK"),
            ("mosi", "SDI"),
            ("miso", "SDO"),
            ("cs", "CS#"),
        ],
        options: &[],
        annotations: "spi=mosi-data:miso-data",
    },
    Job {
        file: "spi_mx25l_read/mx25l1605d_read.sr",
        protocol: "spi",
        map: &[
            ("clk", "SCLK"),
            ("mosi", "MOSI"),
            ("miso", "MISO"),
            ("cs", "CS#"),
        ],
        options: &[],
        annotations: "spi=mosi-data:miso-data",
    },
    Job {
        file: "uart_amulet_bootup/bootup.sr",
        protocol: "uart",
        map: &[("rx", "Pin 1"), ("tx", "Pin 3")],
        options: &[("baudrate", "115200")],
        annotations: "uart=rx-data:tx-data:rx-warnings:tx-warnings",
    },
];

impl Job {
    fn path(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("testdata/captures")
            .join(self.file)
    }

    /// Decodes the file; returns the number of samples, bytes per sample, and bytes of text.
    fn decode(&self, bytes: &[u8]) -> (u64, usize, usize) {
        let archive = sr::Archive::parse(bytes, &sr::Limits::default()).expect("the file is sound");
        let annotations = Some(self.annotations);
        let channels = archive.channels();
        let spec = Spec::parse(self.protocol, self.map, self.options, annotations, channels);
        let spec = spec.expect("the channels are those of the file");
        let mut text = Vec::new();
        let summary = decode::decode_sr(&archive, &spec, &mut |annotations| {
            let written = Format::Sigrok.write(&spec, annotations, &mut text);
            written.expect("memory takes everything");
            ControlFlow::Continue(())
        });
        (
            summary.expect("the file is sound").samples,
            archive.unit_size(),
            text.len(),
        )
    }

    fn sigrok(&self) -> Command {
        let pairs = self.map.iter().chain(self.options);
        let settings: String = pairs
            .map(|(name, value)| format!(":{name}={value}"))
            .collect();
        let mut command = Command::new("sigrok-cli");
        command.arg("-i").arg(self.path());
        command.args(["-P", &format!("{}{settings}", self.protocol)]);
        command.args(["-A", self.annotations, "--protocol-decoder-samplenum"]);
        command.stdout(Stdio::null());
        command
    }
}

/// The best of several rounds.
#[derive(Clone, Copy)]
struct Best {
    wall: f64,
    processor: f64,
}

impl Best {
    const NONE: Self = Self {
        wall: f64::MAX,
        processor: f64::MAX,
    };

    fn take(&mut self, wall: f64, processor: f64) {
        self.wall = self.wall.min(wall);
        self.processor = self.processor.min(processor);
    }
}

pub(crate) fn run(rounds: usize) {
    println!(
        "\nfrom the .sr file to text, best of {rounds}; against sigrok-cli: by time that passes, by processor time"
    );
    for job in JOBS {
        let bytes = std::fs::read(job.path()).expect("the captures are in the tree");
        let (mut ours, mut sigrok) = (Best::NONE, None);
        let mut size = (0, 0, 0);
        for round in 0..rounds {
            // Much shorter than the clock's resolution, so several runs in a row.
            for _ in 0..5 {
                let (began, before) = (Instant::now(), process_seconds());
                size = job.decode(&bytes);
                ours.take(began.elapsed().as_secs_f64(), process_seconds() - before);
            }
            // Each takes seconds and varies little: two rounds are enough.
            let began = Instant::now();
            if round < 2
                && let Some(seconds) = user_seconds(&mut job.sigrok())
            {
                let best = sigrok.get_or_insert(Best::NONE);
                best.take(began.elapsed().as_secs_f64(), seconds);
            }
        }
        let (samples, unit, text) = size;
        let against = match sigrok {
            Some(theirs) => format!(
                "sigrok-cli {:.2} s = {:.0} x, {:.2} s = {:.0} x",
                theirs.wall,
                theirs.wall / ours.wall,
                theirs.processor,
                theirs.processor / ours.processor
            ),
            None => "sigrok-cli is not installed".to_owned(),
        };
        println!(
            "  {:44} {samples:>10} samples of {unit} B {:7.2} ms, {:7.2} ms of processors {:7.2} Gsamples/s {text:>8} B text; {against}",
            job.file.rsplit('/').next().unwrap_or(job.file),
            ours.wall * 1e3,
            ours.processor * 1e3,
            samples as f64 / ours.wall * 1e-9,
        );
    }
}
