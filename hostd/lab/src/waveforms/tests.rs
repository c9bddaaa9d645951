//! Keeping waveforms within a quota, and what comes back.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full as FullBody;

use super::*;
use base::pace::Pace;
use base::space::Space;
use blobs::Staged;
use store::waveforms::{Segment, Shape};

struct Stage {
    dir: tempfile::TempDir,
    waveforms: Waveforms,
}

impl Stage {
    fn new(config: &WaveformsConfig) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Arc::new(Blobs::open(dir.path().join("blobs"), Space::boundless()).unwrap());
        let store = Store::in_memory().unwrap();
        let waveforms = Waveforms::new(config, store, Clock::system(), blobs);
        Self { dir, waveforms }
    }

    fn usual() -> Self {
        Self::new(&WaveformsConfig::default())
    }

    async fn stage(&self, samples: &[u16]) -> Staged {
        let bytes: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
        let mut body = FullBody::new(Bytes::from(bytes));
        let pace = Pace::within(Duration::from_secs(10));
        let staged = self.waveforms.blobs.stage(&mut body, 1 << 20, pace).await;
        staged.unwrap()
    }

    async fn record(&self, samples: &[u16], unit: Unit) -> WaveformRecord {
        let staged = self.stage(samples).await;
        let told = Recorded {
            sample_rate_hz: 1000.0,
            full_scale: 5.0,
            unit,
            samples: Some(samples.len() as u64),
        };
        let saved = self.waveforms.save_recording(label("rec"), &staged, told);
        saved.await.unwrap()
    }
}

fn label(name: &str) -> Label<'_> {
    Label {
        org: "o1",
        user: "u1",
        name,
    }
}

fn hold(duration_ms: f64, level: f64) -> Segment {
    Segment {
        shape: Shape::Hold,
        duration_ms,
        from_level: level,
        to_level: level,
    }
}

