//! Critical findings on boards of other people: each is listed here with why it is true, and there are no others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use emi::{Limits, Settings, Severity, kicad};

use super::{folder, skipped};

/// A critical finding: the board's file, the rule, the net, and the part if it is about one.
type Known = (&'static str, &'static str, &'static str, &'static str);

/// A pin of a supply, of which an independent reader finds no capacitor to ground nearer than the finding says: see
/// `remeasured`. Its type says that it takes the supply, or it is that of the part's only supply.
const FAR: &str = "no capacitor is nearer than 10 mm";

/// A USB pair on F.Cu, and below it on In1.Cu the fills of GND, +3V3 and /Control/VDD, 0.3 mm apart, end and begin.
const CUT: &str = "the fills below a USB pair change";

/// A fast pair that an autorouter laid where the layer beside it has no copper for so long, as the independent reader measures.
const OPEN: &str = "there is no copper on the layer beside it";

/// With why each is true.
const TRUE: &[(Known, &str)] = &[
    (("ferret.kicad_pcb", "plane-split", "/Control/D+", ""), CUT),
    (("ferret.kicad_pcb", "plane-split", "/Control/D-", ""), CUT),
    (("ferret.kicad_pcb", "plane-split", "/Power/D+", ""), CUT),
    (("ferret.kicad_pcb", "plane-split", "/Power/D-", ""), CUT),
    (
        ("ColecoVision Clone.kicad_pcb", "decoupling", "VCC", "U10"),
        FAR,
    ),
    (
        ("ColecoVision Clone.kicad_pcb", "decoupling", "VCC", "U22"),
        FAR,
    ),
    (
        ("ColecoVision Clone.kicad_pcb", "decoupling", "VCC", "U23"),
        FAR,
    ),
    (
        ("ColecoVision Clone.kicad_pcb", "decoupling", "VCC", "U5"),
        FAR,
    ),
    (
        ("ColecoVision Clone.kicad_pcb", "decoupling", "VCC", "U6"),
        FAR,
    ),
    (
        ("ColecoVision Clone.kicad_pcb", "decoupling", "VCC", "U7"),
        FAR,
    ),
    (("carte_test.kicad_pcb", "decoupling", "VCC", "U1"), FAR),
    (
        ("complex_hierarchy.kicad_pcb", "decoupling", "VCC", "U1"),
        FAR,
    ),
    (("flat_hierarchy.kicad_pcb", "decoupling", "VCC", "U2"), FAR),
    (("flat_hierarchy.kicad_pcb", "decoupling", "VCC", "U4"), FAR),
    (
        ("flat_hierarchy.kicad_pcb", "decoupling", "VCC_PIC", "U5"),
        FAR,
    ),
    (
        ("flat_hierarchy.kicad_pcb", "decoupling", "VCC_PIC", "U6"),
        FAR,
    ),
    (("interf_u.kicad_pcb", "decoupling", "VCC", "U3"), FAR),
    (("interf_u.kicad_pcb", "decoupling", "VCC", "U5"), FAR),
    (("interf_u.kicad_pcb", "decoupling", "VCC", "U8"), FAR),
    (("interf_u.kicad_pcb", "decoupling", "VCC", "U9"), FAR),
    (("pic_programmer.kicad_pcb", "decoupling", "VCC", "U2"), FAR),
    (("pic_programmer.kicad_pcb", "decoupling", "VCC", "U4"), FAR),
    (
        (
            "pic_programmer.kicad_pcb",
            "decoupling",
            "/pic_sockets/VCC_PIC",
            "U5",
        ),
        FAR,
    ),
    (
        (
            "pic_programmer.kicad_pcb",
            "decoupling",
            "/pic_sockets/VCC_PIC",
            "U6",
        ),
        FAR,
    ),
    (("sonde xilinx.kicad_pcb", "decoupling", "VCC", "U2"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U1"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U12"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U13"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U14"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U15"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U16"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U17"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U18"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U19"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U21"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U22"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U24"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U3"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U4"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U5"), FAR),
    (("video.kicad_pcb", "decoupling", "+5V", "U6"), FAR),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "MIPI_CLK-",
            "",
        ),
        OPEN,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "MIPI_D0+",
            "",
        ),
        OPEN,
    ),
    (
        ("diffpair_test_routed.kicad_pcb", "plane-gap", "USB2_D+", ""),
        OPEN,
    ),
    (
        ("diffpair_test_routed.kicad_pcb", "plane-gap", "USB2_D-", ""),
        OPEN,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "USB3_RX1+",
            "",
        ),
        OPEN,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "USB3_RX1-",
            "",
        ),
        OPEN,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "USB3_RX2+",
            "",
        ),
        OPEN,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "USB3_TX1+",
            "",
        ),
        OPEN,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "USB3_TX1-",
            "",
        ),
        OPEN,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "USB3_TX2+",
            "",
        ),
        OPEN,
    ),
    (("diffpair_test.kicad_pcb", "decoupling", "+1V2", "U2"), FAR),
    (("diffpair_test.kicad_pcb", "decoupling", "+1V8", "U4"), FAR),
    (("diffpair_test.kicad_pcb", "decoupling", "+3V3", "U1"), FAR),
    (("diffpair_test.kicad_pcb", "decoupling", "+3V3", "U2"), FAR),
    (
        ("diffpair_test_routed.kicad_pcb", "decoupling", "+1V2", "U2"),
        FAR,
    ),
    (
        ("diffpair_test_routed.kicad_pcb", "decoupling", "+1V8", "U4"),
        FAR,
    ),
    (
        ("diffpair_test_routed.kicad_pcb", "decoupling", "+3V3", "U1"),
        FAR,
    ),
    (
        ("diffpair_test_routed.kicad_pcb", "decoupling", "+3V3", "U2"),
        FAR,
    ),
    (
        ("bldc_controller.kicad_pcb", "decoupling", "+24V", "U3"),
        FAR,
    ),
    (
        ("bldc_controller.kicad_pcb", "decoupling", "+3V3", "U10"),
        FAR,
    ),
    (
        ("bldc_controller.kicad_pcb", "decoupling", "+3V3", "U3"),
        FAR,
    ),
    (
        ("bldc_controller.kicad_pcb", "decoupling", "+5V", "U3"),
        FAR,
    ),
    (
        (
            "bldc_controller_routed.kicad_pcb",
            "decoupling",
            "+24V",
            "U3",
        ),
        FAR,
    ),
    (
        (
            "bldc_controller_routed.kicad_pcb",
            "decoupling",
            "+3V3",
            "U10",
        ),
        FAR,
    ),
    (
        (
            "bldc_controller_routed.kicad_pcb",
            "decoupling",
            "+3V3",
            "U3",
        ),
        FAR,
    ),
    (
        (
            "bldc_controller_routed.kicad_pcb",
            "decoupling",
            "+5V",
            "U3",
        ),
        FAR,
    ),
    (
        ("stm32_devboard.kicad_pcb", "decoupling", "+3.3V", "U2"),
        FAR,
    ),
    (
        ("matchgroup_test.kicad_pcb", "decoupling", "+1V2", "U1"),
        FAR,
    ),
    (
        ("matchgroup_test.kicad_pcb", "decoupling", "+1V2", "U2"),
        FAR,
    ),
    (
        ("matchgroup_test.kicad_pcb", "decoupling", "+1V2", "U4"),
        FAR,
    ),
    (
        ("matchgroup_test.kicad_pcb", "decoupling", "+1V8", "U4"),
        FAR,
    ),
    (
        ("matchgroup_test.kicad_pcb", "decoupling", "+1V8", "U5"),
        FAR,
    ),
    (
        (
            "matchgroup_test_routed.kicad_pcb",
            "decoupling",
            "+1V2",
            "U1",
        ),
        FAR,
    ),
    (
        (
            "matchgroup_test_routed.kicad_pcb",
            "decoupling",
            "+1V2",
            "U2",
        ),
        FAR,
    ),
    (
        (
            "matchgroup_test_routed.kicad_pcb",
            "decoupling",
            "+1V2",
            "U4",
        ),
        FAR,
    ),
    (
        (
            "matchgroup_test_routed.kicad_pcb",
            "decoupling",
            "+1V8",
            "U4",
        ),
        FAR,
    ),
    (
        (
            "matchgroup_test_routed.kicad_pcb",
            "decoupling",
            "+1V8",
            "U5",
        ),
        FAR,
    ),
    (
        (
            "diffpair_test_routed.kicad_pcb",
            "plane-gap",
            "USB3_RX2-",
            "",
        ),
        OPEN,
    ),
    (
        (
            "stm32_devboard_routed.kicad_pcb",
            "decoupling",
            "+3.3V",
            "U2",
        ),
        FAR,
    ),
];

