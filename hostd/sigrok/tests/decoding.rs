//! Decoding by `sigrok-cli`: by a script in its place, which misbehaves as it is asked to, and by the real one where it is
//! installed.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests that say why they are left out"
)]

use decode::foreign::{EngineTrouble, ForeignError};
use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{Annotation, DecodeError, Decoding, Spec, sr};
use sigrok::{Limits, Sigrok, SigrokError, Stack};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Says what it was asked for, and behaves as the decoder's name says.
const SCRIPT: &str = r#"#!/bin/sh
echo "$*" >> "@FOLDER@/asked"
case "$1" in
  -L) printf 'Supported protocol decoders:\n  good  Good one\n  upper  On top\n'; exit 0;;
  -P)
    case "$2" in none) echo 'srd: no such decoder' >&2; exit 1;; esac
    input=logic; case "$2" in upper) input=good;; esac
    printf 'ID: %s\nName: A decoder\nPossible decoder input IDs:\n- %s\nPossible decoder output IDs:\n- %s\n' "$2" "$input" "$2"
    printf 'Annotation classes:\n- word: Words\n- other: Others\nAnnotation rows:\n- words (Words): word\n'
    case "$2" in upper) ;; *) printf 'Required channels:\n- line (LINE): A line\nOptional channels:\n- more (MORE): One more\n';; esac
    printf "Options:\n- rate: Rate (default 10)\n- mode: Mode ('a', 'b', default 'a')\n- name: Name (default 'x')\nDocumentation:\nnone\n"
    exit 0;;
esac
case "$8" in
  good*) bytes=$(wc -c); printf '1-2 good-1: word: "%s bytes" "b"\n3-4 good-1: other: "x"\n' "$bytes";;
  hang*) exec sleep 600;;
  deaf*) exec sleep 600 < /dev/null;;
  flood*) yes '1-2 flood-1: word: "again"';;
  die*) cat > /dev/null; echo 'srd: it went wrong' >&2; exit 1;;
  early*) exit 0;;
  odd*) cat > /dev/null; echo 'what is this';;
  far*) cat > /dev/null; printf '9-99999999 far-1: word: "far"\n5-6 far-1: word: "before"\n';;
esac
"#;

struct Fake {
    folder: tempfile::TempDir,
    sigrok: Arc<Sigrok>,
}

impl Fake {
    fn new(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sigrok-cli");
        let script = SCRIPT.replace("@FOLDER@", &folder.path().display().to_string());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let sigrok = Arc::new(Sigrok::new(program, limits));
        Self { folder, sigrok }
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.folder.path().join("asked")).unwrap()
    }
}

fn brief() -> Limits {
    Limits {
        wall: Duration::from_secs(20),
        memory_bytes: 1 << 30,
        output_bytes: 1 << 20,
    }
}

/// A line that rises in the middle of so many samples.
fn segment(samples: usize) -> Vec<u8> {
    let mut levels = vec![0; samples];
    levels[samples / 2..].fill(1);
    let mut encoder = Encoder::new(EncoderSpec {
        channels: 2,
        sample_rate_hz: 1e6,
    })
    .unwrap();
    encoder.push_raw(&levels, 1);
    encoder.finish()
}

fn spec(sigrok: &Arc<Sigrok>, stack: &str, options: &[(&str, &str)]) -> Result<Spec, String> {
    let names = ["LA1", "LA2"].map(str::to_owned);
    let stack = Stack::find(sigrok, stack).map_err(|error| error.to_string())?;
    let foreign = stack
        .foreign(&["line"])
        .map_err(|error| error.to_string())?;
    let map = [("line", "LA1")];
    Spec::parse_foreign(&foreign, &map, options, None, &names).map_err(|error| error.to_string())
}

fn decoded(spec: &Spec, stored: &[u8], from: u64) -> Result<Vec<Annotation>, ForeignError> {
    let segment = Segment::open(stored).unwrap();
    let mut all = Vec::new();
    let decoding = Decoding::of_segment(&segment, spec).and_then(|decoding| {
        decoding.within(from..segment.samples()).run(&mut |found| {
            all.extend_from_slice(found);
            ControlFlow::Continue(())
        })
    });
    match decoding {
        Ok(_) => Ok(all),
        Err(DecodeError::Foreign { source, .. }) => Err(source),
        Err(other) => panic!("{other}"),
    }
}

fn trouble(error: ForeignError) -> (EngineTrouble, String) {
    match error {
        ForeignError::Engine(trouble, told) => (trouble, told),
        other => panic!("{other}"),
    }
}

