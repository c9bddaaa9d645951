//! Boards of other people, which `cargo xtask emi-boards` fetches: they are read and checked, and what must not matter does
//! not. Without them, each test says so and does nothing.

mod critical;
mod remeasured;
mod rewrite;

use std::collections::BTreeMap;
use std::path::PathBuf;

use emi::{Limits, Report, Settings, kicad};

use crate::metamorphic::{OFFSETS, assert_moved};
use crate::sheet::rules_of;
use rewrite::{Change, rewritten};

/// The folders of the demo boards of KiCad 6, of boards of KiCad 8, and of boards of KiCad 10.
const DEMOS: &str = "kicad-demos/usr/share/kicad/demos";
const EDEA: &str = "edea/edea-0.8.4/tests/kicad_projects";
const TOOLS: &str = "kicad-tools/kicad_tools-0.24.0/boards";

const BLDC: &str = "05-bldc-motor-controller/output/bldc_controller_routed.kicad_pcb";
const SDRAM: &str = "07-matchgroup-test/real_design/reviewed-routing/sdram_demo.kicad_pcb";
const PAIRS: &str = "06-diffpair-test/regression-fixture/diffpair_test_routed.kicad_pcb";

/// Where the boards are.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/emi-boards")
}

#[expect(clippy::print_stderr, reason = "says why nothing was tested")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}; `cargo xtask emi-boards` fetches it");
}

/// The bytes of a board, or `None` with a line on standard error.
fn bytes(path: &str) -> Option<Vec<u8>> {
    let found = std::fs::read(folder().join(path)).ok();
    if found.is_none() {
        skipped(&format!("there is no {path}"));
    }
    found
}

fn check(text: &[u8], settings: &Settings) -> Report {
    let board = kicad::read(text, &Limits::default()).unwrap();
    emi::check(board, settings, &()).unwrap()
}

/// What boards of each have: layers, nets, and findings of each rule.
#[test]
fn all_are_read_and_checked() {
    let boards = [
        (format!("{DEMOS}/video/video.kicad_pcb"), 4),
        (
            format!("{DEMOS}/kit-dev-coldfire-xilinx_5213/kit-dev-coldfire-xilinx_5213.kicad_pcb"),
            4,
        ),
        (
            format!("{DEMOS}/flat_hierarchy/flat_hierarchy.kicad_pcb"),
            2,
        ),
        (
            format!("{DEMOS}/complex_hierarchy/complex_hierarchy.kicad_pcb"),
            2,
        ),
        (
            format!("{DEMOS}/custom_pads_test/custom_pads_test.kicad_pcb"),
            2,
        ),
        (format!("{DEMOS}/ecc83/ecc83-pp.kicad_pcb"), 2),
        (format!("{DEMOS}/ecc83/ecc83-pp_v2.kicad_pcb"), 2),
        (format!("{DEMOS}/interf_u/interf_u.kicad_pcb"), 2),
        (format!("{DEMOS}/microwave/microwave.kicad_pcb"), 2),
        (
            format!("{DEMOS}/pic_programmer/pic_programmer.kicad_pcb"),
            2,
        ),
        (format!("{DEMOS}/sonde xilinx/sonde xilinx.kicad_pcb"), 2),
        (format!("{DEMOS}/stickhub/StickHub.kicad_pcb"), 2),
        (
            format!("{DEMOS}/test_pads_inside_pads/test_pads_inside_pads.kicad_pcb"),
            2,
        ),
        (format!("{DEMOS}/test_xil_95108/carte_test.kicad_pcb"), 2),
        (format!("{EDEA}/leako/ColecoVision Clone.kicad_pcb"), 2),
        (format!("{EDEA}/MP2451/MP2451.kicad_pcb"), 2),
        (format!("{EDEA}/ferret/ferret.kicad_pcb"), 4),
        (format!("{TOOLS}/{BLDC}"), 4),
        (format!("{TOOLS}/{SDRAM}"), 6),
    ];
    for (path, layers) in boards {
        let Some(text) = bytes(&path) else { continue };
        let board = kicad::read(&text, &Limits::default()).unwrap();
        assert_eq!(board.layers.len(), layers, "{path}");
        let report = emi::check(board, &Settings::default(), &()).unwrap();
        let counted: usize = report.rules.values().map(|counts| counts.found).sum();
        let summary = report.summary;
        assert_eq!(summary.critical + summary.warning + summary.info, counted);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let alone = one.unwrap().install(|| check(&text, &Settings::default()));
        assert_eq!(alone, report, "{path}: threads matter");
    }
}

