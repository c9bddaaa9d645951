//! From the measures of a cross-section to panels, with x = 0 in its middle.

use super::boundary::{Border, PANELS_MAX, Panel};
use super::grading::{push_graded, push_growing};
use super::{Above, Section, SectionError};

/// Panels on the wide sides of a conductor no wider than its height over the plane. This and the next constants give
/// errors below 0.6 % against meshes of four times as many panels, for widths from 0.05 to 20 heights and thicknesses up
/// to twice the width.
const WIDE: usize = 20;

/// Panels on the thin sides of a conductor, and on steps of the mask.
const THIN: usize = 8;

/// Length of the first panel of a border beside copper, in widths of the copper, or in 4 thicknesses where that is less.
const FIRST: f64 = 0.002;

/// The same for the mask, in its thickness: there is no corner of copper that charge gathers at.
const FIRST_OF_MASK: f64 = 0.1;

/// How far borders of dielectrics reach beyond the outermost copper, in heights or widths.
const REACH: f64 = 20.0;

/// How wide copper beside the traces is, in gaps or heights.
const GROUND_REACH: f64 = 10.0;

/// A conductor's place: left edge and right edge.
#[derive(Debug, Clone, Copy)]
struct Strip {
    left: f64,
    right: f64,
    conductor: usize,
}

/// Panels of `section`, traces first in order of conductors.
pub(super) fn panels(section: &Section) -> Result<Vec<Panel>, SectionError> {
    let mesh = Mesh::new(section);
    let mut panels = Vec::new();
    for strip in &mesh.strips {
        mesh.push_copper(strip, &mut panels);
    }
    mesh.push_surface(&mut panels);
    mesh.push_mask(&mut panels);
    if panels.len() > PANELS_MAX {
        return Err(SectionError::TooFine {
            panels: panels.len(),
        });
    }
    Ok(panels)
}

struct Mesh<'a> {
    section: &'a Section,
    strips: Vec<Strip>,
    /// Permittivity right above the surface that the copper lies on.
    above: f64,
    /// Where the borders end.
    reach: f64,
}

impl<'a> Mesh<'a> {
    fn new(section: &'a Section) -> Self {
        let outermost = &section.traces[section.traces.len() - 1];
        let middle = 0.5 * (section.traces[0].left_m + outermost.left_m + outermost.width_m);
        let mut strips: Vec<Strip> = section
            .traces
            .iter()
            .enumerate()
            .map(|(conductor, trace)| Strip {
                left: trace.left_m - middle,
                right: trace.left_m - middle + trace.width_m,
                conductor,
            })
            .collect();
        let (first, last) = (strips[0].left, strips[strips.len() - 1].right);
        if let Some(gap) = section.coplanar_gap_m {
            let wide = GROUND_REACH * (gap + section.height_m);
            let conductor = strips.len();
            strips.push(Strip {
                left: last + gap,
                right: last + gap + wide,
                conductor,
            });
            strips.insert(
                0,
                Strip {
                    left: first - gap - wide,
                    right: first - gap,
                    conductor: conductor + 1,
                },
            );
        }
        let above = match section.above {
            Above::Air => 1.0,
            Above::Mask { permittivity, .. } | Above::Plane { permittivity, .. } => permittivity,
        };
        let reach = match section.above {
            // Fields between planes end after a few distances of the planes.
            Above::Plane { height_m, .. } => 3.0 * (section.height_m + height_m),
            Above::Air | Above::Mask { .. } => REACH * section.height_m.max(0.25 * (last - first)),
        };
        Self {
            section,
            strips,
            above,
            reach,
        }
    }

    fn push_copper(&self, strip: &Strip, panels: &mut Vec<Panel>) {
        let bottom = self.section.height_m;
        let top = bottom + self.section.thickness_m;
        let Strip {
            left,
            right,
            conductor,
        } = *strip;
        let wide = self.wide_count(right - left);
        if self.section.thickness_m == 0.0 {
            let border = Border::Sheet {
                conductor,
                left: self.above,
                right: self.section.permittivity,
            };
            push_graded(panels, (left, bottom), (right, bottom), wide, border);
            return;
        }
        let face = |outside| Border::Face { conductor, outside };
        let (below, above) = (face(self.section.permittivity), face(self.above));
        push_graded(panels, (left, bottom), (right, bottom), wide, below);
        push_graded(panels, (right, bottom), (right, top), THIN, above);
        push_graded(panels, (right, top), (left, top), wide, above);
        push_graded(panels, (left, top), (left, bottom), THIN, above);
    }

