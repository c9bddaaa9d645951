//! What may be kept with a capture, and that nothing is kept of an edit that is refused.

use super::*;
use store::captures::{ChannelRecord, Kind, Status};

fn record() -> CaptureRecord {
    let channel = |la: u8| ChannelRecord {
        la: Some(la),
        name: format!("LA{la}"),
        unit: String::new(),
        sample_rate_hz: 1e6,
        samples: 100,
        bits: 1,
        full_scale: 1.0,
        offset: 0.0,
    };
    CaptureRecord {
        status: Status::Done,
        channels: vec![channel(1), channel(2)],
        ..CaptureRecord::new(
            "01ARZ3NDEKTSV4RRFFQ69G0000".into(),
            "o".into(),
            String::new(),
            Kind::Logic,
            0,
        )
    }
}

fn marker(channel: u32, sample: u64, note: &str) -> Marker {
    Marker {
        channel,
        sample,
        note: note.to_owned(),
    }
}

fn labels(labels: &[(u32, &str)]) -> Edit {
    let labels = labels.iter().map(|(id, label)| (*id, (*label).to_owned()));
    Edit {
        labels: labels.collect(),
        ..Edit::default()
    }
}

fn markers(markers: Vec<Marker>) -> Edit {
    Edit {
        markers: Some(markers),
        ..Edit::default()
    }
}

#[test]
fn what_is_left_out_stays() {
    let mut kept = record();
    let edit = Edit {
        name: Some("boot".to_owned()),
        pinned: Some(true),
        ..labels(&[(1, "SDA")])
    };
    apply(&edit, &mut kept).unwrap();
    apply(
        &markers(vec![marker(1, 99, "b"), marker(0, 3, "a")]),
        &mut kept,
    )
    .unwrap();
    assert_eq!(
        (kept.name.as_deref(), kept.marks.pinned),
        (Some("boot"), true)
    );
    assert_eq!(kept.marks.markers, [marker(0, 3, "a"), marker(1, 99, "b")]);
    assert_eq!((kept.shown(0), kept.shown(1)), ("LA1", "SDA"));
    assert_eq!(
        ["SDA", "\"SDA\"", "2", "SCL"].map(|text| kept.meant(text)),
        ["\"LA2\"", "\"LA2\"", "2", "SCL"]
    );
    let none = Edit {
        name: Some(String::new()),
        ..labels(&[(1, "")])
    };
    apply(&none, &mut kept).unwrap();
    assert_eq!((kept.name.as_deref(), kept.shown(1)), (None, "LA2"));
    assert!(kept.marks.pinned && kept.marks.markers.len() == 2);
}

#[test]
fn a_label_is_that_of_one_channel() {
    let mut kept = record();
    apply(&labels(&[(0, "LA1"), (1, "SDA")]), &mut kept).unwrap();
    assert_eq!(kept.meant("LA1"), "\"LA1\"");
    for bad in [
        &[(0, "LA2"), (1, "LA1")][..],
        &[(0, "LA2")],
        &[(0, "SCL"), (1, "SCL")],
        &[(0, "LA1"), (1, "LA1")],
        &[(0, "7")],
        &[(2, "SCL")],
        &[(0, "a\nb")],
        &[(0, &"x".repeat(65))],
    ] {
        let mut kept = record();
        let refused = apply(&labels(bad), &mut kept).unwrap_err();
        assert!(
            refused.to_string().starts_with("channels: must "),
            "{refused}"
        );
    }
}

#[test]
fn markers_lie_in_the_capture_and_are_few() {
    let most = vec![marker(0, 0, &"n".repeat(NOTE_CHARS_MAX)); MARKERS_MAX];
    apply(&markers(most.clone()), &mut record()).unwrap();
    let more = [most, vec![marker(0, 0, "n")]].concat();
    for bad in [
        more,
        vec![marker(0, 100, "n")],
        vec![marker(2, 0, "n")],
        vec![marker(0, 0, "")],
        vec![marker(0, 0, &"n".repeat(NOTE_CHARS_MAX + 1))],
        vec![marker(0, 0, "a\tb")],
    ] {
        let refused = apply(&markers(bad), &mut record()).unwrap_err();
        assert!(
            refused.to_string().starts_with("markers: must "),
            "{refused}"
        );
    }
}
