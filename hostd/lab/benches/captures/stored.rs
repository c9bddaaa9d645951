//! A recording on its way from a file into the files of a capture, as an import does it.

use decode::import::{Import, Limits, Options, Store};
use decode::segment::{Encoder, EncoderSpec};
use lab::captures::files::{Files, LOGIC, LOGIC_PYRAMID, Part};
use lab::captures::reader::Reader;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

const ID: &str = "01ARYZ6S410000000000000001";

struct Disk {
    encoder: Encoder,
    samples: Part,
    pyramid: Part,
}

impl Disk {
    fn write(&mut self) -> ControlFlow<()> {
        let samples = self.samples.write_all(&self.encoder.take());
        let pyramid = self.pyramid.write_all(&self.encoder.take_pyramid());
        samples.and(pyramid).expect("the disk has room");
        ControlFlow::Continue(())
    }
}

impl Store for Disk {
    fn samples(&mut self, raw: &[u8], unit: usize) -> ControlFlow<()> {
        self.encoder.push_raw(raw, unit);
        self.write()
    }

    fn edges(&mut self, edges: &[(u64, u64)], upto: u64) -> ControlFlow<()> {
        self.encoder.push_edges(edges, upto).expect("in order");
        self.write()
    }

    fn counts(&mut self, _counts: &[u16]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Imports the logic channels of a recording into a folder.
pub(crate) fn import(recording: &Path, folder: &Path) -> Reader {
    let bytes = std::fs::read(recording).expect("it is there");
    let limits = Limits::default();
    let import = Import::open(&bytes, &Options::default(), &limits).expect("it is sound");
    let logic = import.logic().expect("it has logic channels");
    let files = Files::look_at(folder.to_owned());
    let spec = EncoderSpec {
        channels: logic.names.len(),
        sample_rate_hz: logic.sample_rate_hz,
    };
    let begin = |kind| files.begin(ID, kind).expect("the folder is there");
    let mut disk = Disk {
        encoder: Encoder::new(spec).expect("it is valid").with_pyramid(),
        samples: begin(LOGIC),
        pyramid: begin(LOGIC_PYRAMID),
    };
    import.feed(&mut disk).expect("it is sound");
    let Disk {
        encoder,
        mut samples,
        mut pyramid,
    } = disk;
    let (last, top) = encoder.finish_both();
    samples.write_all(&last).expect("the disk has room");
    pyramid.write_all(&top).expect("the disk has room");
    samples.finish().expect("the disk has room");
    pyramid.finish().expect("the disk has room");
    let numbered = (1..).zip(&logic.names);
    let channels = numbered.map(|(la, name)| ChannelRecord {
        la: Some(la),
        name: name.clone(),
        unit: String::new(),
        sample_rate_hz: logic.sample_rate_hz,
        samples: logic.samples,
        bits: 1,
        full_scale: 1.0,
        offset: 0.0,
    });
    let record = CaptureRecord {
        status: Status::Done,
        channels: channels.collect(),
        ..CaptureRecord::new(ID.to_owned(), String::new(), String::new(), Kind::Logic, 0)
    };
    Reader::open(&files, record).expect("it was just written")
}