    /// Wide strips close to their plane get more panels, so that some of them are where the field of an edge is. The number
    /// is even: no panel of a symmetric section crosses its middle.
    fn wide_count(&self, width: f64) -> usize {
        let pairs = 4.0 * (0.25 * width / self.section.height_m).min(1e3).ln_1p();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 28"
        )]
        let pairs = pairs as usize;
        WIDE + 2 * pairs
    }

    /// Length of the first panel of a border beside a strip.
    fn first(&self, strip: Strip) -> f64 {
        let width = strip.right - strip.left;
        let thickness = self.section.thickness_m;
        let shorter = if thickness > 0.0 {
            width.min(4.0 * thickness)
        } else {
            width
        };
        FIRST * shorter
    }

    /// The surface that the copper lies on, where it is bare.
    fn push_surface(&self, panels: &mut Vec<Panel>) {
        let y = self.section.height_m;
        let border = Border::Dielectrics {
            left: self.above,
            right: self.section.permittivity,
        };
        #[allow(clippy::float_cmp, reason = "the same dielectric on both sides")]
        if self.above == self.section.permittivity {
            return;
        }
        for pair in self.strips.windows(2) {
            let (left, right) = (pair[0].right, pair[1].left);
            let middle = 0.5 * (left + right);
            push_growing(panels, y, left, middle, self.first(pair[0]), border);
            push_growing(panels, y, right, middle, self.first(pair[1]), border);
        }
        let (first, last) = (self.strips[0], self.strips[self.strips.len() - 1]);
        let (start, end) = (first.left - self.reach, last.right + self.reach);
        push_growing(panels, y, first.left, start, self.first(first), border);
        push_growing(panels, y, last.right, end, self.first(last), border);
    }

    /// Solder mask follows the copper: a step up before each strip and a step down behind it, unless the gap is too
    /// narrow for steps and is filled.
    fn push_mask(&self, panels: &mut Vec<Panel>) {
        let Above::Mask {
            thickness_m: mask,
            permittivity,
        } = self.section.above
        else {
            return;
        };
        #[allow(clippy::float_cmp, reason = "a mask of air is no border")]
        if permittivity == 1.0 {
            return;
        }
        let border = Border::Dielectrics {
            left: 1.0,
            right: permittivity,
        };
        let low = self.section.height_m + mask;
        let high = low + self.section.thickness_m;
        let (first, last) = (self.strips[0], self.strips[self.strips.len() - 1]);
        let start = first.left - mask;
        let end = last.right + mask;
        let shortest = FIRST_OF_MASK * mask;
        push_growing(panels, low, start, start - self.reach, shortest, border);
        push_growing(panels, low, end, end + self.reach, shortest, border);
        let step = self.section.thickness_m > 0.0;
        if step {
            push_graded(panels, (start, low), (start, high), THIN, border);
            push_graded(panels, (end, high), (end, low), THIN, border);
        }
        let mut from = start;
        for pair in self.strips.windows(2) {
            let (down, up) = (pair[0].right + mask, pair[1].left - mask);
            if up <= down {
                continue;
            }
            let wide = self.wide_count(down - from);
            push_graded(panels, (from, high), (down, high), wide, border);
            let middle = 0.5 * (down + up);
            push_growing(panels, low, down, middle, shortest, border);
            push_growing(panels, low, up, middle, shortest, border);
            if step {
                push_graded(panels, (down, high), (down, low), THIN, border);
                push_graded(panels, (up, low), (up, high), THIN, border);
            }
            from = up;
        }
        let wide = self.wide_count(end - from);
        push_graded(panels, (from, high), (end, high), wide, border);
    }
}
