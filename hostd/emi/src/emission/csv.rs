//! The spectrum as a table for spreadsheets.

use std::fmt::Write as _;

use super::Emission;

impl Emission {
    /// `spectrum.csv`: one row for each line and detector, with what a receiver reads there. `margin_db` is empty unless
    /// the emission is complete; `valid` says whether every formula holds there.
    pub fn csv(&self) -> String {
        let mut csv = "f_hz,path,e_dbuv_m,limit,margin_db,valid\n".to_owned();
        for point in self.spectrum.iter().flat_map(|report| &report.points) {
            let path = cell(&point.path);
            for margin in &point.margins {
                let margin_db = if self.complete() {
                    format!("{:.2}", margin.margin_db)
                } else {
                    String::new()
                };
                let _ = writeln!(
                    csv,
                    "{},{path},{:.2},{:.2},{margin_db},{}",
                    point.frequency_hz,
                    point.total_dbuv_per_m,
                    margin.limit.dbuv_per_m,
                    point.valid,
                );
            }
        }
        csv
    }
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