/// How deep folders of boards are.
const DEPTH_MAX: usize = 10;

/// The boards below a folder.
fn boards(below: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(below) else {
        return;
    };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && name != "python" && depth < DEPTH_MAX {
            boards(&path, depth + 1, found);
        } else if path.extension().is_some_and(|end| end == "kicad_pcb") {
            found.push(path);
        }
    }
}

#[test]
fn every_critical_finding_on_a_board_of_others_is_true() {
    let mut paths = Vec::new();
    boards(&folder(), 0, &mut paths);
    if paths.is_empty() {
        return skipped("there are no boards");
    }
    paths.sort();
    let mut found = BTreeSet::new();
    let mut others = Vec::new();
    for path in &paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(mut board) = kicad::read(&std::fs::read(path).unwrap(), &Limits::default()) else {
            continue;
        };
        if let Ok(project) = std::fs::read(path.with_extension("kicad_pro")) {
            kicad::Project::read(&project).unwrap().apply(&mut board);
        }
        let report = emi::check(&mut board, &Settings::default(), &()).unwrap();
        let findings = report.findings.iter();
        for finding in findings.filter(|finding| finding.severity == Severity::Critical) {
            let part = finding.at.footprint.clone().unwrap_or_default();
            let key = (name.clone(), finding.rule, finding.net.clone(), part);
            let is_known = TRUE.iter().any(|((board, rule, net, part), _)| {
                (*board, *rule, *net, *part) == (&key.0, key.1, &key.2, &key.3)
            });
            if !is_known {
                others.push(format!("{key:?}: {}", finding.detail));
            }
            found.insert(key);
        }
        assert_eq!(
            report.summary.critical,
            report
                .findings
                .iter()
                .filter(|f| f.severity == Severity::Critical)
                .count(),
            "{name}: all of them are listed"
        );
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    for ((board, rule, net, part), why) in TRUE {
        let is_there = paths.iter().any(|path| path.ends_with(board));
        let key = (
            (*board).to_owned(),
            *rule,
            (*net).to_owned(),
            (*part).to_owned(),
        );
        assert!(
            !is_there || found.contains(&key),
            "{board}: {rule} {net} {part}: {why}"
        );
    }
}
