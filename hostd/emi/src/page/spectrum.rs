//! What declared clocks radiate, against the limits.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::chart::Chart;
use super::frequency;
use crate::emission::Emission;
use crate::fields::emission::{Point, Report};
use crate::fields::limits::{Detector, table};
use crate::plain::{Escaped, Name, Sentence};

/// Rows of the table: the lines that are nearest to their limit.
const ROWS_MAX: usize = 20;

/// Places at which the curve of a limit is drawn.
const LIMIT_PLACES: u32 = 450;

/// The spectrum, or why there is none.
pub(super) fn section(page: &mut String, emission: &Emission) {
    page.push_str("<h2 id=\"spectrum\">Emission of declared clocks</h2>\n");
    let Some(report) = emission
        .spectrum
        .as_ref()
        .filter(|report| !report.points.is_empty())
    else {
        page.push_str(
            "<p>No clock is declared with voltage and load, so there is no spectrum, and nothing is said about margins. Declare \
             clocks in <code>emi.rules.yaml</code>.</p>\n",
        );
        return;
    };
    let _ = writeln!(
        page,
        "<p>Fields of the loops of {} at {} m, against {} ({}). Hollow lines are outside of the range of a formula.</p>",
        if emission.complete() {
            "all declared clocks"
        } else {
            "the clocks that are fully declared"
        },
        report.distance_m,
        Escaped(&report.limits),
        Escaped(&report.limits_status),
    );
    if emission.complete() {
        smallest(page, report);
    } else {
        page.push_str("<p>Not every clock is fully declared: lines are missing, so no smallest margin is given.</p>\n");
    }
    chart(page, report, emission.complete());
    rows(page, report, emission.complete());
    page.push_str("<ul class=\"notes\">");
    for note in &report.notes {
        let _ = write!(page, "<li>{}</li>", Sentence(note));
    }
    page.push_str("</ul>\n");
}

fn smallest(page: &mut String, report: &Report) {
    for smallest in report.smallest_margins.iter().flatten() {
        let doubt = if smallest.valid {
            ""
        } else {
            ", outside of the range of a formula"
        };
        let _ = writeln!(
            page,
            "<p>Smallest margin, {}: <b>{:.1} dB</b> at {}{doubt}.</p>",
            detector(smallest.detector),
            smallest.margin_db,
            frequency(smallest.frequency_hz),
        );
    }
}

fn detector(detector: Detector) -> &'static str {
    match detector {
        Detector::QuasiPeak => "quasi-peak",
        Detector::Average => "average",
        Detector::Peak => "peak",
    }
}

/// The margin to the strictest limit.
fn margin(point: &Point) -> f64 {
    point
        .margins
        .iter()
        .map(|margin| margin.margin_db)
        .fold(f64::INFINITY, f64::min)
}

fn chart(page: &mut String, report: &Report, is_complete: bool) {
    let points = &report.points;
    let of = |value: fn(&Point) -> f64, pick: fn(f64, f64) -> f64, start: f64| {
        points.iter().map(value).fold(start, pick)
    };
    let low = of(|point| point.frequency_hz, f64::min, f64::INFINITY).min(30e6);
    let high = of(|point| point.frequency_hz, f64::max, 0.0).max(1e9);
    let limits = points.iter().flat_map(|point| &point.margins);
    let top = limits
        .map(|margin| margin.limit.dbuv_per_m)
        .fold(0.0, f64::max);
    let loudest = of(|point| point.total_dbuv_per_m, f64::max, f64::NEG_INFINITY);
    // Lines far below everything tell nothing.
    let quietest = of(|point| point.total_dbuv_per_m, f64::min, f64::INFINITY).max(loudest - 80.0);
    let chart = Chart::new(
        (low, high),
        (quietest.min(top - 20.0), loudest.max(top) + 5.0),
    );
    chart.open(page, "Spectrum of declared clocks with limits", "dBµV/m");
    limit_curves(page, &chart, report);
    // Of each column of dots, the line that is nearest to its limit.
    let mut columns: BTreeMap<i64, &Point> = BTreeMap::new();
    for point in points {
        let known = columns
            .entry(chart.column(point.frequency_hz))
            .or_insert(point);
        if margin(point) < margin(known) {
            *known = point;
        }
    }
    for point in columns.values().take(Chart::COLUMNS) {
        let (x, y) = (chart.x(point.frequency_hz), chart.y(point.total_dbuv_per_m));
        let over = if margin(point) < 0.0 { " over" } else { "" };
        let below = if is_complete {
            format!(", {:.1} dB below the limit", margin(point))
        } else {
            String::new()
        };
        let dot = if point.valid { "dot" } else { "unsure" };
        let _ = write!(
            page,
            "<g><title>{}, {}: {:.1} dBµV/m{below}</title>\
             <line class=\"stem{over}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{y:.1}\"/><circle class=\"{dot}{over}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/></g>",
            frequency(point.frequency_hz),
            Name(&point.path),
            point.total_dbuv_per_m,
            chart.floor(),
        );
    }
    page.push_str("</svg></div>\n");
}

