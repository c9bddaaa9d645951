//! Files that a run leaves behind, all made from a board and its report.

use rayon::prelude::*;

use crate::board::Board;
use crate::check::Report;
use crate::diff::{Diff, diff};
use crate::drawing::Drawing;
use crate::source::SourceFile;
use crate::stored::Stored;
use crate::{page, raster, sarif, svg, viewer};

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// One of [`ARTIFACTS`].
    pub name: &'static str,
    /// For HTTP.
    pub content_type: &'static str,
    /// The whole file.
    pub bytes: Vec<u8>,
}

/// A kind of file that runs leave behind.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The file's name.
    pub name: &'static str,
    /// For HTTP.
    pub content_type: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    make: fn(&Making<'_>) -> Option<Vec<u8>>,
}

/// All of them, in the order in which [`artifacts`] has them.
pub const ARTIFACTS: [Kind; 8] = [
    Kind {
        name: "rules.json",
        content_type: JSON,
        about: "findings, counts and notes, for programs and for comparisons",
        make: |of| Some((of.report.json() + "\n").into_bytes()),
    },
    Kind {
        name: "board.json",
        content_type: JSON,
        about: "geometry, layers, nets and stack-up, for viewers",
        make: |of| Some(viewer::json(of.drawing, of.board).into_bytes()),
    },
    Kind {
        name: "overlay.svg",
        content_type: "image/svg+xml",
        about: "the board with its findings, to be scaled",
        make: |of| Some(svg::overlay(of.drawing, of.board, of.report, of.source).into_bytes()),
    },
    Kind {
        name: "overlay.png",
        content_type: "image/png",
        about: "the same in dots",
        make: |of| raster::overlay(of.drawing, of.board, of.report),
    },
    Kind {
        name: "report.html",
        content_type: "text/html; charset=utf-8",
        about: "the report for people",
        make: |of| {
            Some(page::report(of.drawing, of.board, of.report, of.source, of.diff).into_bytes())
        },
    },
    Kind {
        name: "spectrum.csv",
        content_type: "text/csv; charset=utf-8",
        about: "lines of declared clocks with limits and margins, for spreadsheets",
        make: |of| Some(of.report.emission.csv().into_bytes()),
    },
    Kind {
        name: "emission.json",
        content_type: JSON,
        about: "the same with methods and assumptions, and what cables may carry",
        make: |of| Some((of.report.emission.json() + "\n").into_bytes()),
    },
    Kind {
        name: "findings.sarif",
        content_type: "application/sarif+json",
        about: "findings for code hosts and editors",
        make: |of| Some(sarif::sarif(of.report, of.source).into_bytes()),
    },
];

const JSON: &str = "application/json";

/// What artifacts are made from.
struct Making<'a> {
    drawing: &'a Drawing,
    board: &'a Board,
    report: &'a Report,
    source: &'a SourceFile,
    diff: Option<&'a Diff>,
}

/// All artifacts of a run, the same bytes whatever the number of threads. `board` is as the check left it: lend it, `&mut board`.
pub fn artifacts(board: &Board, report: &Report, source: &SourceFile) -> Vec<Artifact> {
    made(board, report, source, None, |_| true)
}

/// The artifact of that name; `None` if there is none of that name.
pub fn artifact(
    board: &Board,
    report: &Report,
    source: &SourceFile,
    name: &str,
) -> Option<Artifact> {
    artifact_since(board, report, source, None, name)
}

/// As [`artifacts`], with a section in `report.html` about what changed since another report, if there is one.
pub fn artifacts_since(
    board: &Board,
    report: &Report,
    source: &SourceFile,
    before: Option<&Stored>,
) -> Vec<Artifact> {
    made(board, report, source, before, |_| true)
}

/// As [`artifact`], with the same section.
pub fn artifact_since(
    board: &Board,
    report: &Report,
    source: &SourceFile,
    before: Option<&Stored>,
    name: &str,
) -> Option<Artifact> {
    made(board, report, source, before, |kind| kind.name == name).pop()
}

fn made(
    board: &Board,
    report: &Report,
    source: &SourceFile,
    before: Option<&Stored>,
    is_wanted: impl Fn(&Kind) -> bool,
) -> Vec<Artifact> {
    let diff = before.map(|before| diff(before, &Stored::from(report)));
    let drawing = Drawing::of(board);
    let of = Making {
        drawing: &drawing,
        board,
        report,
        source,
        diff: diff.as_ref(),
    };
    let wanted: Vec<Kind> = ARTIFACTS.into_iter().filter(is_wanted).collect();
    wanted
        .par_iter()
        .filter_map(|kind| {
            Some(Artifact {
                name: kind.name,
                content_type: kind.content_type,
                bytes: (kind.make)(&of)?,
            })
        })
        .collect()
}
