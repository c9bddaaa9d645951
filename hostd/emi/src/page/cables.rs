//! What declared cables may carry.

use std::fmt::Write as _;

use super::chart::Chart;
use super::frequency;
use crate::emission::{CableBudget, CableLine, Emission};
use crate::plain::{Name, Sentence};
use crate::svg;

/// Most cables that are shown.
const CABLES_MAX: usize = 8;

/// The budget of each cable.
pub(super) fn section(page: &mut String, emission: &Emission) {
    page.push_str("<h2 id=\"cables\">What cables may carry</h2>\n");
    let shown = &emission.cables[..emission.cables.len().min(CABLES_MAX)];
    let lines = || shown.iter().flat_map(|cable| &cable.lines);
    if lines().next().is_none() {
        page.push_str(
            "<p>No cable is declared. Currents of some microamperes along a cable reach the limits: declare cables in \
             <code>emi.rules.yaml</code> to know how many.</p>\n",
        );
        return;
    }
    let _ = writeln!(page, "<p>{}</p>", Sentence(emission.cable_note));
    let range = |of: fn(&CableLine) -> f64| {
        let low = lines().map(of).fold(f64::INFINITY, f64::min);
        (low, lines().map(of).fold(f64::NEG_INFINITY, f64::max))
    };
    let chart = Chart::new(range(|line| line.frequency_hz), range(decibels));
    chart.open(
        page,
        "Permitted current of each cable",
        "dBµA along the cable",
    );
    for (index, cable) in shown.iter().enumerate() {
        let colour = svg::layer_colour(index, CABLES_MAX);
        let _ = write!(
            page,
            "<polyline class=\"cable\" stroke=\"{colour}\" points=\""
        );
        for line in &cable.lines {
            let _ = write!(
                page,
                "{:.1},{:.1} ",
                chart.x(line.frequency_hz),
                chart.y(decibels(line))
            );
        }
        page.push_str("\"/>");
    }
    page.push_str("</svg></div>\n");
    table(page, shown);
    if CABLES_MAX < emission.cables.len() {
        let _ = writeln!(
            page,
            "<p class=\"soft\">{CABLES_MAX} of {} cables; emission.json has all.</p>",
            emission.cables.len()
        );
    }
}

/// The permitted current in dB above 1 µA.
fn decibels(line: &CableLine) -> f64 {
    20.0 * (line.permitted_a * 1e6).max(1e-9).log10()
}

fn table(page: &mut String, cables: &[CableBudget]) {
    page.push_str(
        "<div class=\"wide\"><table><thead><tr><th>Connector</th><th class=\"n\">Length</th><th>Shield</th><th class=\"n\">Least current</th>\
         <th class=\"n\">at</th><th class=\"n\">Voltage that drives it</th><th>Solver holds</th></tr></thead><tbody>\n",
    );
    for (index, cable) in cables.iter().enumerate() {
        let least = cable
            .lines
            .iter()
            .min_by(|x, y| x.permitted_a.total_cmp(&y.permitted_a));
        let Some(least) = least else { continue };
        let _ = writeln!(
            page,
            "<tr><td><svg width=\"12\" height=\"12\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect width=\"1\" height=\"1\" fill=\"{}\"/></svg> \
             <bdi>{}</bdi></td><td class=\"n\">{} m</td><td>{}</td><td class=\"n\">{:.2} µA</td><td class=\"n\">{}</td>\
             <td class=\"n\">{:.3} mV</td><td>{}</td></tr>",
            svg::layer_colour(index, CABLES_MAX),
            Name(&cable.connector),
            cable.length_m,
            if cable.shielded { "yes" } else { "no" },
            least.permitted_a * 1e6,
            frequency(least.frequency_hz),
            least.permitted_v * 1e3,
            if least.valid { "yes" } else { "no" },
        );
    }
    page.push_str("</tbody></table></div>\n");
}
