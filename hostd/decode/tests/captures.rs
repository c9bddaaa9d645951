//! Real recordings decode to exactly what sigrok-cli prints for them: every line, in order, with
//! its sample numbers, and the byte streams too. `testdata/captures/README.md` has the commands.

use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{ByteStream, Format, Plan, RawDecoder, Spec, sr};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

struct Capture {
    folder: &'static str,
    file: &'static str,
    protocol: &'static str,
    map: &'static [(&'static str, &'static str)],
    options: &'static [(&'static str, &'static str)],
    annotations: &'static str,
    stream: &'static str,
}

const CAPTURES: &[Capture] = &[
    Capture {
        folder: "i2c_ds1307",
        file: "rtc_ds1307_200khz.sr",
        protocol: "i2c",
        map: &[("scl", "SCL"), ("sda", "SDA")],
        options: &[],
        annotations: "i2c=addr-data",
        stream: "data-read",
    },
    Capture {
        folder: "i2c_rtc8564_nacks",
        file: "8564je_nacks.sr",
        protocol: "i2c",
        map: &[("scl", "SCL"), ("sda", "SDA")],
        options: &[],
        annotations: "i2c=addr-data",
        stream: "data-write",
    },
    Capture {
        folder: "i2c_trekstor_120s",
        file: "trekstor_ebr30_a_i2c_120s.sr",
        protocol: "i2c",
        map: &[("scl", "SCL"), ("sda", "SDA")],
        options: &[],
        annotations: "i2c=addr-data",
        stream: "data-write",
    },
    Capture {
        folder: "multi_rding_temper",
        file: "rding_temper_i2c_usb_led_eeprom_and_sensor_5s.sr",
        protocol: "i2c",
        map: &[("scl", "SCL"), ("sda", "SDA")],
        options: &[],
        annotations: "i2c=addr-data",
        stream: "data-read",
    },
    Capture {
        folder: "spi_mode3_0x35",
        file: "spi_0x35_cpol1_cpha1_trigger_cs_falling_ok.sr",
        protocol: "spi",
        map: &[
            ("clk", "CLK"),
            ("mosi", "MOSI"),
            ("miso", "MISO"),
            ("cs", "CS#"),
        ],
        options: &[("cpol", "1"), ("cpha", "1")],
        annotations: "spi=mosi-data:miso-data",
        stream: "mosi",
    },
    Capture {
        folder: "spi_mrf24j40",
        file: "mrf24j40ma_no_txfails.sr",
        protocol: "spi",
        map: &[
            ("clk", "SCK"),
            ("mosi", "SDI"),
            ("miso", "SDO"),
            ("cs", "CS#"),
        ],
        options: &[],
        annotations: "spi=mosi-data:miso-data",
        stream: "mosi",
    },
    Capture {
        folder: "spi_mx25l_read",
        file: "mx25l1605d_read.sr",
        protocol: "spi",
        map: &[
            ("clk", "SCLK"),
            ("mosi", "MOSI"),
            ("miso", "MISO"),
            ("cs", "CS#"),
        ],
        options: &[],
        annotations: "spi=mosi-data:miso-data",
        stream: "miso",
    },
    Capture {
        folder: "uart_ampel64_frame_errors",
        file: "ampel64_4800_8n1_frame_errors.sr",
        protocol: "uart",
        map: &[("tx", "TX")],
        options: &[("baudrate", "4800")],
        annotations: "uart=tx-data:tx-warnings",
        stream: "tx",
    },
    Capture {
        folder: "uart_amulet_bootup",
        file: "bootup.sr",
        protocol: "uart",
        map: &[("rx", "Pin 1"), ("tx", "Pin 3")],
        options: &[("baudrate", "115200")],
        annotations: "uart=rx-data:tx-data:rx-warnings:tx-warnings",
        stream: "rx",
    },
    Capture {
        folder: "uart_hello_7o1",
        file: "hello_world_7o1_115200.sr",
        protocol: "uart",
        map: &[("tx", "TX")],
        options: &[
            ("baudrate", "115200"),
            ("data_bits", "7"),
            ("parity", "odd"),
        ],
        annotations: "uart=tx-data:tx-parity-ok:tx-parity-err:tx-warnings",
        stream: "tx",
    },
];

