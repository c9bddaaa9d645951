//! From pod frames to files and back.

use pods::Frame;

use super::*;
use crate::captures::layout::{self, FRAME_SAMPLES};
use crate::captures::recording::Recording;
use base::space::Space;
use store::captures::{ChannelRecord, Kind, Status};

fn channel(la: Option<u8>, samples: u64) -> ChannelRecord {
    ChannelRecord {
        la,
        name: la.map_or_else(|| "ADC".into(), |n| format!("LA{n}")),
        unit: String::new(),
        sample_rate_hz: 1e6,
        samples,
        bits: 1,
        full_scale: 1.0,
        offset: 0.0,
    }
}

fn record(channels: Vec<ChannelRecord>) -> CaptureRecord {
    CaptureRecord {
        status: Status::Done,
        channels,
        ..CaptureRecord::new(
            "01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
            "o".into(),
            "d".into(),
            Kind::Dual,
            0,
        )
    }
}

#[test]
fn what_was_recorded_is_read_back_frame_by_frame() {
    let samples = FRAME_SAMPLES + 5;
    let asked = vec![
        channel(None, 3),
        channel(Some(2), samples),
        channel(Some(14), samples),
    ];
    let mut recording = Recording::new(&asked, true);
    recording.set_rates(Some(400_000.0), Some(2e6));
    let adc = |start_sample, counts: &[u16]| Frame::Adc {
        start_sample,
        counts: counts.to_vec(),
    };
    recording.push(adc(0, &[0, 0x8000])).unwrap();
    recording.push(adc(2, &[0xffff])).unwrap();
    // Logic comes later, and frames go in order.
    let first = recording.take_frame().unwrap();
    assert!(recording.take_frame().is_none());
    // LA1 changes too, but is not requested.
    let edges = vec![(0, 0b11), (10, 0b01), (FRAME_SAMPLES, 0x2000)];
    recording
        .push(Frame::La {
            edges,
            upto: samples,
        })
        .unwrap();
    let mut streamed = vec![first];
    streamed.extend(std::iter::from_fn(|| recording.take_frame()));
    let finished = recording.finish();
    assert_eq!(finished.channels[0].sample_rate_hz, 400_000.0);
    assert_eq!(finished.channels[1].sample_rate_hz, 2e6);
    assert_eq!(finished.channels[1].samples, samples);

    let dir = tempfile::tempdir().unwrap();
    let files = Files::open(dir.path().join("captures"), Space::boundless()).unwrap();
    let record = record(finished.channels);
    files
        .write(&record.id, LOGIC, &finished.logic.unwrap())
        .unwrap();
    files
        .write(&record.id, ANALOG, &finished.analog.unwrap())
        .unwrap();
    let reader = Reader::open(&files, record).unwrap();
    assert_eq!(reader.logic_names(), ["LA2", "LA14"]);
    let all: Vec<_> = layout::frames(&reader.samples(), 0)
        .map(|span| reader.frame(span).unwrap())
        .collect();
    let spans: Vec<_> = layout::frames(&reader.samples(), 0).collect();
    let streamed_spans: Vec<_> = streamed.iter().map(|f| f.span).collect();
    assert_eq!(streamed_spans, spans);
    assert_eq!(
        streamed.into_iter().map(|f| f.data).collect::<Vec<_>>(),
        all
    );
    let runs = |level, runs: &[u32]| Data::Runs {
        level,
        runs: runs.to_vec(),
    };
    let frame = u32::try_from(FRAME_SAMPLES).unwrap();
    assert_eq!(
        all,
        [
            // Shifted by half the range: linear counts.
            Data::Counts(vec![0, 0x80, 0, 0, 0xff, 0x7f]),
            runs(1, &[10, frame - 10]),
            runs(0, &[frame]),
            runs(0, &[5]),
            runs(1, &[5]),
        ]
    );
    // Half a unit a count.
    assert_eq!(reader.values(0, 0, 2).unwrap(), [16_384.0, 0.0]);
    assert_eq!(reader.values(0, 2, 10).unwrap(), [16_383.5]);
    assert!(reader.values(0, u64::MAX, 10).unwrap().is_empty());
    assert!(matches!(reader.values(1, 0, 10), Err(ReadError::NoChannel)));
}

#[test]
fn logic_that_nobody_asked_for_is_refused() {
    let mut recording = Recording::new(&[channel(None, 3)], false);
    let frame = Frame::La {
        edges: vec![(0, 1)],
        upto: 3,
    };
    assert!(recording.push(frame).is_err());
}

#[test]
fn damaged_and_missing_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let files = Files::open(dir.path().join("captures"), Space::boundless()).unwrap();
    let record = record(vec![channel(Some(1), 10)]);
    assert!(matches!(
        Reader::open(&files, record.clone()),
        Err(ReadError::Open { .. })
    ));
    files.write(&record.id, LOGIC, b"not a segment").unwrap();
    let reader = Reader::open(&files, record).unwrap();
    let span = layout::frames(&reader.samples(), 0).next().unwrap();
    assert!(matches!(reader.frame(span), Err(ReadError::Logic(_))));
}

#[test]
fn half_written_files_are_cleared_at_start() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("captures");
    Files::open(folder.clone(), Space::boundless()).unwrap();
    let part = folder.join("x.la.part");
    std::fs::write(&part, b"half").unwrap();
    Files::open(folder, Space::boundless()).unwrap();
    assert!(!part.exists());
}
