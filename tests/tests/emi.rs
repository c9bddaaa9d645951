//! `hostd emi check` as the documentation shows it, on a board with a slot in its ground plane.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn board() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .unwrap()
        .join("hostd/emi/testdata/slot.kicad_pcb")
}

fn check(board: &Path, args: &[&str]) -> Ran {
    let output = Command::new(tests::server::binary().unwrap())
        .args(["emi", "check"])
        .arg(board)
        .args(args)
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_clock_over_the_slot_is_critical() {
    let ran = check(&board(), &[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(
        ran.out.starts_with("warning plane-gap [SCK] F.Cu (30, 20)"),
        "{}",
        ran.out
    );
    let clock = ["--clock", "SCK=25MHz,1ns"];
    let ran = check(&board(), &clock);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.out.starts_with("critical plane-gap [SCK]"),
        "{}",
        ran.out
    );
    for (level, code) in [("warning", 1), ("info", 1), ("never", 0)] {
        let ran = check(&board(), &[&clock[..], &["--fail-on", level]].concat());
        assert_eq!(ran.code, code, "{level}");
    }
}

#[test]
fn json_is_what_the_api_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rules.json");
    let ran = check(
        &board(),
        &["--format", "json", "--output", path.to_str().unwrap()],
    );
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(report["format_version"], 1);
    let first = &report["findings"][0];
    assert_eq!(
        (&first["rule"], &first["net"]),
        (&Value::from("plane-gap"), &Value::from("SCK"))
    );
}

#[test]
fn what_lies_beside_the_board_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("slot.kicad_pcb");
    fs::copy(board(), &copy).unwrap();
    let rules = |text: &str| fs::write(dir.path().join("emi.rules.yaml"), text).unwrap();
    rules("version: 1\nrules: {plane-gap: false}\n");
    assert!(!check(&copy, &[]).out.contains("plane-gap"));
    // A class of the project makes the net fast.
    rules("version: 1\ngroups: [{netclass: Outer, speed: fast}]\n");
    let project = r#"{"net_settings": {"classes": [{"name": "Outer"}],
        "netclass_patterns": [{"netclass": "Outer", "pattern": "SC?"}]}}"#;
    fs::write(dir.path().join("slot.kicad_pro"), project).unwrap();
    let ran = check(&copy, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    // Another file in its place; what it does not know, it says.
    let other = dir.path().join("other.yaml");
    fs::write(&other, "version: 1\nrules: {plane-gaps: false}\n").unwrap();
    let ran = check(&copy, &["--rules", other.to_str().unwrap()]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("plane-gaps"), "{}", ran.err);
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.kicad_pcb");
    let ran = check(&path, &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("failed to open"), "{}", ran.err);
    let whole = fs::read_to_string(board()).unwrap();
    fs::write(&path, whole.replace("(start 10 20)", "(start 10 nan)")).unwrap();
    let ran = check(&path, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let line = 1 + whole
        .lines()
        .position(|l| l.contains("(start 10 20)"))
        .unwrap();
    assert!(
        ran.err.contains(&format!("line {line}, column ")),
        "{}",
        ran.err
    );
    for wrong in [
        ["--clock", "SCK=25MHz"],
        ["--max-frequency", "-1"],
        ["--fail-on", "no"],
    ] {
        assert_eq!(check(&board(), &wrong).code, 2, "{wrong:?}");
    }
}
