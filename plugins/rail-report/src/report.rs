//! Takes the report, and writes it as a table.

use std::fmt::Write;

use hostd_plugin::{Error, clock, config, devices, power};
use serde::Deserialize;

use crate::answer::{Report, Row, Skipped};
use crate::peak;

/// What the operator may set.
#[derive(Debug, Deserialize)]
struct Config {
    warn_milliamperes: i64,
}

/// Ask every device.
pub(crate) fn take() -> Result<Report, Error> {
    let config: Config = config::get()?;
    let mut report = Report {
        at_ms: clock::now(),
        rails: Vec::new(),
        skipped: Vec::new(),
    };
    for device in devices::list()? {
        let (id, name) = (device.id(), device.name());
        match power::rails(&id) {
            Ok(rails) => {
                for rail in rails {
                    report.rails.push(row(&config, &id, &name, &rail)?);
                }
            }
            Err(error) => report.skipped.push(Skipped {
                device: name,
                code: error.code,
                reason: error.message,
            }),
        }
    }
    Ok(report)
}

fn row(config: &Config, id: &str, name: &str, rail: &power::Rail) -> Result<Row, Error> {
    let peak = rail
        .microamperes
        .map(|current| peak::raise(id, rail.id, current));
    let watts = |(millivolts, microamperes): (i64, i64)| millivolts * microamperes / 1000;
    Ok(Row {
        device: name.to_owned(),
        rail: rail.id,
        on: rail.on,
        fault: rail.fault,
        millivolts: rail.millivolts,
        microamperes: rail.microamperes,
        microwatts: rail.millivolts.zip(rail.microamperes).map(watts),
        peak_microamperes: peak.transpose()?,
        high: rail
            .microamperes
            .is_some_and(|current| current > config.warn_milliamperes * 1000),
    })
}

impl Report {
    /// One line a rail.
    pub(crate) fn csv(&self) -> String {
        let mut text =
            "device,rail,on,fault,millivolts,microamperes,microwatts,peak_microamperes,high\n"
                .to_owned();
        let number = |value: Option<i64>| value.map(|v| v.to_string()).unwrap_or_default();
        for row in &self.rails {
            // Names of devices have neither commas nor quotes.
            let line = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{}",
                row.device,
                row.rail,
                row.on,
                row.fault,
                number(row.millivolts),
                number(row.microamperes),
                number(row.microwatts),
                number(row.peak_microamperes),
                row.high
            );
            line.expect("a text takes every line");
        }
        text
    }
}
