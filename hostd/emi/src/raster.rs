//! `overlay.png`: the same picture as `overlay.svg`, in dots, for where SVG is not shown.

mod glyphs;

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

use crate::board::{Board, LayerId, Side};
use crate::check::Report;
use crate::drawing::{Dot, Drawing, Kind, Piece};
use crate::finding::{Finding, Severity};
use crate::svg;

/// The longer side of the picture, in dots.
pub const SIDE_DOTS: u32 = 1600;

/// How thin a line may get, in dots.
const LINE_DOTS_MIN: f32 = 0.7;

/// The radius of marks, in dots.
const MARK_DOTS: f32 = 11.0;

/// References are drawn from this height on, in dots: smaller ones cannot be read.
const LABEL_DOTS_MIN: f32 = 7.0;

/// The picture as a PNG; nothing if there is no room for it.
pub(crate) fn overlay(drawing: &Drawing, board: &Board, report: &Report) -> Option<Vec<u8>> {
    let mut canvas = Canvas::new(drawing)?;
    canvas.ground(drawing);
    // From the bottom to the top; what goes through is last.
    let layers = (0..board.layers.len()).rev().map(Some).chain([None]);
    for layer in layers {
        let pieces = drawing.pieces.iter().filter(|piece| piece.layer == layer);
        for piece in pieces {
            canvas.piece(piece, layer, board.layers.len());
        }
    }
    canvas.edge(drawing);
    for label in drawing
        .labels
        .iter()
        .filter(|label| label.side == Side::Top)
    {
        canvas.text(&label.text, label.at, label.height);
    }
    for finding in report.findings.iter().rev() {
        canvas.mark(finding, drawing);
    }
    canvas.pixmap.encode_png().ok()
}

struct Canvas {
    pixmap: Pixmap,
    /// From units to dots.
    transform: Transform,
    scale: f32,
}