#[test]
fn all_samples_of_a_range_go_through_it_and_its_lines_come_back() {
    let fake = Fake::new(brief());
    let job = [("rate", "25"), ("mode", "b"), ("name", "x")];
    let spec = spec(&fake.sigrok, "good", &job).unwrap();
    let found = decoded(&spec, &segment(300_000), 1000).unwrap();
    let found: Vec<(u64, u64, u8, String)> = found
        .iter()
        .map(|one| (one.start, one.end, one.class, spec.words(one)))
        .collect();
    assert_eq!(
        found,
        [
            (1001, 1002, 0, "299000 bytes".to_owned()),
            (1003, 1004, 1, "x".to_owned())
        ]
    );
    let asked = fake.asked();
    let last = asked.lines().last().unwrap();
    assert_eq!(
        last,
        "-l 4 -I binary:numchannels=8:samplerate=1000000 -i - -P good:line=0:rate=25:mode=b -A good \
         --protocol-decoder-samplenum"
    );
}

#[test]
fn decoders_stand_on_each_other_if_they_fit() {
    let fake = Fake::new(brief());
    let stack = Stack::find(&fake.sigrok, "good,upper").unwrap();
    let described = stack.decoder(&["line", "more"]);
    assert_eq!(described.id, "upper");
    let options: Vec<&str> = described.options.iter().map(|option| &*option.id).collect();
    let own = [
        "rate",
        "mode",
        "name",
        "upper.rate",
        "upper.mode",
        "upper.name",
    ];
    assert_eq!(options, own);
    assert_eq!(described.channels.len(), 2);
    assert_eq!(stack.decoder(&[]).channels.len(), 1);
    for (stack, told) in [
        ("upper", "takes good"),
        ("good,good", "takes logic"),
        ("none", "is no decoder"),
        ("good;rm", "is no decoder"),
        ("-P", "is no decoder"),
        ("", "is no decoder"),
        ("good:line=0", "is no decoder"),
        ("a,a,a,a,a,a,a,a,a", "at most"),
    ] {
        let error = Stack::find(&fake.sigrok, stack).unwrap_err().to_string();
        assert!(error.contains(told), "{stack}: {error}");
    }
    // What has another form than a name was never asked for.
    assert!(!fake.asked().contains("rm") && !fake.asked().contains("line=0 "));
}

