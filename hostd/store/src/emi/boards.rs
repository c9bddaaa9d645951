//! Table of boards: files that were uploaded to be looked at.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::runs::{self, Queue, Run};
use super::{
    Counted, EmiError, File, Pairs, Range, Records, Source, Store, StoreError, Writing, admit,
    projects, uploads,
};
use crate::records::pair;

pub(super) const TABLE: &str = "emi_boards";

/// `org/id` to board; ids sort by time.
const BOARDS: Records<Board> = Records::new(TABLE);

/// A board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Board {
    /// ULID.
    pub id: String,
    pub org: String,
    pub project: String,
    pub filename: String,
    pub file: File,
    /// The run that reads it.
    pub ingest_run: String,
    /// None until that is done.
    pub facts: Option<Facts>,
    /// Id of the user whose credential made it.
    pub created_by: String,
    pub created_ms: u64,
}

/// What was read of a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Copper layers.
    pub layer_count: u32,
    pub net_count: u32,
    /// Width and height of the outline's bounds; none if it has no outline.
    pub outline_mm: Option<[f64; 2]>,
    /// Its sheets from the top.
    pub stackup: Vec<Value>,
}

/// What an organisation may have of boards and of what they keep.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub boards_max: u64,
    pub bytes_max: u64,
    pub queue: Queue,
}

/// One board of an organisation.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, org: &str, id: &str) -> Result<Option<Board>, StoreError> {
    BOARDS.get(from, &pair(org, id))
}

/// Visit the boards of an organisation, newest first, from before `before` on, until `visit` breaks.
///
/// # Errors
/// The storage failed.
pub fn newest_first(
    from: &impl Source,
    org: &str,
    before: Option<&str>,
    mut visit: impl FnMut(Board) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let keys = Pairs::before(org, before);
    BOARDS.each(from, keys.backwards(), |_, board| visit(board))
}

/// Visit all boards.
pub(super) fn each(from: &impl Source, mut visit: impl FnMut(Board)) -> Result<(), StoreError> {
    BOARDS.each(from, Range::ALL, |_, board| {
        visit(board);
        ControlFlow::Continue(())
    })
}

pub(super) fn blobs(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = HashSet::new();
    each(from, |board| {
        found.insert(board.file.sha256);
    })?;
    Ok(found)
}

/// Forget those of an organisation that fit.
pub(super) fn forget_where(
    w: &Writing<'_>,
    org: &str,
    mut fits: impl FnMut(&Board) -> bool,
) -> Result<(), StoreError> {
    let mut ids = Vec::new();
    newest_first(w, org, None, |board| {
        if fits(&board) {
            ids.push(board.id);
        }
        ControlFlow::Continue(())
    })?;
    for id in &ids {
        BOARDS.remove(w, &pair(org, id))?;
    }
    Ok(())
}

/// Note what was read of a board.
pub(super) fn learn(w: &Writing<'_>, run: &Run, facts: &Facts) -> Result<(), StoreError> {
    let key = pair(&run.org, &run.board);
    if let Some(mut board) = BOARDS.get(w, &key)? {
        board.facts = Some(facts.clone());
        BOARDS.put(w, &key, &board)?;
    }
    Ok(())
}

impl Store {
    /// Add a board and the run that reads it. `upload` is the key of what it is made of, and until when that is kept from
    /// then on.
    ///
    /// # Errors
    /// Its project is not there, there is no room, or the storage failed.
    pub async fn emi_board_add(
        &self,
        board: Board,
        ingest: Run,
        room: Room,
        upload: (&str, u64),
    ) -> Result<(), EmiError> {
        let (key, until_ms) = (upload.0.to_owned(), upload.1);
        self.write(move |w| {
            projects::by_id(w, &board.org, &board.project)?.ok_or(EmiError::NotFound)?;
            let mut count = 0;
            newest_first(w, &board.org, None, |_| {
                count += 1;
                ControlFlow::Continue(())
            })?;
            if count >= room.boards_max {
                return Err(EmiError::TooMany {
                    what: Counted::Boards,
                    max: room.boards_max,
                });
            }
            admit(w, &board.org, [&board.file].into_iter(), room.bytes_max)?;
            runs::line_up(w, &ingest, room.queue)?;
            uploads::spend(w, &key, until_ms)?;
            Ok(BOARDS.put(w, &pair(&board.org, &board.id), &board)?)
        })
        .await
    }
}
