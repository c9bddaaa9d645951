//! Which package may depend on which. The layers are the architecture: an unwanted dependency is
//! easier to refuse than to remove later.

use super::Finding;
use crate::metadata::{Dependency, Metadata, Package};

/// The parts that never see each other.
const PARTS: &[&str] = &["runtime", "pods", "decode", "flash"];

/// The packages that join them: the server, and its work with devices.
const JOINTS: &[&str] = &["hostd", "lab"];

/// The crate that all handlers share.
const GUEST: &str = "guest";

/// What the guest crate may use besides the standard library.
const GUEST_MAY_USE: &[&str] = &["schemars", "serde", "serde_json", "wit-bindgen"];

/// What a handler may use. Other handlers are not on the list.
const HANDLER_MAY_USE: &[&str] = &[GUEST, "schemars", "serde", "serde_json"];

/// What plugins are written with.
const SDK: &str = "hostd-plugin";

/// What the crate of plugins may use, which others build on machines of their own.
const SDK_MAY_USE: &[&str] = &["schemars", "serde", "serde_json", "wit-bindgen"];

/// What a plugin of ours may use: what one of others can.
const PLUGIN_MAY_USE: &[&str] = &[SDK, "base64", "schemars", "serde", "serde_json"];

/// What a guest that serves only tests and benches may use. One of them does the same work behind
/// `wasi:http`, for comparison.
const TEST_GUEST_MAY_USE: &[&str] = &[
    GUEST,
    "guest-bench",
    SDK,
    "serde",
    "serde_json",
    "wasip2",
    "wit-bindgen",
];

/// A crate that only some packages may use.
struct Reserved {
    dependency: &'static str,
    owners: &'static [&'static str],
    /// Packages whose tests and benches may use it as well.
    testers: &'static [&'static str],
}

const RESERVED: &[Reserved] = &[
    Reserved {
        dependency: "nusb",
        owners: &["acquire", "parts", "pods", "usb-host"],
        testers: &[],
    },
    Reserved {
        dependency: "probe-rs",
        owners: &["flash", "vendor-probes"],
        testers: &["lab"],
    },
    Reserved {
        dependency: "gdbstub",
        owners: &["bridge"],
        testers: &[],
    },
    Reserved {
        dependency: "target-sim",
        owners: &["pod-sim"],
        testers: &["flash", "parts", "vendor-probes"],
    },
    Reserved {
        dependency: "pod-sim",
        owners: &["hostd"],
        testers: &["lab", "parts", "pods", "rig"],
    },
    Reserved {
        dependency: "tokio-rustls",
        owners: &["hostd", "pod-sim", "pods"],
        testers: &[],
    },
    Reserved {
        dependency: "redb",
        owners: &["store"],
        testers: &["tests"],
    },
    Reserved {
        dependency: "hyper",
        owners: &["hostd"],
        testers: &["tests"],
    },
    Reserved {
        dependency: "wasmtime",
        owners: &["hostd", "runtime", "virtual-wasi"],
        testers: &[],
    },
    Reserved {
        dependency: "serde-saphyr",
        owners: &["emi", "pipeline"],
        testers: &[],
    },
    Reserved {
        dependency: "seccompiler",
        owners: &["jail"],
        testers: &[],
    },
    Reserved {
        dependency: "ring",
        owners: &["vault"],
        testers: &[],
    },
    Reserved {
        dependency: "rayon",
        owners: &["decode", "emi"],
        testers: &[],
    },
];

/// Checks the dependencies of every package of the workspace.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata.members() {
        findings.extend(check_parts(package));
        findings.extend(check_reserved(package));
        findings.extend(check_guests(package));
    }
    findings
}

/// Only the joints know two parts; a part knows only itself.
fn check_parts(package: &Package) -> Option<Finding> {
    if JOINTS.contains(&package.name.as_str()) {
        return None;
    }
    let mut known: Vec<&str> = PARTS
        .iter()
        .copied()
        .filter(|part| {
            *part == package.name || package.dependencies.iter().any(|d| d.name == *part)
        })
        .collect();
    known.sort_unstable();
    (known.len() > 1).then(|| {
        Finding::violation(
            &package.name,
            format!(
                "knows {}; only {} may know two of them",
                known.join(" and "),
                JOINTS.join(" and ")
            ),
        )
    })
}