/// The limit of each detector, as steps.
fn limit_curves(page: &mut String, chart: &Chart, report: &Report) {
    let id = report.limits.split(' ').next().unwrap_or_default();
    let Some(table) = table(id) else { return };
    let mut curves: BTreeMap<Detector, Vec<(f64, f64)>> = BTreeMap::new();
    for hz in chart.frequencies(LIMIT_PLACES) {
        for limit in table.limits(hz, report.distance_m).unwrap_or_default() {
            curves
                .entry(limit.detector)
                .or_default()
                .push((hz, limit.dbuv_per_m));
        }
    }
    for (index, (of, curve)) in curves.iter().enumerate() {
        let class = if *of == Detector::Average {
            "limit dashed"
        } else {
            "limit"
        };
        chart.legend(page, index, class, &format!("limit, {}", detector(*of)));
        let _ = write!(page, "<polyline class=\"{class}\" points=\"");
        for (hz, level) in curve {
            let _ = write!(page, "{:.1},{:.1} ", chart.x(*hz), chart.y(*level));
        }
        page.push_str("\"/>");
    }
}

fn rows(page: &mut String, report: &Report, is_complete: bool) {
    let mut worst: Vec<&Point> = report.points.iter().collect();
    worst.sort_by(|x, y| margin(x).total_cmp(&margin(y)));
    let _ = writeln!(
        page,
        "<div class=\"wide\"><table><thead><tr><th class=\"n\">Frequency</th><th>Net</th><th class=\"n\">Harmonic</th>\
         <th class=\"n\">dBµV/m</th><th class=\"n\">Limit</th>{}<th>Formulas hold</th></tr></thead><tbody>",
        if is_complete {
            "<th class=\"n\">Margin, dB</th>"
        } else {
            ""
        },
    );
    for point in worst.iter().take(ROWS_MAX) {
        let least = point
            .margins
            .iter()
            .min_by(|x, y| x.margin_db.total_cmp(&y.margin_db));
        let Some(least) = least else { continue };
        let _ = write!(
            page,
            "<tr><td class=\"n\">{}</td><td><bdi>{}</bdi></td><td class=\"n\">{}</td><td class=\"n\">{:.1}</td><td class=\"n\">{:.1}</td>",
            frequency(point.frequency_hz),
            Name(&point.path),
            point.order,
            point.total_dbuv_per_m,
            least.limit.dbuv_per_m,
        );
        if is_complete {
            let over = if least.margin_db < 0.0 { " over" } else { "" };
            let _ = write!(page, "<td class=\"n{over}\">{:.1}</td>", least.margin_db);
        }
        let _ = writeln!(
            page,
            "<td>{}</td></tr>",
            if point.valid { "yes" } else { "no" }
        );
    }
    page.push_str("</tbody></table></div>\n");
    if ROWS_MAX < worst.len() {
        let _ = writeln!(
            page,
            "<p class=\"soft\">The {ROWS_MAX} lines of {} that are nearest to their limit; spectrum.csv has all.</p>",
            worst.len()
        );
    }
}
