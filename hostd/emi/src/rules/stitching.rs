//! Ground planes that are not joined often enough.

use super::{Assumption, Param, Rule, Scope};
use crate::board::{LayerId, LayerSet, NetId, NetKind};
use crate::copper::{steps, whole};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::{Bounds, Point};
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "stitching",
    title: "Ground planes are joined too rarely",
    about: "Two planes with no via between them are a cavity, which resonates, and which couples everything that changes layers \
            in it.",
    formula: "Places where two neighbouring planes of one ground overlap, and no via or plated hole joins them within λ/20, \
              λ = c/(f_max·√εr). Adjoining places are one finding.",
    source: "λ/20: Ott 2009",
    severity: "warning",
    validity: "grounds with filled zones on two layers; places are looked at on a grid of 1 mm, wider where that were more than 40,000",
    params: &[Param {
        key: "max_spacing_mm",
        default: 0.0,
        about: "in place of λ/20; 0 for λ/20",
    }],
    assumes: &[Assumption::Frequency, Assumption::Stackup],
    check,
};

/// Most places that are looked at.
const PLACES_MAX: f64 = 40_000.0;

/// How far apart they are, in mm, if they are not too many.
const PITCH_MM: f64 = 1.0;

/// How far it is looked for joints, in mm.
const SEARCH_MM: f64 = 50.0;

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let grounds = (0..scope.board.nets.len()).filter(|net| scope.net(*net).kind == NetKind::Ground);
    let mut cavities = Vec::new();
    for net in grounds {
        let fills = scope.board.fills.iter().filter(|fill| fill.net == net);
        let layers = fills.fold(LayerSet::NONE, |set, fill| {
            set.with(LayerSet::only(fill.layer))
        });
        let layers: Vec<LayerId> = layers
            .layers()
            .filter(|layer| 0.0 < scope.planes.area(*layer))
            .collect();
        cavities.extend(layers.windows(2).map(|pair| (net, pair[0], pair[1])));
    }
    scope.each(&cavities, |(net, upper, lower)| {
        unjoined(scope, *net, *upper, *lower)
    })
}

/// The allowed distance in mm.
pub(super) fn limit(scope: &Scope<'_>, net: NetId) -> f64 {
    let declared = scope.param_of("max_spacing_mm", net);
    if declared > 0.0 {
        declared
    } else {
        scope.part_of_wavelength(1.0 / 20.0)
    }
}

fn unjoined(scope: &Scope<'_>, net: NetId, upper: LayerId, lower: LayerId) -> Vec<Draft> {
    let limit = limit(scope, net);
    let bounds = scope.bounds;
    let pitch = PITCH_MM
        .min(limit / 4.0)
        .max((bounds.area() / PLACES_MAX).sqrt());
    // In the middle of equal cells, so that a turned or mirrored board has the same places.
    let cells = |size: f64| (steps(size + 0.5 * pitch, pitch) + 1).min(whole(PLACES_MAX));
    let (columns, rows) = (cells(bounds.width()), cells(bounds.height()));
    let cell = Point::new(
        bounds.width() / columns as f64,
        bounds.height() / rows as f64,
    );
    let both = LayerSet::only(upper).with(LayerSet::only(lower));
    let place = |index: usize| {
        let (column, row) = (
            (index % columns) as f64 + 0.5,
            (index / columns) as f64 + 0.5,
        );
        bounds.min + Point::new(column * cell.x, row * cell.y)
    };
    let is_over = |layer: LayerId, at: Point| {
        scope
            .planes
            .on(layer, at)
            .any(|fill| scope.board.fills[fill].net == net)
    };
    let joints = scope.joints.among(net);
    let far: Vec<Option<f64>> = (0..columns * rows)
        .take_while(|_| !scope.is_stopped())
        .map(|cell| {
            let at = place(cell);
            if !is_over(upper, at) || !is_over(lower, at) {
                return None;
            }
            let joins = |joint: &crate::copper::Joint| joint.net == net && joint.span.covers(both);
            if joints.nearest(at, limit, joins).is_some() {
                return None;
            }
            Some(
                joints
                    .nearest(at, SEARCH_MM.max(limit), joins)
                    .map_or(SEARCH_MM, |(d, ..)| d),
            )
        })
        .collect();
    if far.len() < columns * rows {
        return Vec::new();
    }
    let found = areas(&far, columns).into_iter().filter_map(|cells| {
        let worst = cells.iter().max_by(|x, y| far[**x].unwrap_or(0.0).total_cmp(&far[**y].unwrap_or(0.0)))?;
        let distance = far[*worst]?;
        let detail = format!(
            "{:.0} mm² of {} on {} and {} have no via or plated hole between them within {limit:.1} mm; the nearest is {distance:.1} mm \
             from the middle",
            cells.len() as f64 * cell.x * cell.y,
            scope.net(net).name,
            scope.layer_name(upper),
            scope.layer_name(lower),
        );
        let draft = Draft::new(Severity::Warning, place(*worst), RULE.title, detail).net(net).layer(upper);
        let around = Bounds::of(cells.iter().map(|cell| place(*cell))).grown(cell.x.max(cell.y) / 2.0);
        Some(draft.bounds(around).measure(distance, limit, "mm"))
    });
    found.collect()
}

/// The cells that have a value, in groups that adjoin.
fn areas(cells: &[Option<f64>], columns: usize) -> Vec<Vec<usize>> {
    let mut is_seen = vec![false; cells.len()];
    let mut areas = Vec::new();
    for first in 0..cells.len() {
        if cells[first].is_none() || std::mem::replace(&mut is_seen[first], true) {
            continue;
        }
        let mut area = vec![first];
        let mut at = 0;
        while let Some(cell) = area.get(at).copied() {
            at += 1;
            let column = cell % columns;
            let left = (0 < column).then(|| cell - 1);
            let right = (column + 1 < columns).then_some(cell + 1);
            for near in [left, right, cell.checked_sub(columns), Some(cell + columns)]
                .into_iter()
                .flatten()
            {
                if near < cells.len()
                    && cells[near].is_some()
                    && !std::mem::replace(&mut is_seen[near], true)
                {
                    area.push(near);
                }
            }
        }
        areas.push(area);
    }
    areas
}