fn field(error: &WaveformError) -> &'static str {
    match error {
        WaveformError::Invalid { field, .. } => field,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn codes_come_back_as_they_were() {
    let stage = Stage::usual();
    let waveforms = &stage.waveforms;
    let text = STANDARD.encode([0u8, 128, 255]);
    let saved = waveforms.save_codes(label("steps"), &text, 8, 1.0, None);
    let saved = saved.await.unwrap();
    assert_eq!((saved.count, saved.kind, saved.bits), (3, Kind::Codes, 8));
    let samples = waveforms.samples_b64("o1", &saved.id).await.unwrap();
    assert_eq!(samples, text);
    assert_eq!(waveforms.get("o1", &saved.id).await.unwrap(), saved);
    // Plain codes are the output's own, whatever its range.
    for output in [Output::V3, Output::V12, Output::Current] {
        let shown = waveforms.preview("o1", &saved.id, Mapping::Faithful, output, 10);
        assert_eq!(shown.await.unwrap().codes, [0, 128 * 257, 65_535]);
    }
    let read = waveforms.read("o1", &saved.id).await;
    assert!(matches!(read, Err(WaveformError::WrongKind(_))));
}

#[tokio::test]
async fn a_recording_is_levels() {
    let stage = Stage::usual();
    let saved = stage
        .record(&[0, 13_107, 26_214, 65_535], Unit::Volts)
        .await;
    let waveforms = &stage.waveforms;
    let shown = waveforms.preview("o1", &saved.id, Mapping::Faithful, Output::V5, 10);
    let shown = shown.await.unwrap();
    assert_eq!(shown.codes, [0, 13_107, 26_214, 65_535]);
    // 0, 1, 2 and 5 V, two at a time.
    let shown = waveforms.preview("o1", &saved.id, Mapping::Faithful, Output::V12, 2);
    let shown = shown.await.unwrap();
    let volts = |code: u16| f64::from(code) / 65_535.0 * 24.0 - 12.0;
    assert!((volts(shown.codes[0]) - 0.5).abs() < 4e-4);
    assert!((volts(shown.codes[1]) - 3.5).abs() < 4e-4);
    assert_eq!(shown.averaged, 2);
    assert!((shown.sample_rate_hz - 500.0).abs() < 1e-9);
    let samples = waveforms.samples_b64("o1", &saved.id).await;
    assert!(matches!(samples, Err(WaveformError::WrongKind(_))));
}

#[tokio::test]
async fn another_unit_can_only_be_stretched() {
    let stage = Stage::usual();
    let saved = stage.record(&[0, 65_535], Unit::Milliamps).await;
    let waveforms = &stage.waveforms;
    let shown = waveforms.preview("o1", &saved.id, Mapping::Faithful, Output::V5, 10);
    assert_eq!(field(&shown.await.unwrap_err()), "mapping");
    let shown = waveforms.preview("o1", &saved.id, Mapping::Fit, Output::V5, 10);
    assert_eq!(shown.await.unwrap().codes, [0, 65_535]);
}

#[tokio::test]
async fn segments_fit_the_small_memory() {
    let stage = Stage::usual();
    let waveforms = &stage.waveforms;
    let segments = vec![hold(300.0, 1.0), hold(200.0, 3.3)];
    let saved = waveforms.save_segments(label("s"), Output::V3, segments);
    let saved = saved.await.unwrap();
    assert!((1900..=2048).contains(&saved.count), "{}", saved.count);
    let shown = waveforms.preview("o1", &saved.id, Mapping::Faithful, Output::V3, 4096);
    let shown = shown.await.unwrap();
    assert_eq!(shown.codes.len() as u64, saved.count);
    assert_eq!(
        (shown.codes[0], *shown.codes.last().unwrap()),
        (19_859, 65_535)
    );
    for (bad, name) in [
        (vec![], "segments"),
        (vec![hold(0.0, 1.0)], "segments"),
        (vec![hold(f64::NAN, 1.0)], "segments"),
        (vec![hold(1.0, 3.4)], "segments"),
        (vec![hold(1.0, f64::INFINITY)], "segments"),
        (vec![hold(2e6, 1.0); 2], "segments"),
        (vec![hold(1.0, 1.0); SEGMENTS_MAX + 1], "segments"),
    ] {
        let refused = waveforms.save_segments(label("s"), Output::V3, bad).await;
        assert_eq!(field(&refused.unwrap_err()), name);
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_by_field() {
    let stage = Stage::usual();
    let waveforms = &stage.waveforms;
    for (text, bits, rate, full, name) in [
        ("AA=", 8, 1.0, None, "samples_b64"),
        ("", 8, 1.0, None, "samples_b64"),
        ("AA==", 16, 1.0, None, "samples_b64"),
        ("AA==", 12, 1.0, None, "bits"),
        ("AA==", 8, -1.0, None, "sample_rate_hz"),
        ("AA==", 8, 0.0, None, "sample_rate_hz"),
        ("AA==", 8, f64::NAN, None, "sample_rate_hz"),
        ("AA==", 8, 1.0, Some(0.0), "full_scale_v"),
    ] {
        let refused = waveforms
            .save_codes(label("n"), text, bits, rate, full)
            .await;
        assert_eq!(field(&refused.unwrap_err()), name);
    }
    let refused = waveforms.save_codes(label("a\u{7}"), "AA==", 8, 1.0, None);
    assert_eq!(field(&refused.await.unwrap_err()), "name");
    let staged = stage.stage(&[1, 2]).await;
    let told = Recorded {
        sample_rate_hz: 1.0,
        full_scale: 1.0,
        unit: Unit::Volts,
        samples: Some(3),
    };
    let refused = waveforms.save_recording(label("n"), &staged, told).await;
    assert_eq!(field(&refused.unwrap_err()), "sample_count");
    let staged = stage.stage(&[]).await;
    let refused = waveforms.save_recording(label("n"), &staged, told).await;
    assert_eq!(field(&refused.unwrap_err()), "body");
}

#[tokio::test]
async fn quotas_hold_and_make_room_again() {
    let stage = Stage::new(&WaveformsConfig {
        recording_mib_max: 1,
        quota_mib: 1,
        count_max: 2,
    });
    let waveforms = &stage.waveforms;
    assert_eq!(waveforms.room("o1").await.unwrap(), 1 << 20);
    let first = stage.record(&[1; 1 << 18], Unit::Volts).await;
    assert_eq!(waveforms.room("o1").await.unwrap(), 1 << 19);
    let staged = stage.stage(&vec![2; (1 << 18) + 1]).await;
    let told = Recorded {
        sample_rate_hz: 1.0,
        full_scale: 1.0,
        unit: Unit::Volts,
        samples: None,
    };
    let refused = waveforms.save_recording(label("n"), &staged, told).await;
    assert!(refused.unwrap_err().to_string().contains("quota_mib"));
    stage.record(&[1], Unit::Volts).await;
    let refused = waveforms.save_codes(label("n"), "AA==", 8, 1.0, None).await;
    assert!(refused.unwrap_err().to_string().contains("count_max"));
    assert!(waveforms.room("o1").await.is_err());
    assert!(waveforms.room("o2").await.is_ok());
    waveforms.delete("o1", &first.id).await.unwrap();
    let saved = waveforms.save_codes(label("n"), "AA==", 8, 1.0, None).await;
    assert!(saved.is_ok());
    assert!(stage.dir.path().join("blobs").exists());
}

#[tokio::test]
async fn nobody_elses_and_newest_first() {
    let stage = Stage::usual();
    let waveforms = &stage.waveforms;
    let mut ids = Vec::new();
    for value in 0..5u16 {
        ids.push(stage.record(&[value], Unit::Volts).await.id);
    }
    ids.sort();
    ids.reverse();
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = waveforms.list("o1", cursor.as_deref(), 2).await.unwrap();
        cursor = page.last().map(|w| w.id.clone());
        seen.extend(page.into_iter().map(|w| w.id));
        if seen.len() == 5 {
            break;
        }
    }
    assert_eq!(seen, ids);
    assert!(waveforms.list("o2", None, 9).await.unwrap().is_empty());
    let other = waveforms.get("o2", &ids[0]).await;
    assert!(matches!(other, Err(WaveformError::NotFound)));
    let other = waveforms.delete("o2", &ids[0]).await;
    assert!(matches!(other, Err(WaveformError::NotFound)));
    let renamed = waveforms.rename(label("new"), &ids[0]).await.unwrap();
    assert_eq!(renamed.name, "new");
    waveforms.delete("o1", &ids[0]).await.unwrap();
    let again = waveforms.delete("o1", &ids[0]).await;
    assert!(matches!(again, Err(WaveformError::NotFound)));
}
