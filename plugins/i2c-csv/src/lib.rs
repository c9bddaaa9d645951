//! The I²C transactions of a capture as a table: one line for each address that is sent, with its bytes and who
//! acknowledged what. Who asks gets it as a file; with a mail gateway it is mailed when a capture is done.
//!
//! ```text
//!                                                         ┌─ render ─> who asks
//! captures::decode ─ annotations ─> transactions ─> table ┤
//!                                                         └─ on_event ─> mail ─> gateway
//! ```

use hostd_plugin::{Artifact, Error, Options, Report, Subject};

mod bus;
mod csv;
mod gateway;
mod mail;
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
hostd_plugin::subscriber!(mail::on_event);

fn render(subject: &Subject, options: &Options) -> Result<Artifact, Error> {
    let table = table::of(&subject.id, options.get("scl"), options.get("sda"))?;
    let name = subject.json["name"].as_str().unwrap_or(&subject.id);
    let file = format!("{name}-i2c.csv");
    Ok(Artifact::new(file, table::MEDIA_TYPE, table.text))
}

#[cfg(test)]
mod tests;
