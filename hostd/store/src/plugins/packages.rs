//! Table of packages: what a version of a plugin is made of. The component is a file, named by its digest.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Plugin;
use crate::records::{Records, pair};
use crate::snapshot::Source;
use crate::{StoreError, Writing};

pub(super) const TABLE: &str = "plugin_packages";

/// `plugin/digest` to package.
const PACKAGES: Records<Package> = Records::new(TABLE);

/// A version of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    pub plugin: String,
    /// SHA-256 of manifest and component, hexadecimal.
    pub digest: String,
    /// As the manifest says.
    pub version: String,
    /// Text of the manifest.
    pub manifest: String,
    /// SHA-256 of the component, hexadecimal: the name of its file.
    pub component: String,
    pub component_bytes: u64,
    /// Id of the key that it is signed with; none if it is not.
    pub signed_by: Option<String>,
    /// Who installed it, and when.
    pub by: String,
    pub at_ms: u64,
}

/// A package of a plugin.
///
/// # Errors
/// The storage failed, or the record cannot be read.
pub fn package(
    from: &impl Source,
    plugin: &str,
    digest: &str,
) -> Result<Option<Package>, StoreError> {
    PACKAGES.get(from, &pair(plugin, digest))
}

/// All packages of a plugin.
///
/// # Errors
/// The storage failed, or a record cannot be read.
pub fn packages_of(from: &impl Source, plugin: &str) -> Result<Vec<Package>, StoreError> {
    PACKAGES.all_of(from, plugin)
}

/// The components of all packages: the names of the files that must be kept.
///
/// # Errors
/// The storage failed, or a record cannot be read.
pub fn components(from: &impl Source) -> Result<BTreeSet<String>, StoreError> {
    let packages = PACKAGES.all(from)?.into_iter();
    Ok(packages.map(|package| package.component).collect())
}

pub(super) fn put(w: &Writing<'_>, package: &Package) -> Result<(), StoreError> {
    PACKAGES.put(w, &pair(&package.plugin, &package.digest), package)
}

/// Forgets the packages of versions that a plugin does not keep.
pub(super) fn forget_others(w: &Writing<'_>, plugin: &Plugin) -> Result<(), StoreError> {
    for package in packages_of(w, &plugin.id)? {
        if !plugin.versions().any(|kept| kept == package.digest) {
            PACKAGES.remove(w, &pair(&plugin.id, &package.digest))?;
        }
    }
    Ok(())
}

pub(super) fn forget_all(w: &Writing<'_>, plugin: &str) -> Result<(), StoreError> {
    for package in packages_of(w, plugin)? {
        PACKAGES.remove(w, &pair(plugin, &package.digest))?;
    }
    Ok(())
}