#[test]
fn a_fast_line_over_a_routed_channel_is_found() {
    let path =
        format!("{DEMOS}/kit-dev-coldfire-xilinx_5213/kit-dev-coldfire-xilinx_5213.kicad_pcb");
    let Some(text) = bytes(&path) else { return };
    let fast = rules_of("groups: [{match: \"/QSPI_*\", speed: fast}]");
    let report = check(&text, &fast);
    let found = report.findings.iter();
    let mut found = found.filter(|f| f.net == "/QSPI_CS1" && f.rule == "plane-gap");
    assert!(found.next().is_some(), "{}", report.text());
}

/// What a report says, but for where: values are rounded, since coordinates that were turned differ in their last digits.
fn gist(report: &Report) -> BTreeMap<String, usize> {
    let mut gist = BTreeMap::new();
    for f in &report.findings {
        let value = f.value.map(|value| format!("{value:.2}"));
        let line = format!(
            "{} {} {} {} {} {value:?}",
            f.severity.name(),
            f.rule,
            f.net,
            f.layer,
            f.title
        );
        *gist.entry(line).or_insert(0) += 1;
    }
    gist
}

/// The lines that only one of two reports has.
fn apart(x: &Report, y: &Report) -> Vec<String> {
    let (x, y) = (gist(x), gist(y));
    let only = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>, sign: char| {
        a.iter()
            .filter(|(line, count)| b.get(*line) != Some(count))
            .map(|(line, count)| format!("{sign} {count} {line}"))
            .collect::<Vec<String>>()
    };
    only(&x, &y, '-')
        .into_iter()
        .chain(only(&y, &x, '+'))
        .collect()
}

/// Findings are those of the board as it was, whichever way it is written.
fn holds_for(path: &str, changes: &[Change]) {
    let Some(text) = bytes(path) else { return };
    let text = String::from_utf8(text).unwrap();
    let plain = check(text.as_bytes(), &Settings::default());
    for change in changes {
        let changed = check(rewritten(&text, *change).as_bytes(), &Settings::default());
        assert_eq!(
            changed.rules,
            plain.rules,
            "{path} {change:?}: {:#?}",
            apart(&plain, &changed)
        );
        assert_eq!(apart(&plain, &changed), [""; 0], "{path} {change:?}");
        assert!(!changed.findings.is_empty());
    }
}

const ALL: [Change; 6] = [
    Change::Nothing,
    Change::Move(17.0, -3.5),
    Change::QuarterTurn,
    Change::Mirror,
    Change::Shuffle(5),
    Change::NamedNets,
];

#[test]
fn changes_that_do_not_matter_on_a_programmer() {
    holds_for(
        &format!("{DEMOS}/pic_programmer/pic_programmer.kicad_pcb"),
        &ALL,
    );
}

#[test]
fn changes_that_do_not_matter_on_a_hub() {
    holds_for(&format!("{DEMOS}/stickhub/StickHub.kicad_pcb"), &ALL);
}

#[test]
fn changes_that_do_not_matter_on_a_board_of_kicad_8() {
    holds_for(&format!("{EDEA}/leako/ColecoVision Clone.kicad_pcb"), &ALL);
}

/// Some of its traces lie exactly along edges of planes.
#[test]
fn changes_that_do_not_matter_on_the_largest_board() {
    holds_for(&format!("{DEMOS}/video/video.kicad_pcb"), &ALL);
}

#[test]
fn boards_that_lie_elsewhere_have_the_same_findings_to_the_last_digit() {
    let boards = [
        format!("{DEMOS}/video/video.kicad_pcb"),
        format!("{DEMOS}/kit-dev-coldfire-xilinx_5213/kit-dev-coldfire-xilinx_5213.kicad_pcb"),
        format!("{EDEA}/leako/ColecoVision Clone.kicad_pcb"),
        format!("{DEMOS}/stickhub/StickHub.kicad_pcb"),
    ];
    for path in boards {
        let Some(text) = bytes(&path) else { continue };
        let text = String::from_utf8(text).unwrap();
        let check = |change| check(rewritten(&text, change).as_bytes(), &Settings::default());
        let plain = check(Change::Nothing);
        for (x, y) in OFFSETS {
            let moved = check(Change::Move(x, y));
            assert_moved(&plain, &moved, (x, y), &format!("{path} by {x}, {y}"));
        }
    }
}
