//! Projects: what boards belong to.

use base::id;
use store::StoreError;
use store::emi::projects::{self, Project, SourceKind};
use tracing::info;

use crate::error::Error;
use crate::page::{Filling, Listed, Page};
use crate::service::Analysis;

/// Longest name of a project or file, in characters.
pub(crate) const NAME_MAX: usize = 200;

impl Analysis {
    /// Make a project of an organisation.
    ///
    /// # Errors
    /// The name is none, there are too many, or the store failed.
    pub async fn create_project(
        &self,
        org: &str,
        user: &str,
        name: &str,
        source_kind: SourceKind,
    ) -> Result<Project, Error> {
        let project = Project {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            name: check_name("name", name)?,
            source_kind,
            created_by: user.to_owned(),
            created_ms: self.clock.now_ms(),
        };
        let count_max = self.config.projects_max.into();
        let added = self.store.emi_project_add(project.clone(), count_max).await;
        self.counted(added.map_err(Error::from))?;
        Ok(project)
    }

    /// Projects of an organisation, newest first.
    ///
    /// # Errors
    /// The store failed.
    pub async fn projects(&self, org: &str, page: Page) -> Result<Listed<Project>, Error> {
        let org = org.to_owned();
        let read = self.store.read(move |s| {
            let mut filling = Filling::new(&page);
            projects::newest_first(s, &org, page.cursor.as_deref(), |project| {
                filling.take(project)
            })?;
            Ok::<_, StoreError>(filling.end(|project| project.id.clone()))
        });
        Ok(read.await?)
    }

    /// One of them.
    ///
    /// # Errors
    /// There is no such project, or the store failed.
    pub async fn project(&self, org: &str, id: &str) -> Result<Project, Error> {
        let (org, id) = (org.to_owned(), id.to_owned());
        let read = self.store.read(move |s| projects::by_id(s, &org, &id));
        read.await?.ok_or(Error::NotFound)
    }

    /// Delete a project with its boards, runs and files. Runs that are under way are stopped.
    ///
    /// # Errors
    /// There is no such project, or the store failed.
    pub async fn delete_project(&self, org: &str, id: &str) -> Result<(), Error> {
        let unfinished = self.store.emi_project_delete(org, id).await?;
        unfinished.iter().for_each(|run| self.attended.stop(run));
        info!(project = id, "project of boards deleted");
        self.sweep().await
    }
}

/// A text of one line that is short enough.
pub(crate) fn check_name(field: &'static str, name: &str) -> Result<String, Error> {
    let name = name.trim();
    let is_good = (1..=NAME_MAX).contains(&name.chars().count());
    if !is_good || name.chars().any(char::is_control) {
        return Err(Error::invalid(
            field,
            format!("must be 1 to {NAME_MAX} characters without control characters"),
        ));
    }
    Ok(name.to_owned())
}
