//! Which blobs any record refers to.

use std::collections::HashSet;

use super::snapshot::Source;
use super::{StoreError, builds, emi, jobs, waveforms};

/// SHA-256 of every blob that is in use.
///
/// # Errors
/// The storage failed.
pub fn wanted(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = builds::blobs(from)?;
    found.extend(emi::blobs(from)?);
    found.extend(jobs::blobs(from)?);
    found.extend(waveforms::blobs(from)?);
    Ok(found)
}
