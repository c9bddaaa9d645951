//! Boards: uploaded files that are looked at.

use std::ops::ControlFlow;
use std::sync::Arc;

use base::id;
use serde_json::Map;
use store::StoreError;
use store::emi::boards::{self, Board, Room};
use store::emi::projects::{self, Project};
use store::emi::runs::{Kind, Run};
use store::emi::uploads;
use tracing::info;

use crate::error::Error;
use crate::link::GOOD_S;
use crate::page::{Filling, Listed, Page};
use crate::service::Analysis;
use crate::uploads::check_digest;

/// A board that was found by its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// The newest, one that was read if there is any.
    pub board: Board,
    /// Its project.
    pub project: Project,
    /// Whether it was read to the end.
    pub parsed: bool,
}

impl Analysis {
    /// Make a board of what was uploaded to a key, and queue the run that reads it.
    ///
    /// # Errors
    /// Nothing was uploaded, it is something else than was said, there is no room, or the store failed.
    pub async fn create_board(
        self: &Arc<Self>,
        org: &str,
        user: &str,
        project: &str,
        input_key: &str,
        sha256: Option<&str>,
    ) -> Result<(Board, Run), Error> {
        let made = self.make_board(org, user, project, input_key, sha256).await;
        self.counted(made)
    }

    async fn make_board(
        self: &Arc<Self>,
        org: &str,
        user: &str,
        project: &str,
        input_key: &str,
        sha256: Option<&str>,
    ) -> Result<(Board, Run), Error> {
        self.check_running()?;
        let sha256 = sha256.map(check_digest).transpose()?;
        self.project(org, project).await?;
        let key = input_key.to_owned();
        let upload = self.store.read(move |s| uploads::by_key(s, &key)).await?;
        let upload = upload.filter(|upload| upload.org == org && upload.project == project);
        let upload = upload.ok_or(Error::NotReceived)?;
        let file = upload.file.ok_or(Error::NotReceived)?;
        if sha256.is_some_and(|said| said != file.sha256) {
            return Err(Error::WrongDigest);
        }
        let now_ms = self.clock.now_ms();
        let id = id::ulid(&self.clock);
        let run = self.new_run(org, user, (project, &id), Kind::Ingest, Map::new());
        let board = Board {
            id,
            org: org.to_owned(),
            project: project.to_owned(),
            filename: upload.filename,
            file,
            ingest_run: run.id.clone(),
            facts: None,
            created_by: user.to_owned(),
            created_ms: now_ms,
        };
        let room = Room {
            boards_max: self.config.boards_max.into(),
            bytes_max: self.quota_bytes(),
            queue: self.queue(),
        };
        // Whoever lost the answer may ask once more; beyond that, the board keeps the bytes.
        let upload = (input_key, now_ms + GOOD_S * 1000);
        let turn = self.blobs.turn().await;
        if !self.is_there(&turn, &board.file) {
            return Err(Error::NotReceived);
        }
        let mut tasks = self.tasks.lock().await;
        let added = self
            .store
            .emi_board_add(board.clone(), run.clone(), room, upload)
            .await;
        drop(turn);
        added?;
        info!(board = board.id, run = run.id, "board added");
        self.attend(&mut tasks, &run);
        Ok((board, run))
    }

    /// Boards of a project, newest first.
    ///
    /// # Errors
    /// There is no such project, or the store failed.
    pub async fn boards(
        &self,
        org: &str,
        project: &str,
        page: Page,
    ) -> Result<Listed<Board>, Error> {
        let (org, project) = (org.to_owned(), project.to_owned());
        let read = self.store.read(move |s| {
            if projects::by_id(s, &org, &project)?.is_none() {
                return Ok(None);
            }
            let mut filling = Filling::new(&page);
            boards::newest_first(s, &org, page.cursor.as_deref(), |board| {
                match board.project == project {
                    true => filling.take(board),
                    false => ControlFlow::Continue(()),
                }
            })?;
            Ok::<_, StoreError>(Some(filling.end(|board| board.id.clone())))
        });
        read.await?.ok_or(Error::NotFound)
    }

    /// One board of an organisation.
    ///
    /// # Errors
    /// There is no such board, or the store failed.
    pub async fn board(&self, org: &str, id: &str) -> Result<Board, Error> {
        let (org, id) = (org.to_owned(), id.to_owned());
        let read = self.store.read(move |s| boards::by_id(s, &org, &id));
        read.await?.ok_or(Error::NotFound)
    }

    /// Delete a board with its runs and files. Runs that are under way are stopped.
    ///
    /// # Errors
    /// There is no such board, or the store failed.
    pub async fn delete_board(&self, org: &str, id: &str) -> Result<(), Error> {
        let unfinished = self.store.emi_board_delete(org, id).await?;
        unfinished.iter().for_each(|run| self.attended.stop(run));
        info!(board = id, "board deleted");
        self.sweep().await
    }

    /// The newest board of an organisation with these bytes; one that was read goes before.
    ///
    /// # Errors
    /// The digest is none, or the store failed.
    pub async fn lookup(&self, org: &str, sha256: &str) -> Result<Option<Lookup>, Error> {
        let (org, sha256) = (org.to_owned(), check_digest(sha256)?);
        let read = self.store.read(move |s| {
            let mut found: Option<Board> = None;
            boards::newest_first(s, &org, None, |board| {
                if board.file.sha256 != sha256 {
                    return ControlFlow::Continue(());
                }
                let is_read = board.facts.is_some();
                if is_read || found.is_none() {
                    found = Some(board);
                }
                match is_read {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            let Some(board) = found else { return Ok(None) };
            let project = projects::by_id(s, &org, &board.project)?;
            Ok::<_, StoreError>(project.map(|project| Lookup {
                parsed: board.facts.is_some(),
                board,
                project,
            }))
        });
        Ok(read.await?)
    }
}
