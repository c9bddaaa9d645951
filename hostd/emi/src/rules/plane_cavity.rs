//! Pairs of planes that resonate where a clock has a harmonic.

use super::context::LIGHT_MM_S;
use super::{Assumption, Param, Rule, Scope};
use crate::board::{LayerId, NetKind};
use crate::fields::resonance::{self, Mode};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::{Bounds, Point};
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "plane-cavity",
    title: "A pair of planes resonates at a harmonic of a clock",
    about: "Two planes are a cavity that is open at its edges. Where it resonates, a small current between them makes a large \
            voltage, which the edges and everything that passes through radiate.",
    formula: "f_mn = c/(2·√εr)·√((m/a)² + (n/b)²), a and b the box of what two planes of different nets on following layers of \
              planes have in common; nearest harmonic of a declared clock within tolerance_pct, even ones too, up to the highest \
              frequency. Of each pair: the lowest such mode.",
    source: "rectangular cavity with open (magnetic) walls",
    severity: "info: capacitors between the planes may have moved or damped it",
    validity: "planes of at least min_area_pct of the board; exact for rectangles, and an indication where a plane fills less than \
               80 % of its box",
    params: &[
        Param {
            key: "tolerance_pct",
            default: 2.0,
            about: "a harmonic this near to the resonance counts: the bandwidth of FR-4",
        },
        Param {
            key: "min_area_pct",
            default: 10.0,
            about: "of the board; smaller planes resonate higher",
        },
    ],
    assumes: &[
        Assumption::Frequency,
        Assumption::Stackup,
        Assumption::Always(
            "no capacitors between the planes, which move and damp the lowest modes",
        ),
    ],
    check,
};

/// Most planes of a layer that are looked at, the largest.
const PLANES_MAX: usize = 16;

/// Half waves along the longer side that are looked at.
const ORDERS_MAX: f64 = 20.0;

/// A plane that fills less of its box is no rectangle.
const FILLED_MIN: f64 = 0.8;

/// Two planes over each other.
struct Cavity {
    upper: usize,
    lower: usize,
    common: Bounds,
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    if scope.clocks.is_empty() {
        return Ok(Found::default());
    }
    let layers: Vec<LayerId> = (0..scope.board.layers.len())
        .filter(|layer| 0.0 < scope.planes.area(*layer))
        .collect();
    let pairs = layers.windows(2);
    let cavities: Vec<Cavity> = pairs
        .flat_map(|pair| cavities(scope, pair[0], pair[1]))
        .collect();
    scope.each(&cavities, |cavity| {
        resonance(scope, cavity).into_iter().collect()
    })
}

/// The largest planes of a layer.
fn largest(scope: &Scope<'_>, layer: LayerId) -> Vec<usize> {
    let least = (scope.param("min_area_pct") / 100.0 * scope.board.area()).max(f64::MIN_POSITIVE);
    let fills = &scope.board.fills;
    let is_plane = |fill: &usize| {
        let fill = &fills[*fill];
        let kind = scope.net(fill.net).kind;
        let carries = matches!(kind, NetKind::Ground | NetKind::Power);
        fill.layer == layer && least <= fill.area && carries
    };
    let mut planes: Vec<usize> = (0..fills.len()).filter(is_plane).collect();
    planes.sort_by(|x, y| fills[*y].area.total_cmp(&fills[*x].area).then(x.cmp(y)));
    planes.truncate(PLANES_MAX);
    planes
}

fn cavities(scope: &Scope<'_>, upper: LayerId, lower: LayerId) -> Vec<Cavity> {
    let fills = &scope.board.fills;
    let below = largest(scope, lower);
    let mut found = Vec::new();
    for upper in largest(scope, upper) {
        for lower in &below {
            let (x, y) = (&fills[upper], &fills[*lower]);
            if x.net != y.net && x.bounds.meets(&y.bounds) {
                found.push(Cavity {
                    upper,
                    lower: *lower,
                    common: common(&x.bounds, &y.bounds),
                });
            }
        }
    }
    found
}

/// What two boxes that meet have in common.
fn common(x: &Bounds, y: &Bounds) -> Bounds {
    Bounds {
        min: Point::new(x.min.x.max(y.min.x), x.min.y.max(y.min.y)),
        max: Point::new(x.max.x.min(y.max.x), x.max.y.min(y.max.y)),
    }
}

fn resonance(scope: &Scope<'_>, cavity: &Cavity) -> Option<Draft> {
    let fills = &scope.board.fills;
    let (upper, lower) = (&fills[cavity.upper], &fills[cavity.lower]);
    let epsilon = scope
        .board
        .stackup
        .epsilon_between(upper.layer, lower.layer);
    let (a, b) = (cavity.common.width(), cavity.common.height());
    let first = LIGHT_MM_S / (2.0 * epsilon.sqrt() * a.max(b));
    let highest = (ORDERS_MAX * first).min(scope.settings.max_frequency_hz().0);
    let modes = resonance::plane_modes(a / 1e3, b / 1e3, epsilon, highest).ok()?;
    let (mode, net, harmonic) = modes.value.iter().find_map(|mode| driven(scope, mode))?;
    let part = |bounds: &Bounds, area: f64| area / bounds.area().max(f64::MIN_POSITIVE);
    let is_rectangle = FILLED_MIN <= part(&upper.bounds, upper.area)
        && FILLED_MIN <= part(&lower.bounds, lower.area);
    let validity = if is_rectangle {
        ""
    } else {
        "; outside the formula's validity: the planes are no rectangles"
    };
    let detail = format!(
        "{} on {} over {} on {}, {a:.1} mm × {b:.1} mm, εr {epsilon:.2}: mode {},{} at {:.1} MHz, a harmonic of {} at {:.1} MHz{validity}",
        scope.net(upper.net).name,
        scope.layer_name(upper.layer),
        scope.net(lower.net).name,
        scope.layer_name(lower.layer),
        mode.m,
        mode.n,
        mode.frequency_hz / 1e6,
        scope.net(net).name,
        harmonic / 1e6,
    );
    let draft = Draft::new(Severity::Info, cavity.common.center(), RULE.title, detail)
        .net(upper.net)
        .layer(upper.layer)
        .bounds(cavity.common);
    Some(draft.measure(harmonic / 1e6, mode.frequency_hz / 1e6, "MHz"))
}

/// The clock of the nearest harmonic, if it is near enough, with that harmonic.
fn driven(scope: &Scope<'_>, mode: &Mode) -> Option<(Mode, usize, f64)> {
    let tolerance = scope.param("tolerance_pct") / 100.0 * mode.frequency_hz;
    let harmonics = scope
        .clocks
        .iter()
        .map(|(net, clock)| (*net, clock.harmonic_near(mode.frequency_hz)));
    let apart = |harmonic: f64| (harmonic - mode.frequency_hz).abs();
    let nearest = harmonics.min_by(|x, y| apart(x.1).total_cmp(&apart(y.1)).then(x.0.cmp(&y.0)))?;
    (apart(nearest.1) <= tolerance).then_some((*mode, nearest.0, nearest.1))
}