#[test]
fn options_are_checked_before_it_is_started() {
    let fake = Fake::new(brief());
    for (name, value, told) in [
        ("speed", "1", "option `speed`"),
        ("rate", "fast", "whole numbers"),
        ("mode", "c", "it takes a, b"),
    ] {
        let error = spec(&fake.sigrok, "good", &[(name, value)]).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    for value in ["a:mode=b", "a=b", "a,uart"] {
        let spec = spec(&fake.sigrok, "good", &[("name", value)]).unwrap();
        let (trouble, told) = trouble(decoded(&spec, &segment(10), 0).unwrap_err());
        assert_eq!(trouble, EngineTrouble::Unfit, "{value}");
        assert!(told.contains("the value of name"), "{told}");
    }
    assert!(!fake.asked().contains("-l 4"));
}

#[test]
fn one_that_misbehaves_is_ended_and_says_how() {
    for (name, limits, expected, told) in [
        (
            "hang",
            Duration::from_millis(700),
            EngineTrouble::TimedOut,
            "more than 0 s",
        ),
        (
            "deaf",
            Duration::from_millis(700),
            EngineTrouble::TimedOut,
            "more than 0 s",
        ),
        (
            "flood",
            Duration::from_secs(20),
            EngineTrouble::Failed,
            "more than 1 MiB",
        ),
        (
            "die",
            Duration::from_secs(20),
            EngineTrouble::Failed,
            "it went wrong",
        ),
        (
            "odd",
            Duration::from_secs(20),
            EngineTrouble::Failed,
            "what is this",
        ),
    ] {
        let fake = Fake::new(Limits {
            wall: limits,
            ..brief()
        });
        let spec = spec(&fake.sigrok, name, &[]).unwrap();
        let begun = Instant::now();
        // More than fits between the child and its feeder.
        let ended = decoded(&spec, &segment(3_000_000), 0).unwrap_err();
        let (trouble, said) = trouble(ended);
        assert_eq!(trouble, expected, "{name}: {said}");
        assert!(said.contains(told), "{name}: {said}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{name}");
    }
    let fake = Fake::new(brief());
    let spec = spec(&fake.sigrok, "early", &[]).unwrap();
    let (trouble, _) = trouble(decoded(&spec, &segment(3_000_000), 0).unwrap_err());
    assert_eq!(trouble, EngineTrouble::Failed);
}

#[test]
fn samples_behind_the_end_are_brought_back() {
    let fake = Fake::new(brief());
    let spec = spec(&fake.sigrok, "far", &[]).unwrap();
    let found = decoded(&spec, &segment(100), 0).unwrap();
    let ends: Vec<(u64, u64)> = found.iter().map(|one| (one.start, one.end)).collect();
    assert_eq!(ends, [(9, 100), (5, 6)]);
}

/// Whoever waits no longer takes the child along, also while it neither reads nor says anything.
#[test]
fn it_ends_with_whoever_waits_for_it() {
    let fake = Fake::new(Limits {
        wall: Duration::from_secs(600),
        ..brief()
    });
    let spec = spec(&fake.sigrok, "hang", &[]).unwrap();
    let stored = segment(1000);
    let segment = Segment::open(&stored).unwrap();
    let begun = Instant::now();
    let ended = Decoding::of_segment(&segment, &spec)
        .unwrap()
        .run(
            &mut |_| match begun.elapsed() < Duration::from_millis(300) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            },
        )
        .unwrap();
    assert!(ended.stopped);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn what_the_program_has_said_is_not_asked_for_again() {
    let fake = Fake::new(brief());
    assert!(fake.sigrok.kept_list().is_none() && Stack::kept(&fake.sigrok, "good").is_none());
    let listed = fake.sigrok.list().unwrap();
    Stack::find(&fake.sigrok, "good").unwrap();
    let asked = fake.asked();
    assert_eq!(fake.sigrok.kept_list(), Some(listed));
    assert!(Stack::kept(&fake.sigrok, "good").is_some());
    assert!(Stack::kept(&fake.sigrok, "good,upper").is_none());
    assert_eq!(fake.asked(), asked);
}

#[test]
fn what_is_not_installed_is_said() {
    for program in ["/nowhere/sigrok-cli", "sigrok-cli-that-is-not-there", ""] {
        let sigrok = Arc::new(Sigrok::new(program, brief()));
        assert_eq!(sigrok.list().unwrap_err(), SigrokError::NotInstalled);
        let error = Stack::find(&sigrok, "i2c").unwrap_err();
        assert_eq!(error, SigrokError::NotInstalled);
    }
    let fake = Fake::new(brief());
    let listed = fake.sigrok.list().unwrap();
    let listed: Vec<&str> = listed.iter().map(|one| &*one.id).collect();
    assert_eq!(listed, ["good", "upper"]);
}

/// The real program, unless it is not installed.
fn real() -> Option<Arc<Sigrok>> {
    if Command::new("sigrok-cli")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("sigrok-cli is not installed, so this test is left out");
        return None;
    }
    Some(Arc::new(Sigrok::new("sigrok-cli", Limits::default())))
}

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../decode/testdata/captures")
}

#[test]
fn the_real_one_says_the_same_as_on_its_own() {
    let Some(sigrok) = real() else {
        return;
    };
    let bytes = fs::read(recordings().join("i2c_ds1307/rtc_ds1307_200khz.sr")).unwrap();
    let archive = sr::Archive::parse(&bytes, &sr::Limits::default()).unwrap();
    let map = [("scl", "SCL"), ("sda", "SDA")];
    let stack = Stack::find(&sigrok, "i2c").unwrap();
    let foreign = stack.foreign(&["scl", "sda"]).unwrap();
    let shown = Some("addr-data");
    let spec = Spec::parse_foreign(&foreign, &map, &[], shown, archive.channels()).unwrap();
    let mut lines = String::new();
    decode::decode_sr(&archive, &spec, &mut |found| {
        for one in found {
            lines.push_str(&format!(
                "{}-{} i2c-1: {}\n",
                one.start,
                one.end,
                spec.words(one)
            ));
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    let expected = fs::read_to_string(recordings().join("i2c_ds1307/expected.i2c.txt")).unwrap();
    assert_eq!(lines, expected);
    // One on top of it, which hostd does not have.
    let stack = Stack::find(&sigrok, "i2c,ds1307").unwrap();
    let foreign = stack.foreign(&["scl", "sda"]).unwrap();
    let shown = Some("date-time");
    let spec = Spec::parse_foreign(&foreign, &map, &[], shown, archive.channels()).unwrap();
    let mut words = Vec::new();
    decode::decode_sr(&archive, &spec, &mut |found| {
        words.extend(found.iter().map(|one| spec.words(one)));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(words[0].contains("23:35:30"), "{words:?}");
    assert!(sigrok.list().unwrap().len() > 50);
    // More classes than fit: its rows.
    let stack = Stack::find(&sigrok, "sdcard_sd").unwrap();
    assert!(stack.decoder(&[]).classes.len() <= 64);
}
