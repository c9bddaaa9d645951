//! Cables that resonate where a clock has a harmonic.

use super::{Assumption, Param, Rule, Scope};
use crate::board::NetId;
use crate::fields::resonance::{self, Ends};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;
use crate::settings::{Cable, Clock};

pub(super) static RULE: Rule = Rule {
    id: "cable-resonance",
    title: "A cable resonates at a harmonic of a clock",
    about: "A cable that is a quarter or half of a wavelength long takes most current from what little voltage the board has \
            against it, and radiates it best.",
    formula: "f_n = n·c/(4·L), n up to orders, up to the highest frequency; nearest harmonic of a declared clock within \
              tolerance_pct of it, even ones too, since no clock is high for exactly half of its period. Of each cable and clock: \
              the nearest one.",
    source: "resonance of a line",
    severity: "warning; info if the cable is shielded, or the clock declared slow",
    validity: "declared cables at connectors of the board, declared clocks on nets of the board",
    params: &[
        Param {
            key: "tolerance_pct",
            default: 5.0,
            about: "a harmonic this near to the resonance counts",
        },
        Param {
            key: "orders",
            default: 2.0,
            about: "quarter waves that are looked at: 1 is λ/4, 2 is λ/2",
        },
    ],
    assumes: &[
        Assumption::Frequency,
        Assumption::Always(
            "the cable is straight and in air; its ends lower resonances by some per cent",
        ),
    ],
    check,
};

/// A resonance and the harmonic beside it.
struct Meeting {
    /// Quarter waves.
    order: usize,
    hz: f64,
    harmonic_hz: f64,
}

impl Meeting {
    /// How far apart they are, as a part of the resonance.
    fn apart(&self) -> f64 {
        (self.harmonic_hz / self.hz - 1.0).abs()
    }
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(scope.settings.cables(), |cable| of_cable(scope, cable))
}

fn of_cable(scope: &Scope<'_>, cable: &Cable) -> Vec<Draft> {
    let Some(part) = scope.part_named(&cable.connector) else {
        return Vec::new();
    };
    let resonances = resonances(scope, cable);
    let clocks = scope.clocks.iter();
    clocks
        .filter_map(|clock| of_clock(scope, cable, part, &resonances, *clock))
        .collect()
}

/// The lowest resonances with their orders.
fn resonances(scope: &Scope<'_>, cable: &Cable) -> Vec<(usize, f64)> {
    let highest = scope.settings.max_frequency_hz().0.clamp(1.0, 1e12);
    let of = |ends, first: usize| {
        let found = resonance::cable(cable.length_m, ends, highest);
        let found = found.map(|found| found.value).unwrap_or_default();
        found
            .into_iter()
            .enumerate()
            .map(move |(index, hz)| (first + 2 * index, hz))
    };
    let orders = scope.param("orders");
    of(Ends::OneOpen, 1)
        .chain(of(Ends::Alike, 2))
        .filter(|(order, _)| *order as f64 <= orders)
        .collect()
}

fn of_clock(
    scope: &Scope<'_>,
    cable: &Cable,
    part: usize,
    resonances: &[(usize, f64)],
    (net, clock): (NetId, &Clock),
) -> Option<Draft> {
    let meeting = |(order, hz): &(usize, f64)| Meeting {
        order: *order,
        hz: *hz,
        harmonic_hz: clock.harmonic_near(*hz),
    };
    let tolerance = scope.param_of("tolerance_pct", net) / 100.0;
    let nearest = resonances
        .iter()
        .map(meeting)
        .min_by(|x, y| x.apart().total_cmp(&y.apart()))
        .filter(|nearest| nearest.apart() <= tolerance)?;
    let severity = if cable.shielded {
        Severity::Info
    } else {
        scope.graded(net, Severity::Warning, Severity::Warning)
    };
    let shield = if cable.shielded {
        "; the shield has to be joined to the enclosure all around"
    } else {
        ""
    };
    let detail = format!(
        "{} m at {} are {}·λ/4 at {:.1} MHz; {} has harmonic {:.0} at {:.1} MHz{shield}",
        cable.length_m,
        cable.connector,
        nearest.order,
        nearest.hz / 1e6,
        clock.net,
        nearest.harmonic_hz / clock.hz,
        nearest.harmonic_hz / 1e6,
    );
    let draft = Draft::new(severity, scope.part(part).at, RULE.title, detail)
        .net(net)
        .layer(scope.mount(part))
        .footprint(part);
    Some(draft.measure(nearest.harmonic_hz / 1e6, nearest.hz / 1e6, "MHz"))
}
