//! `hostd emi check` as the documentation shows it, on a board with a slot in its ground plane.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The line of the example on which something is.
fn line_of(item: &str) -> usize {
    let text = fs::read_to_string(board()).unwrap();
    1 + text.lines().position(|line| line.contains(item)).unwrap()
}

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
    let board = board.to_str().unwrap();
    emi(&[&["check", board][..], args].concat())
}

fn emi(args: &[&str]) -> Ran {
    let output = Command::new(tests::server::binary().unwrap())
        .arg("emi")
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
    let place = format!(
        "{}:{}:3: ",
        board().display(),
        line_of("(segment (start 10 20)")
    );
    let begin = format!("{place}warning plane-gap [SCK] F.Cu (30, 20)");
    assert!(ran.out.starts_with(&begin), "{}", ran.out);
    let clock = ["--clock", "SCK=25MHz,1ns"];
    let ran = check(&board(), &clock);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let begin = format!("{place}critical plane-gap [SCK]");
    assert!(ran.out.starts_with(&begin), "{}", ran.out);
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
fn a_check_ends_in_time_and_says_what_is_missing() {
    let ran = check(&board(), &["--time-limit", "0s"]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
    assert!(
        ran.err.contains("the time limit of 0ns was over")
            && ran.err.contains("was not read to its end"),
        "{}",
        ran.err
    );
    let ran = check(&board(), &["--time-limit", "10m"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let ran = check(&board(), &["--time-limit", "10"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("of what?"), "{}", ran.err);
}

#[test]
fn what_takes_too_much_memory_is_ended_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.kicad_pcb");
    // What is read of points takes far more than their text; the other file is long and empty.
    let points = "(xy 1 1)".repeat(4_000_000);
    let text = format!("(kicad_pcb (version 20240108) (zone (filled_polygon (pts {points}))))");
    fs::write(&path, text).unwrap();
    let long = dir.path().join("long.kicad_pcb");
    let file = fs::File::create(&long).unwrap();
    file.set_len(190_000_000).unwrap();
    for path in [&path, &long] {
        let ran = check(path, &["--memory-limit", "256MiB"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(
            ran.err.contains("it takes more than 256 MiB of memory")
                && ran.err.contains("--memory-limit"),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("allocation of"), "{}", ran.err);
    }
    let ran = check(&board(), &["--memory-limit", "4GiB"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for wrong in ["1MiB", "512", "100TiB"] {
        let ran = check(&board(), &["--memory-limit", wrong]);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.err);
    }
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

#[test]
fn pages_and_sarif_are_written_and_a_folder_takes_everything() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("deep/reports");
    let ran = check(
        &board(),
        &[
            "--format",
            "sarif",
            "--output-dir",
            folder.to_str().unwrap(),
        ],
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let sarif: Value = serde_json::from_str(&ran.out).unwrap();
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], line_of("(segment (start 10 20)"));
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "board.json",
            "emission.json",
            "findings.sarif",
            "overlay.png",
            "overlay.svg",
            "report.html",
            "rules.json",
            "spectrum.csv"
        ]
    );
    assert_eq!(
        fs::read_to_string(folder.join("findings.sarif")).unwrap(),
        ran.out
    );
    let page = check(&board(), &["--format", "html"]);
    assert!(page.out.starts_with("<!doctype html>"), "{}", page.out);
    assert_eq!(
        fs::read_to_string(folder.join("report.html")).unwrap(),
        page.out
    );
    // Where a folder is to be, there is a file.
    let taken = dir.path().join("taken");
    fs::write(&taken, "").unwrap();
    let ran = check(&board(), &["--output-dir", taken.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("failed to create the folder"),
        "{}",
        ran.err
    );
}

#[test]
fn what_became_worse_fails_a_comparison_and_what_was_there_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (old, new) = (path("old.json"), path("new.json"));
    check(&board(), &["--format", "json", "--output", &old]);
    let clock = ["--clock", "SCK=25MHz,1ns"];
    check(
        &board(),
        &[&clock[..], &["--format", "json", "--output", &new]].concat(),
    );
    let ran = emi(&["diff", &old, &new]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert!(
        ran.out.contains("!  critical plane-gap [SCK]"),
        "{}",
        ran.out
    );
    assert_eq!(emi(&["diff", &new, &new]).code, 0);
    assert_eq!(emi(&["diff", &new, &old, "--fail-on", "never"]).code, 0);
    let json: Value =
        serde_json::from_str(&emi(&["diff", &old, &new, "--format", "json"]).out).unwrap();
    assert_eq!(json["summary"]["worse"]["critical"], 1);
    assert!(
        emi(&["diff", &old, &new, "--format", "html"])
            .out
            .contains("<h1>Changes</h1>")
    );
    let since = check(
        &board(),
        &[&clock[..], &["--format", "html", "--since", &old]].concat(),
    );
    assert!(since.out.contains("<h2 id=\"changes\">"));
    fs::write(&old, "{}").unwrap();
    let ran = emi(&["diff", &old, &new]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("this is no rules.json"), "{}", ran.err);
}