impl Canvas {
    fn new(drawing: &Drawing) -> Option<Self> {
        let [left, top, width, height] = svg::view(drawing);
        let longer = width.max(height).max(1);
        let scale = f64::from(SIDE_DOTS) / f64::from(longer);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 1 and SIDE_DOTS"
        )]
        let dots = |side: i32| ((f64::from(side) * scale).round() as u32).clamp(1, SIDE_DOTS);
        let mut pixmap = Pixmap::new(dots(width), dots(height))?;
        pixmap.fill(Color::WHITE);
        let scale = narrow(scale);
        let transform =
            Transform::from_translate(-float(left), -float(top)).post_scale(scale, scale);
        Some(Self {
            pixmap,
            transform,
            scale,
        })
    }

    fn ground(&mut self, drawing: &Drawing) {
        let ground = paint(svg::GROUND, 1.0);
        if drawing.is_closed() {
            let mut builder = PathBuilder::new();
            for chain in &drawing.outline {
                add(&mut builder, chain);
                builder.close();
            }
            if let Some(path) = builder.finish() {
                let rule = FillRule::EvenOdd;
                self.pixmap
                    .fill_path(&path, &ground, rule, self.transform, None);
            }
            return;
        }
        let (width, height) = (float(drawing.width), float(drawing.height));
        if let Some(rect) = Rect::from_xywh(0.0, 0.0, width, height) {
            self.pixmap.fill_rect(rect, &ground, self.transform, None);
        }
    }

    fn piece(&mut self, piece: &Piece, layer: Option<LayerId>, layers: usize) {
        let Some(path) = path(piece) else { return };
        let colour = match (piece.kind, layer) {
            (Kind::Hole, _) => svg::GROUND,
            (_, Some(layer)) => svg::layer_colour(layer, layers),
            (_, None) => svg::THROUGH,
        };
        let opacity = match piece.kind {
            Kind::Pour => svg::POUR_OPACITY,
            Kind::Track | Kind::Pad => svg::COPPER_OPACITY,
            Kind::Via | Kind::Hole => 1.0,
        };
        let paint = paint(colour, opacity);
        let is_area = 2 < piece.points.len();
        if is_area {
            let rule = if piece.kind == Kind::Pour {
                FillRule::EvenOdd
            } else {
                FillRule::Winding
            };
            self.pixmap
                .fill_path(&path, &paint, rule, self.transform, None);
        }
        let width = float(piece.width_um) / 10.0;
        if !is_area || 0.0 < width {
            self.line(&path, &paint, width);
        }
    }

    /// Draws a line so wide in units, at least so that it is seen.
    fn line(&mut self, path: &Path, paint: &Paint<'_>, width: f32) {
        let stroke = Stroke {
            width: width.max(LINE_DOTS_MIN / self.scale),
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        self.pixmap
            .stroke_path(path, paint, &stroke, self.transform, None);
    }

    fn edge(&mut self, drawing: &Drawing) {
        for chain in &drawing.outline {
            if let Some(path) = lines(chain) {
                self.line(&path, &paint(svg::INK, 1.0), 12.0);
            }
        }
    }

    /// Draws letters so high around a place.
    fn text(&mut self, text: &str, at: Dot, height: i32) {
        if float(height) * self.scale < LABEL_DOTS_MIN {
            return;
        }
        let paint = paint(svg::INK, 0.8);
        if let Some(path) = glyphs::path(text, (float(at.0), float(at.1)), float(height)) {
            self.line(&path, &paint, float(height) / 11.0);
        }
    }

    fn mark(&mut self, finding: &Finding, drawing: &Drawing) {
        let (x, y) = drawing.dot(finding.x, finding.y);
        let (x, y, r) = (float(x), float(y), MARK_DOTS / self.scale);
        let mut builder = PathBuilder::new();
        match finding.severity {
            Severity::Critical => {
                builder.move_to(x, y - r);
                builder.line_to(x + r, y);
                builder.line_to(x, y + r);
                builder.line_to(x - r, y);
                builder.close();
            }
            Severity::Warning => builder.push_circle(x, y, 0.75 * r),
            Severity::Info => {
                if let Some(rect) = Rect::from_xywh(x - r / 2.0, y - r / 2.0, r, r) {
                    builder.push_rect(rect);
                }
            }
        }
        let Some(path) = builder.finish() else { return };
        let colour = paint(svg::severity_colour(finding.severity), 1.0);
        self.pixmap
            .fill_path(&path, &colour, FillRule::Winding, self.transform, None);
        self.line(&path, &paint("#ffffff", 1.0), r / 6.0);
    }
}

/// The path of a piece.
fn path(piece: &Piece) -> Option<Path> {
    let mut builder = PathBuilder::new();
    add(&mut builder, &piece.points);
    if 2 < piece.points.len() {
        builder.close();
    }
    builder.finish()
}

fn lines(points: &[Dot]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    add(&mut builder, points);
    builder.finish()
}

/// Adds a chain of points. What has no length gets almost none, so that round ends make a disc of it.
fn add(builder: &mut PathBuilder, points: &[Dot]) {
    let Some((first, rest)) = points.split_first() else {
        return;
    };
    let (x, y) = (float(first.0), float(first.1));
    builder.move_to(x, y);
    if rest.iter().all(|point| point == first) {
        builder.line_to(x + 0.01, y);
        return;
    }
    for point in rest {
        builder.line_to(float(point.0), float(point.1));
    }
}

/// A colour such as `#c83434`.
fn paint(colour: &str, opacity: f32) -> Paint<'static> {
    let value = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or_default();
    let [_, red, green, blue] = value.to_be_bytes();
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    if let tiny_skia::Shader::SolidColor(colour) = &mut paint.shader {
        colour.set_alpha(opacity);
    }
    paint
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a picture has fewer dots than f32 has numbers"
)]
fn float(units: i32) -> f32 {
    units as f32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it loses digits that no dot shows"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}
