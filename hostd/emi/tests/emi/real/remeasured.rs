//! Distances, lengths and areas that findings say, measured once more by a program in Python with a reader of its own and Shapely.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use emi::board::{Board, NetKind};
use emi::{Finding, Limits, Settings, kicad};
use serde::Deserialize;
use serde_json::json;

use super::{BLDC, DEMOS, EDEA, PAIRS, SDRAM, TOOLS, bytes, folder};

const PROGRAM: &str = include_str!("remeasure.py");

/// The part of what is measured that has to be as it is said.
const EXACT_PART: f64 = 0.99;

/// What is exact, in the unit of what is said: texts round to a tenth, and curves have corners in both readers. The second one is a
/// part of what is said.
const EXACT: f64 = 0.06;
const EXACT_OF: f64 = 0.005;

/// By how much the areas of fills may differ, as a part of them: corners of grown polygons are not rounded.
const AREA_OF: f64 = 0.01;

/// Areas of fills are compared from here on, in mm².
const AREA_MM2_MIN: f64 = 1.0;

/// What was measured: what it is, what was said, and what it is if it could be measured.
type Measured = (String, f64, Option<f64>);

#[derive(Deserialize)]
struct Answer {
    findings: Vec<Vec<Measured>>,
    areas: Vec<(String, String, f64)>,
}

/// A Python that has Shapely.
fn python() -> Option<PathBuf> {
    let candidates = [
        folder().join("python/bin/python3"),
        PathBuf::from("python3"),
    ];
    candidates.into_iter().find(|python| {
        let mut command = Command::new(python);
        let output = command.args(["-c", "import shapely"]).output();
        output.is_ok_and(|output| output.status.success())
    })
}

fn ask(python: &PathBuf, path: &str, board: &Board, findings: &[Finding]) -> Answer {
    let kinds: BTreeMap<&str, &str> = board
        .nets
        .iter()
        .map(|net| {
            let kind = match net.kind {
                NetKind::Ground => "ground",
                NetKind::Power => "power",
                NetKind::Signal => "signal",
                NetKind::None => "none",
            };
            (net.name.as_str(), kind)
        })
        .collect();
    let mut child = Command::new(python)
        .args(["-c", PROGRAM])
        .arg(folder().join(path))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = json!({"kinds": kinds, "findings": findings});
    let mut input = child.stdin.take().unwrap();
    input.write_all(asked.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{path}: the program failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The areas of fills by layer and net, in mm².
fn areas(board: &Board) -> BTreeMap<(&str, &str), f64> {
    let mut areas = BTreeMap::new();
    for fill in &board.fills {
        let (layer, net) = (&board.layers[fill.layer].name, &board.nets[fill.net].name);
        *areas.entry((layer.as_str(), net.as_str())).or_default() += fill.area;
    }
    areas
}

#[test]
fn findings_say_what_an_independent_reader_measures() {
    let Some(python) = python() else {
        return super::skipped("there is no Python with Shapely");
    };
    // Two larger ones, video and ColecoVision, take a minute more and say the same.
    let boards = [
        format!("{DEMOS}/kit-dev-coldfire-xilinx_5213/kit-dev-coldfire-xilinx_5213.kicad_pcb"),
        format!("{DEMOS}/stickhub/StickHub.kicad_pcb"),
        format!("{DEMOS}/pic_programmer/pic_programmer.kicad_pcb"),
        format!("{DEMOS}/complex_hierarchy/complex_hierarchy.kicad_pcb"),
        format!("{EDEA}/MP2451/MP2451.kicad_pcb"),
        format!("{EDEA}/ferret/ferret.kicad_pcb"),
        format!("{TOOLS}/{BLDC}"),
        format!("{TOOLS}/{SDRAM}"),
        format!("{TOOLS}/{PAIRS}"),
    ];
    let (mut count, mut exact) = (0, 0);
    let mut apart = Vec::new();
    for path in &boards {
        let Some(text) = bytes(path) else { continue };
        let mut board = kicad::read(&text, &Limits::default()).unwrap();
        let report = emi::check(&mut board, &Settings::default(), &()).unwrap();
        let answer = ask(&python, path, &board, &report.findings);
        let own = areas(&board);
        for (layer, net, area) in &answer.areas {
            let said = own.get(&(layer.as_str(), net.as_str())).copied();
            let said = said.unwrap_or_default();
            assert!(
                *area < AREA_MM2_MIN || (said - area).abs() <= AREA_OF * area,
                "{path}: {layer} {net}: {said} mm², {area} measured"
            );
        }
        for (finding, measured) in report.findings.iter().zip(answer.findings) {
            for (what, said, measured) in measured {
                count += 1;
                let most = EXACT.max(EXACT_OF * said);
                let is_exact = measured.is_some_and(|measured| (measured - said).abs() <= most);
                exact += usize::from(is_exact);
                if !is_exact {
                    apart.push(format!(
                        "{path}: {} [{}] {what}: {said}, {measured:?} measured; {}",
                        finding.rule, finding.net, finding.detail
                    ));
                }
            }
        }
    }
    assert!(
        EXACT_PART * count as f64 <= exact as f64,
        "{exact} of {count}:\n{}",
        apart.join("\n")
    );
}
