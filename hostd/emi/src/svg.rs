//! Pictures of boards as SVG: layers with their copper, and the findings on them.

mod paths;

use std::fmt::Write as _;

use crate::board::{Board, LayerId, Side};
use crate::check::Report;
use crate::drawing::{Drawing, Kind, Piece};
use crate::finding::{Finding, Severity};
use crate::plain::{Name, Sentence};
use crate::source::SourceFile;
use paths::{chain, path};

/// The colour of the first layer, and of the last.
const OUTER: [&str; 2] = ["#c83434", "#2f6fce"];

/// The colours of those between, by turns.
const INNER: [&str; 6] = [
    "#2f9e44", "#c2760c", "#8e44ad", "#0d8a8c", "#b5357f", "#7f7420",
];

/// The colour of what goes through.
pub(crate) const THROUGH: &str = "#8a8172";

/// The colour of the board itself.
pub(crate) const GROUND: &str = "#f6f4ee";

/// The colour of its edge and of words.
pub(crate) const INK: &str = "#2b3138";

/// How much of what is behind them pours hide.
pub(crate) const POUR_OPACITY: f32 = 0.28;

/// How much of what is behind them tracks and pads hide.
pub(crate) const COPPER_OPACITY: f32 = 0.9;

/// Colours are of words and marks alike, so all have contrast with the board.
pub(crate) fn severity_colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "#b3261e",
        Severity::Warning => "#8a5300",
        Severity::Info => "#1f5fbf",
    }
}

/// The colour of a layer.
pub(crate) fn layer_colour(layer: LayerId, count: usize) -> &'static str {
    match layer {
        0 => OUTER[0],
        last if last + 1 == count => OUTER[1],
        inner => INNER[(inner - 1) % INNER.len()],
    }
}

/// The part of the picture that shows the board, with a margin: left, top, width, height in units.
pub(crate) fn view(drawing: &Drawing) -> [i32; 4] {
    let margin = (drawing.width.max(drawing.height) / 40).max(100);
    let grown = |size: i32| size.saturating_add(2 * margin);
    [
        -margin,
        -margin,
        grown(drawing.width),
        grown(drawing.height),
    ]
}

/// How large marks are, in units, where nothing scales them.
pub(crate) fn mark_radius(drawing: &Drawing) -> i32 {
    (drawing.width.max(drawing.height) / 110).clamp(20, 400)
}

