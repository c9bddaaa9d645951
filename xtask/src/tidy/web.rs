//! What is committed of the web application was made of the sources that are committed: who has no Node.js sees it, too.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use super::repository::Repository;
use crate::web::{self, sources};

/// Checks `web/dist` against its sources.
pub(super) fn check(root: &Path, repository: &Repository) -> Result<Option<Finding>> {
    let paths = repository.paths.iter().map(String::as_str);
    let stale = sources::stale(root, paths)?;
    Ok(stale.map(|message| Finding::violation(format!("{}/dist", web::FOLDER), message)))
}
