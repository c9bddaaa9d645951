//! Which licences a dependency may have: those that allow a binary to be passed on under our own
//! terms, with no more duty than naming the authors.

use super::{Finding, spdx};
use crate::metadata::Metadata;

/// Terms as SPDX writes them; an exception is part of the term.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // The certificate authorities' list, as data.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages under terms that are not allowed in general, and why they may be used. The terms are stated so that a
/// change of them is noticed.
const EXCEPTIONS: &[Exception] = &[Exception {
    // probe-rs cannot be built without it. Its terms concern its own files only, which are used
    // unchanged and are public.
    package: "serialport",
    licence: "MPL-2.0",
}];

struct Exception {
    package: &'static str,
    licence: &'static str,
}

/// What every package of this workspace says of itself.
const OURS: &str = "Apache-2.0 OR MIT";

/// Checks every package that a build on any platform could use.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    metadata
        .packages
        .iter()
        .filter_map(|package| {
            let place = format!("{} {}", package.name, package.version);
            let licence = package.licence.as_deref();
            let is_ours = package.folder.is_some();
            if is_exception(&package.name, licence) {
                return None;
            }
            refusal(licence, is_ours).map(|message| Finding::violation(place, message))
        })
        .collect()
}

fn is_exception(package: &str, licence: Option<&str>) -> bool {
    let mut exceptions = EXCEPTIONS.iter();
    exceptions.any(|known| known.package == package && Some(known.licence) == licence)
}

/// Why a package with this licence may not be used.
fn refusal(licence: Option<&str>, is_ours: bool) -> Option<String> {
    let Some(licence) = licence else {
        return Some("names no licence; find out what its terms are or use another".to_owned());
    };
    if is_ours {
        return (licence != OURS)
            .then(|| format!("is under `{licence}`; write `license.workspace = true`"));
    }
    match spdx::is_satisfied(licence, &|term| ALLOWED.contains(&term)) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "is under `{licence}`, which is not among the allowed terms"
        )),
        Err(error) => Some(format!("has a licence that cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissive_terms_pass_and_others_do_not() {
        assert_eq!(
            refusal(Some("(MIT OR Apache-2.0) AND Unicode-3.0"), false),
            None
        );
        assert_eq!(refusal(Some("MIT OR LGPL-2.1-or-later"), false), None);
        assert!(
            refusal(Some("GPL-3.0-only"), false)
                .unwrap()
                .contains("not among")
        );
        assert!(
            refusal(Some("MIT AND GPL-3.0-only"), false)
                .unwrap()
                .contains("not among")
        );
        assert!(
            refusal(Some("MIT OR"), false)
                .unwrap()
                .contains("cannot be read")
        );
        assert!(refusal(None, false).unwrap().contains("names no licence"));
    }

    #[test]
    fn an_exception_stands_for_one_package_and_its_terms() {
        assert!(is_exception("serialport", Some("MPL-2.0")));
        assert!(!is_exception("serialport", Some("GPL-3.0-only")));
        assert!(!is_exception("other", Some("MPL-2.0")));
        assert!(!is_exception("serialport", None));
    }

    #[test]
    fn our_own_packages_carry_our_own_terms() {
        assert_eq!(refusal(Some("Apache-2.0 OR MIT"), true), None);
        assert!(refusal(Some("MIT"), true).is_some());
    }
}
