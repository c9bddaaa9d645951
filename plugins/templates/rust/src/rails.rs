//! Asks the devices, and keeps the one setting.

use hostd_plugin::{Error, config, devices, power, store};

use crate::wire::{Rail, Report, Skipped, WARN_MAX, WARN_MIN, Warning};

/// Where the setting is kept, and its name in the configuration and in bodies.
const KEY: &str = "warn_milliamperes";

/// The current in mA above which a rail is marked: what was stored, else what the operator configured.
pub fn warning() -> Result<i64, Error> {
    if let Some(entry) = store::get(KEY)? {
        let stored = String::from_utf8_lossy(&entry.value).parse();
        return stored.map_err(|_| Error::new("internal", "the stored setting is no number"));
    }
    Ok(config::get::<Warning>()?.warn_milliamperes)
}

/// Store what a body says.
pub fn set_warning(asked: &Warning) -> Result<(), Error> {
    let value = asked.warn_milliamperes;
    if !(WARN_MIN..=WARN_MAX).contains(&value) {
        let rule = format!("{KEY} must be a number from {WARN_MIN} to {WARN_MAX}");
        return Err(Error::invalid(rule));
    }
    store::put(KEY, value.to_string().as_bytes())?;
    Ok(())
}

/// Ask every device.
pub fn report(warn_milliamperes: i64) -> Result<Report, Error> {
    let mut report = Report {
        warn_milliamperes,
        rails: Vec::new(),
        skipped: Vec::new(),
    };
    for device in devices::list()? {
        let name = device.name();
        match power::rails(&device.id()) {
            Ok(rails) => report.rails.extend(rails.into_iter().map(|rail| Rail {
                device: name.clone(),
                rail: rail.id,
                on: rail.on,
                millivolts: rail.millivolts,
                microamperes: rail.microamperes,
                high: rail.microamperes.is_some_and(|drawn| drawn > warn_milliamperes * 1000),
            })),
            Err(error) => report.skipped.push(Skipped {
                device: name,
                code: error.code,
            }),
        }
    }
    Ok(report)
}
