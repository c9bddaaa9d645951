//! The published contract, as it is built in.

use plugins::manifest::Api;

/// Version of the package `hostd:plugin` that this server offers.
pub const VERSION: &str = "1.0.0";

/// The same, as manifests name what they need.
pub const API: Api = Api { major: 1, minor: 0 };

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../wit/plugin/", $name)))),*]
    };
}

/// The files of the package, by name.
pub const FILES: &[(&str, &str)] = files![
    "captures.wit",
    "clock.wit",
    "config.wit",
    "decoding.wit",
    "devices.wit",
    "events.wit",
    "http-out.wit",
    "http.wit",
    "jobs.wit",
    "log.wit",
    "notify.wit",
    "power.wit",
    "random.wit",
    "reports.wit",
    "secrets.wit",
    "store.wit",
    "types.wit",
    "worlds.wit",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_the_contract_is_built_in_and_names_the_version() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/plugin");
        let there: BTreeSet<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let built_in: BTreeSet<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(built_in, there);
        for (name, text) in FILES {
            assert!(
                text.contains(&format!("package hostd:plugin@{VERSION};")),
                "{name}"
            );
        }
    }
}
