//! Loops of clocks whose field reaches the limit.

use std::collections::BTreeMap;

use super::{Assumption, Param, Rule, Scope, loops::loops};
use crate::board::NetId;
use crate::fields::emission::Point;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "emission-dm",
    title: "The loop of a clock radiates near the limit",
    about: "The current of a clock and its return make a loop, which radiates with the square of the frequency. Over a plane the loop \
            is flat; a gap in the plane opens it. Loops over planes rarely break limits, cables do: that this rule finds nothing \
            says little.",
    formula: "E = 2·120π²·A·I/(λ²·r) = 263·10⁻¹⁶·f²·A·I/r. A: length × height of all tracks over planes, or × distance from a \
              plane beside them on their own layer where there is none above and below, and the loops around gaps as plane-gap has \
              them; also of nets behind a resistor of up to 330 Ω. \
              I_n = √2·I·d·|sinc(nπd)|·|sinc(nπ·t_r·f0)|, rms, I = volts/load_ohm. Loops of a net add in amplitude, nets that fall \
              into the receiver's bandwidth in power. Of each clock: the smallest margin.",
    source: "Ott: Electromagnetic Compatibility Engineering, 2009, equation 12-2; Paul: Introduction to Electromagnetic \
             Compatibility, 2nd ed. 2006, section 3.1",
    severity: "critical if the field exceeds the limit where the formula holds, warning if it does elsewhere or the margin is below \
               min_margin_db",
    validity: "declared clocks with volts and load_ohm. outside_validity marks lines where the net is longer than λ/10, the antenna \
               nearer than λ/2π, or the spread formula does not hold",
    params: &[Param {
        key: "min_margin_db",
        default: 6.0,
        about: "smaller margins are a finding",
    }],
    assumes: &[
        Assumption::Limits,
        Assumption::Stackup,
        Assumption::Always(
            "the same current everywhere along the net, in the direction of strongest radiation",
        ),
        Assumption::Always(
            "the test site's floor doubles the field; no plane and no enclosure shields",
        ),
        Assumption::Always("a duty of 50 %; vias, pins and packages are not counted"),
        Assumption::Always("the return of tracks without any plane nearby is 25 mm away"),
    ],
    check,
};

/// The smallest margins of a clock, each with its line.
#[derive(Clone, Copy, Default)]
struct Worst<'a> {
    /// Of all lines.
    of_all: Option<(f64, &'a Point)>,
    /// Of those where the formula holds.
    valid: Option<(f64, &'a Point)>,
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let mut worst: BTreeMap<&str, Worst<'_>> = BTreeMap::new();
    let spectrum = scope.emission.spectrum.as_ref();
    for point in spectrum.iter().flat_map(|report| &report.points) {
        let margins = point.margins.iter().map(|margin| margin.margin_db);
        let Some(margin) = margins.min_by(f64::total_cmp) else {
            continue;
        };
        let of_path = worst.entry(&point.path).or_default();
        keep(&mut of_path.of_all, margin, point);
        if point.valid {
            keep(&mut of_path.valid, margin, point);
        }
    }
    let mut found = Found::default();
    for (net, clock) in &scope.clocks {
        let Some(worst) = worst.get(clock.net.as_str()) else {
            continue;
        };
        let draft = near_limit(scope, *net, *worst)?;
        found = found.with(scope.found(draft));
    }
    Ok(found)
}

fn keep<'a>(known: &mut Option<(f64, &'a Point)>, margin: f64, point: &'a Point) {
    if known.is_none_or(|(least, _)| margin < least) {
        *known = Some((margin, point));
    }
}

fn near_limit(scope: &Scope<'_>, net: NetId, worst: Worst<'_>) -> Result<Option<Draft>, Cancelled> {
    let exceeded = worst.valid.filter(|(margin, _)| *margin < 0.0);
    let Some((margin, point)) = exceeded.or(worst.of_all) else {
        return Ok(None);
    };
    if scope.param_of("min_margin_db", net) <= margin {
        return Ok(None);
    }
    let severity = if exceeded.is_some() {
        Severity::Critical
    } else {
        Severity::Warning
    };
    let loops = loops(scope, net)?;
    let validity = if point.valid {
        String::new()
    } else {
        let quantities: Vec<&str> = point.outside.iter().map(|e| e.quantity).collect();
        format!("; outside_validity: {}", quantities.join(", "))
    };
    let open = if 0.0 < loops.open_mm {
        format!("; {:.1} mm have no plane beside", loops.open_mm)
    } else {
        String::new()
    };
    let level = point.total_dbuv_per_m;
    let side = if margin < 0.0 { "above" } else { "below" };
    let detail = format!(
        "harmonic {} at {:.1} MHz: {level:.1} dBµV/m, {:.1} dB {side} the limit; {:.1} mm of tracks, loops of {:.1} mm² over \
         planes and {:.1} mm² at gaps{open}{validity}",
        point.order,
        point.frequency_hz / 1e6,
        margin.abs(),
        loops.length_mm,
        loops.covered_mm2,
        loops.gaps_mm2,
    );
    let runs = scope.runs_of(net);
    let longest = runs.iter().max_by(|x, y| x.length().total_cmp(&y.length()));
    let draft = longest.map(|run| {
        let at = run.at(run.length() / 2.0);
        let severity = scope.graded(net, severity, severity);
        Draft::new(severity, at, RULE.title, detail)
            .net(net)
            .layer(run.layer)
            .measure(level, level + margin, "dBµV/m")
    });
    Ok(draft)
}