fn check_reserved(package: &Package) -> Vec<Finding> {
    let is_allowed = |reserved: &Reserved, dependency: &Dependency| {
        let may_test = dependency.is_dev && reserved.testers.contains(&package.name.as_str());
        may_test || reserved.owners.contains(&package.name.as_str())
    };
    let mut findings = Vec::new();
    for dependency in &package.dependencies {
        for reserved in RESERVED.iter().filter(|r| r.dependency == dependency.name) {
            if !is_allowed(reserved, dependency) {
                findings.push(Finding::violation(
                    &package.name,
                    format!(
                        "depends on {}, which only {} may use",
                        dependency.name,
                        reserved.owners.join(" and ")
                    ),
                ));
            }
        }
    }
    findings
}

/// Guests contain nothing of the host, and as little as possible of anything else.
fn check_guests(package: &Package) -> Vec<Finding> {
    let folder = package.folder.as_deref().unwrap_or_default();
    let allowed = if package.name == GUEST {
        GUEST_MAY_USE
    } else if package.name == SDK {
        SDK_MAY_USE
    } else if folder.starts_with("plugins/") {
        PLUGIN_MAY_USE
    } else if folder.starts_with("handlers/") && package.name.starts_with("handler-") {
        HANDLER_MAY_USE
    } else if folder.starts_with("runtime/guests/") {
        TEST_GUEST_MAY_USE
    } else {
        return Vec::new();
    };
    let foreign = package
        .dependencies
        .iter()
        .filter(|dependency| !dependency.is_dev && !allowed.contains(&dependency.name.as_str()));
    foreign
        .map(|dependency| {
            let may = allowed.join(", ");
            let message = format!("depends on {}; a guest may use only {may}", dependency.name);
            Finding::violation(&package.name, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &str, name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|text| Dependency {
                name: text.trim_start_matches("dev:").to_owned(),
                is_dev: text.starts_with("dev:"),
            })
            .collect();
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            licence: None,
            folder: Some(folder.to_owned()),
            dependencies,
            targets: Vec::new(),
        }
    }

    #[test]
    fn only_the_joint_knows_two_parts() {
        assert_eq!(
            check_parts(&package(
                "hostd",
                "hostd",
                &["runtime", "pods", "decode", "flash"]
            )),
            None
        );
        assert_eq!(check_parts(&package("tests", "tests", &["dev:pods"])), None);
        assert!(check_parts(&package("tests", "tests", &["dev:pods", "decode"])).is_some());
        let finding = check_parts(&package("hostd/pods", "pods", &["decode"])).unwrap();
        assert_eq!(
            finding.message,
            "knows decode and pods; only hostd and lab may know two of them"
        );
        assert!(check_parts(&package("hostd/flash", "flash", &["pods"])).is_some());
    }

    #[test]
    fn reserved_crates_stay_with_their_owners() {
        assert!(check_reserved(&package("hostd", "hostd", &["hyper", "wasmtime"])).is_empty());
        assert!(check_reserved(&package("hostd/store", "store", &["redb"])).is_empty());
        assert!(check_reserved(&package("tests", "tests", &["dev:hyper"])).is_empty());
        assert_eq!(
            check_reserved(&package("tests", "tests", &["hyper"])).len(),
            1
        );
        assert_eq!(
            check_reserved(&package("hostd", "hostd", &["nusb"])).len(),
            1
        );
        assert!(check_reserved(&package("hostd/flash", "flash", &["probe-rs"])).is_empty());
        assert_eq!(
            check_reserved(&package("hostd/pods", "pods", &["probe-rs"])).len(),
            1
        );
        let finding = check_reserved(&package("hostd/pods", "pods", &["wasmtime"])).remove(0);
        assert_eq!(
            finding.message,
            "depends on wasmtime, which only hostd and runtime and virtual-wasi may use"
        );
    }

    #[test]
    fn guests_use_only_what_guests_may() {
        let auth = |uses: &[&str]| check_guests(&package("handlers/auth", "handler-auth", uses));
        assert!(auth(&["guest", "serde", "dev:insta"]).is_empty());
        assert_eq!(auth(&["guest", "handler-devices"]).len(), 1);
        let plugin = |uses: &[&str]| check_guests(&package("plugins/x", "plugin-x", uses));
        assert!(plugin(&["hostd-plugin", "serde"]).is_empty());
        assert_eq!(plugin(&["hostd-plugin", "guest"]).len(), 1);
        assert_eq!(auth(&["tokio", "hostd"]).len(), 2);
        assert_eq!(
            check_guests(&package("handlers/guest", "guest", &["tokio"])).len(),
            1
        );
        assert_eq!(
            check_guests(&package("runtime/guests/x", "guest-x", &["wasmtime"])).len(),
            1
        );
        assert!(check_guests(&package("hostd", "hostd", &["tokio"])).is_empty());
    }
}
