//! Table of projects: what boards belong to.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{Counted, EmiError, Pairs, Range, Records, Source, Store, StoreError, Writing};
use crate::records::pair;

pub(super) const TABLE: &str = "emi_projects";

/// `org/id` to project; ids sort by time.
const PROJECTS: Records<Project> = Records::new(TABLE);

/// What a project's boards are made with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    #[default]
    Kicad,
    Gerber,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// ULID.
    pub id: String,
    pub org: String,
    pub name: String,
    pub source_kind: SourceKind,
    /// Id of the user whose credential made it.
    pub created_by: String,
    pub created_ms: u64,
}

/// One project of an organisation.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, org: &str, id: &str) -> Result<Option<Project>, StoreError> {
    PROJECTS.get(from, &pair(org, id))
}

/// Visit the projects of an organisation, newest first, from before `before` on, until `visit` breaks.
///
/// # Errors
/// The storage failed.
pub fn newest_first(
    from: &impl Source,
    org: &str,
    before: Option<&str>,
    mut visit: impl FnMut(Project) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let keys = Pairs::before(org, before);
    PROJECTS.each(from, keys.backwards(), |_, project| visit(project))
}

/// Visit all projects.
pub(super) fn each(from: &impl Source, mut visit: impl FnMut(Project)) -> Result<(), StoreError> {
    PROJECTS.each(from, Range::ALL, |_, project| {
        visit(project);
        ControlFlow::Continue(())
    })
}

pub(super) fn forget(w: &Writing<'_>, org: &str, id: &str) -> Result<bool, StoreError> {
    PROJECTS.remove(w, &pair(org, id))
}

impl Store {
    /// Add a project, if its organisation has fewer than `count_max`.
    ///
    /// # Errors
    /// It has as many, or the storage failed.
    pub async fn emi_project_add(&self, project: Project, count_max: u64) -> Result<(), EmiError> {
        self.write(move |w| {
            let mut count = 0;
            newest_first(w, &project.org, None, |_| {
                count += 1;
                ControlFlow::Continue(())
            })?;
            if count >= count_max {
                return Err(EmiError::TooMany {
                    what: Counted::Projects,
                    max: count_max,
                });
            }
            Ok(PROJECTS.put(w, &pair(&project.org, &project.id), &project)?)
        })
        .await
    }
}