impl Capture {
    fn read(&self, name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/captures");
        let path = folder.join(self.folder).join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn expected_text(&self) -> String {
        let name = format!("expected.{}.txt", self.protocol);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/captures");
        if folder.join(self.folder).join(&name).exists() {
            return String::from_utf8(self.read(&name)).expect("expected text is UTF-8");
        }
        let packed = self.read(&format!("{name}.gz"));
        let mut text = String::new();
        flate2::read::GzDecoder::new(&packed[..])
            .read_to_string(&mut text)
            .expect("expected text is gzip");
        text
    }

    fn spec(&self, archive: &sr::Archive<'_>) -> Spec {
        let annotations = Some(self.annotations);
        let channels = archive.channels();
        Spec::parse(self.protocol, self.map, self.options, annotations, channels)
            .expect("the channels are those of the file")
    }
}

/// Compares line by line, so that a failure shows the first difference and not megabytes.
fn assert_same_lines(what: &str, text: &[u8], expected: &str) {
    let text = std::str::from_utf8(text).expect("annotations are text");
    for (number, (line, expected)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "{what}, line {}", number + 1);
    }
    assert_eq!(
        text.lines().count(),
        expected.lines().count(),
        "{what}: number of lines"
    );
    assert_eq!(text, expected, "{what}");
}

#[test]
fn archives_decode_to_what_sigrok_prints() {
    for capture in CAPTURES {
        let file = capture.read(capture.file);
        let archive = sr::Archive::parse(&file, &sr::Limits::default()).unwrap();
        let spec = capture.spec(&archive);
        let mut text = Vec::new();
        let summary = decode::decode_sr(&archive, &spec, &mut |annotations| {
            Format::Sigrok.write(&spec, annotations, &mut text).unwrap();
            ControlFlow::Continue(())
        });
        let summary = summary.unwrap();
        assert_eq!(
            summary.samples,
            archive.total_samples(),
            "{}",
            capture.folder
        );
        let expected = capture.expected_text();
        assert_same_lines(capture.folder, &text, &expected);
        assert_eq!(summary.annotations, expected.lines().count() as u64);
    }
}

#[test]
fn byte_streams_are_those_of_sigrok() {
    for capture in CAPTURES {
        let file = capture.read(capture.file);
        let archive = sr::Archive::parse(&file, &sr::Limits::default()).unwrap();
        let stream = ByteStream::parse(capture.protocol, capture.stream).unwrap();
        let spec = capture.spec(&archive).for_byte_stream(&stream);
        let mut bytes = Vec::new();
        let decoded = decode::decode_sr(&archive, &spec, &mut |annotations| {
            stream.write(&spec, annotations, &mut bytes).unwrap();
            ControlFlow::Continue(())
        });
        decoded.unwrap();
        let name = format!("expected.{}.{}.bin", capture.protocol, capture.stream);
        assert!(bytes == capture.read(&name), "{}", capture.folder);
    }
}

#[test]
fn stored_segments_decode_the_same() {
    for capture in CAPTURES {
        let file = capture.read(capture.file);
        let archive = sr::Archive::parse(&file, &sr::Limits::default()).unwrap();
        let unit = archive.unit_size();
        let sample_rate_hz = archive.sample_rate_hz().unwrap();
        let mut encoder = Encoder::new(EncoderSpec {
            channels: unit * 8,
            sample_rate_hz,
        })
        .unwrap();
        let flow = archive.visit(&mut |raw| {
            encoder.push_raw(raw, unit);
            ControlFlow::Continue(())
        });
        assert!(flow.unwrap().is_continue());
        let stored = encoder.finish();
        assert!(
            stored.len() < file.len(),
            "{}: {} bytes",
            capture.folder,
            stored.len()
        );
        let segment = Segment::open(&stored).unwrap();
        assert_eq!(segment.samples(), archive.total_samples());
        let spec = capture.spec(&archive);
        let mut text = Vec::new();
        let decoded = decode::decode_segment(&segment, &spec, &mut |annotations| {
            Format::Sigrok.write(&spec, annotations, &mut text).unwrap();
            ControlFlow::Continue(())
        });
        decoded.unwrap();
        assert_same_lines(capture.folder, &text, &capture.expected_text());
    }
}

#[test]
fn chunks_on_all_threads_decode_the_same() {
    for capture in CAPTURES
        .iter()
        .filter(|capture| capture.folder != "i2c_trekstor_120s")
    {
        let file = capture.read(capture.file);
        let archive = sr::Archive::parse(&file, &sr::Limits::default()).unwrap();
        let spec = capture.spec(&archive);
        let rate = archive.sample_rate_hz();
        let plan = Plan::Parallel(100_000);
        let mut decoder = RawDecoder::new(&spec, rate, archive.unit_size(), plan).unwrap();
        let mut text = Vec::new();
        let mut sink = |annotations: &[decode::Annotation]| {
            Format::Sigrok.write(&spec, annotations, &mut text).unwrap();
            ControlFlow::Continue(())
        };
        let flow = archive
            .visit(&mut |raw| decoder.feed(raw, &mut sink))
            .unwrap();
        assert!(flow.is_continue());
        assert!(decoder.finish(&mut sink).1.is_continue());
        assert_same_lines(capture.folder, &text, &capture.expected_text());
    }
}
