//! The I²C transactions of a capture as a table: one line for each address that is sent, with its bytes and who
//! acknowledged what.
//!
//! ```text
//! captures::decode ─ annotations ─> transaction::Transactions ─> table ─> csv
//! ```

use hostd_plugin::{Artifact, Error, Options, Report, Subject};

mod bus;
mod csv;
mod table;
mod transaction;

/// The documents of the plugin.
pub static REPORTS: &[Report] = &[Report::of_captures(render)
    .summary("The I²C transactions of a capture, as CSV")
    .options(&[
        (
            "scl",
            "Channel of the clock; that of the capture or the configuration when left out.",
        ),
        ("sda", "Channel of the data, likewise."),
    ])];

hostd_plugin::reporter!(REPORTS);

fn render(subject: &Subject, options: &Options) -> Result<Artifact, Error> {
    let table = table::of(&subject.id, options.get("scl"), options.get("sda"))?;
    let name = subject.json["name"].as_str().unwrap_or(&subject.id);
    let file = format!("{name}-i2c.csv");
    Ok(Artifact::new(
        file,
        "text/csv; charset=utf-8; header=present",
        table,
    ))
}

#[cfg(test)]
mod tests;
