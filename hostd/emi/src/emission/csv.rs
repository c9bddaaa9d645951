//! The spectrum as a table for spreadsheets.

use std::fmt::Write as _;

use super::{CableBudget, Emission};
use crate::fields::emission::Point;

impl Emission {
    /// `spectrum.csv`: one row for each line and detector, with what a receiver reads there. `margin_db` is empty unless
    /// the emission is complete; `valid` says whether every formula holds there.
    pub fn csv(&self) -> String {
        let points = self
            .spectrum
            .as_ref()
            .map(|report| report.points.as_slice());
        spectrum(points.unwrap_or_default(), self.complete())
    }
}

/// The rows of some lines.
pub(super) fn spectrum(points: &[Point], complete: bool) -> String {
    let mut csv = "f_hz,path,e_dbuv_m,limit,margin_db,valid\n".to_owned();
    for point in points {
        let path = cell(&point.path);
        let (hz, level) = (point.frequency_hz, point.total_dbuv_per_m);
        for margin in &point.margins {
            let margin_db = if complete {
                format!("{:.2}", margin.margin_db)
            } else {
                String::new()
            };
            let limit = margin.limit.dbuv_per_m;
            let _ = writeln!(
                csv,
                "{hz},{path},{level:.2},{limit:.2},{margin_db},{}",
                point.valid
            );
        }
        if point.margins.is_empty() {
            let _ = writeln!(csv, "{hz},{path},{level:.2},,,{}", point.valid);
        }
    }
    csv
}

/// The rows of some cables.
pub(super) fn cables(cables: &[CableBudget]) -> String {
    let mut csv =
        "f_hz,connector,limit_dbuv_m,permitted_a,permitted_v,margin_db,valid\n".to_owned();
    for cable in cables {
        let connector = cell(&cable.connector);
        for line in &cable.lines {
            let margin = line.margin_db.map(|db| format!("{db:.2}"));
            let _ = writeln!(
                csv,
                "{},{connector},{:.2},{:e},{:e},{},{}",
                line.frequency_hz,
                line.limit_dbuv_per_m,
                line.permitted_a,
                line.permitted_v,
                margin.unwrap_or_default(),
                line.valid,
            );
        }
    }
    csv
}

/// A stranger's text as a cell that no spreadsheet computes and that ends where it should.
fn cell(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    let is_formula = plain.starts_with(['=', '+', '-', '@']);
    let guard = if is_formula { "'" } else { "" };
    if plain.contains(['"', ',', ';']) || is_formula {
        format!("\"{guard}{}\"", plain.replace('"', "\"\""))
    } else {
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn names_of_strangers_stay_in_their_cell() {
        for (text, expected) in [
            ("SCK", "SCK"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("=1+1", "\"'=1+1\""),
            ("-5V", "\"'-5V\""),
            ("a\r\nb", "a\u{fffd}\u{fffd}b"),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