/// `overlay.svg`: the board with all that was found.
pub(crate) fn overlay(
    drawing: &Drawing,
    board: &Board,
    report: &Report,
    source: &SourceFile,
) -> String {
    let [left, top, width, height] = view(drawing);
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{left} {top} {width} {height}\" font-family=\"sans-serif\">\n\
         <title>{}: {} findings are shown</title>\n",
        Name(source.short()),
        report.findings.len(),
    );
    if let Some(note) = drawing.note() {
        let _ = writeln!(svg, "<desc>{}</desc>", Sentence(&note));
    }
    let _ = writeln!(
        svg,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
    );
    copper(&mut svg, drawing, board);
    labels(&mut svg, drawing, Side::Top);
    let radius = mark_radius(drawing);
    svg.push_str("<g class=\"marks\">\n");
    // The worst last, above the others.
    for finding in report.findings.iter().rev() {
        mark(&mut svg, finding, drawing, radius, "");
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// The board without findings: ground, layers from the bottom, what goes through, edge.
pub(crate) fn copper(svg: &mut String, drawing: &Drawing, board: &Board) {
    ground(svg, drawing);
    for layer in (0..board.layers.len()).rev() {
        let colour = layer_colour(layer, board.layers.len());
        let _ = writeln!(
            svg,
            "<g class=\"layer l{layer}\" fill=\"{colour}\" stroke=\"{colour}\" stroke-linecap=\"round\" \
             stroke-linejoin=\"round\" stroke-width=\"0\">"
        );
        let of_layer = pieces(drawing, Some(layer));
        let pours = of_layer.partition_point(|piece| piece.kind == Kind::Pour);
        let _ = writeln!(
            svg,
            "<g class=\"pours\" opacity=\"{POUR_OPACITY}\" fill-rule=\"evenodd\">"
        );
        for pour in &of_layer[..pours] {
            // Each for itself: where two of them overlap, even-odd would make a hole.
            group(svg, std::slice::from_ref(pour));
        }
        let _ = writeln!(svg, "</g><g class=\"copper\" opacity=\"{COPPER_OPACITY}\">");
        groups(svg, &of_layer[pours..]);
        svg.push_str("</g></g>\n");
    }
    let _ = writeln!(
        svg,
        "<g class=\"through\" fill=\"{THROUGH}\" stroke=\"{THROUGH}\" stroke-linecap=\"round\" stroke-linejoin=\"round\" \
         stroke-width=\"0\">"
    );
    groups(svg, pieces(drawing, None));
    svg.push_str("</g>\n");
    let _ = write!(
        svg,
        "<g class=\"edge\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"12\" stroke-linecap=\"round\"><path d=\""
    );
    for points in &drawing.outline {
        chain(svg, points, false);
    }
    svg.push_str("\"/></g>\n");
}

fn pieces(drawing: &Drawing, layer: Option<LayerId>) -> &[Piece] {
    let key = |piece: &Piece| (piece.layer.is_none(), piece.layer);
    let wanted = (layer.is_none(), layer);
    let from = drawing.pieces.partition_point(|piece| key(piece) < wanted);
    let to = drawing.pieces.partition_point(|piece| key(piece) <= wanted);
    &drawing.pieces[from..to]
}

/// Pieces that are alike as one path each.
fn groups(svg: &mut String, pieces: &[Piece]) {
    let alike = |x: &Piece, y: &Piece| (x.kind, x.net, x.width_um) == (y.kind, y.net, y.width_um);
    for pieces in pieces.chunk_by(alike) {
        group(svg, pieces);
    }
}

fn group(svg: &mut String, pieces: &[Piece]) {
    let Some(first) = pieces.first() else { return };
    let class = if first.kind == Kind::Hole { "h" } else { "n" };
    let _ = write!(svg, "<path class=\"{class}{}\"", first.net);
    if first.kind == Kind::Hole {
        let _ = write!(svg, " stroke=\"{GROUND}\"");
    }
    if first.width_um != 0 {
        let _ = write!(
            svg,
            " stroke-width=\"{}\"",
            f64::from(first.width_um) / 10.0
        );
    }
    if matches!(first.kind, Kind::Track) {
        svg.push_str(" fill=\"none\"");
    }
    svg.push_str(" d=\"");
    for piece in pieces {
        path(svg, piece);
    }
    svg.push_str("\"/>\n");
}

/// The board without copper: what its edge encloses, or the box around it where its edge is not closed.
fn ground(svg: &mut String, drawing: &Drawing) {
    if drawing.is_closed() {
        let _ = write!(
            svg,
            "<path class=\"ground\" fill=\"{GROUND}\" fill-rule=\"evenodd\" d=\""
        );
        for points in &drawing.outline {
            chain(svg, points, true);
        }
        svg.push_str("\"/>\n");
    } else {
        let _ = writeln!(
            svg,
            "<rect class=\"ground\" width=\"{}\" height=\"{}\" fill=\"{GROUND}\"/>",
            drawing.width, drawing.height
        );
    }
}

/// The references of the parts of one side.
pub(crate) fn labels(svg: &mut String, drawing: &Drawing, side: Side) {
    let class = match side {
        Side::Top => "top",
        Side::Bottom => "bottom",
    };
    let _ = writeln!(
        svg,
        "<g class=\"labels {class}\" fill=\"{INK}\" text-anchor=\"middle\" opacity=\"0.8\">"
    );
    for label in drawing.labels.iter().filter(|label| label.side == side) {
        let (x, y) = label.at;
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" font-size=\"{}\">{}</text>",
            y.saturating_add(label.height / 3),
            label.height,
            Name(&label.text),
        );
    }
    svg.push_str("</g>\n");
}

/// The mark of a finding: a diamond of something critical, a disc of a warning, a small square of an info, so that colours are not
/// all that tells them apart. `within` is put into the tag.
pub(crate) fn mark(
    svg: &mut String,
    finding: &Finding,
    drawing: &Drawing,
    radius: i32,
    within: &str,
) {
    let (x, y) = drawing.dot(finding.x, finding.y);
    let colour = severity_colour(finding.severity);
    let _ = write!(
        svg,
        "<g class=\"mark {}\" transform=\"translate({x} {y})\"{within}><title>{} {}: {}{}</title><g fill=\"{colour}\" \
         stroke=\"#fff\" stroke-width=\"{}\">",
        finding.severity.name(),
        finding.id,
        finding.rule,
        Name(&finding.title),
        NetOf(finding),
        f64::from(radius) / 6.0,
    );
    let r = radius;
    let _ = match finding.severity {
        Severity::Critical => write!(svg, "<path d=\"M0 {}L{r} 0L0 {r}L{} 0z\"/>", -r, -r),
        Severity::Warning => write!(svg, "<circle r=\"{}\"/>", r * 3 / 4),
        Severity::Info => {
            let half = r / 2;
            write!(svg, "<path d=\"M{} {}h{r}v{r}h{}z\"/>", -half, -half, -r)
        }
    };
    svg.push_str("</g></g>\n");
}

/// `, net SCK`, or nothing.
struct NetOf<'f>(&'f Finding);

impl std::fmt::Display for NetOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.net.is_empty() {
            Ok(())
        } else {
            write!(f, ", net {}", Name(&self.0.net))
        }
    }
}
