//! Table of uploads: keys under which bytes may come, and what came.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{
    Counted, EmiError, File, Range, Records, Source, Store, StoreError, Writing, admit, projects,
};

pub(super) const TABLE: &str = "emi_uploads";

/// Key to upload. Whoever knows a key and a signature for it is no organisation's caller.
const UPLOADS: Records<Upload> = Records::new(TABLE);

/// An upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// 32 random characters.
    pub key: String,
    pub org: String,
    pub project: String,
    /// Id of the user whose credential began it.
    pub user: String,
    pub filename: String,
    pub content_type: String,
    /// The digest that the bytes must have, if that was said.
    pub sha256: Option<String>,
    /// How many there are, if that was said.
    pub size_bytes: Option<u64>,
    /// What came.
    pub file: Option<File>,
    pub created_ms: u64,
    /// When it is forgotten, with its bytes if they are no board's.
    pub kept_until_ms: u64,
}

/// One upload.
///
/// # Errors
/// The storage failed.
pub fn by_key(from: &impl Source, key: &str) -> Result<Option<Upload>, StoreError> {
    UPLOADS.get(from, key)
}

/// Visit all uploads.
///
/// # Errors
/// The storage failed.
pub fn each(from: &impl Source, mut visit: impl FnMut(Upload)) -> Result<(), StoreError> {
    UPLOADS.each(from, Range::ALL, |_, upload| {
        visit(upload);
        ControlFlow::Continue(())
    })
}

pub(super) fn blobs(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = HashSet::new();
    each(from, |upload| {
        found.extend(upload.file.map(|file| file.sha256));
    })?;
    Ok(found)
}

/// Forget those that fit; how many.
pub(super) fn forget_where(
    w: &Writing<'_>,
    mut fits: impl FnMut(&Upload) -> bool,
) -> Result<usize, StoreError> {
    let mut keys = Vec::new();
    each(w, |upload| {
        if fits(&upload) {
            keys.push(upload.key);
        }
    })?;
    for key in &keys {
        UPLOADS.remove(w, key)?;
    }
    Ok(keys.len())
}

/// Note that a board was made of an upload: it is kept until `until_ms` at the longest, for whoever asks once more.
pub(super) fn spend(w: &Writing<'_>, key: &str, until_ms: u64) -> Result<(), StoreError> {
    if let Some(mut upload) = UPLOADS.get(w, key)? {
        upload.kept_until_ms = upload.kept_until_ms.min(until_ms);
        UPLOADS.put(w, key, &upload)?;
    }
    Ok(())
}

impl Store {
    /// Add an upload to a project, if its organisation has fewer than `count_max`. Those that are of no use any more at its
    /// time are forgotten first.
    ///
    /// # Errors
    /// There is no such project, it has as many, or the storage failed.
    pub async fn emi_upload_add(&self, upload: Upload, count_max: u64) -> Result<(), EmiError> {
        self.write(move |w| {
            projects::by_id(w, &upload.org, &upload.project)?.ok_or(EmiError::NotFound)?;
            let mut count = 0;
            forget_where(w, |old| {
                let is_old = old.kept_until_ms < upload.created_ms;
                count += u64::from(!is_old && old.org == upload.org);
                is_old
            })?;
            if count >= count_max {
                return Err(EmiError::TooMany {
                    what: Counted::Uploads,
                    max: count_max,
                });
            }
            Ok(UPLOADS.put(w, &upload.key, &upload)?)
        })
        .await
    }

    /// Note what came to a key, which replaces what came before, and until when it is kept.
    ///
    /// # Errors
    /// There is no such key, the organisation would keep more than `bytes_max`, or the storage failed.
    pub async fn emi_upload_received(
        &self,
        key: &str,
        file: File,
        kept_until_ms: u64,
        bytes_max: u64,
    ) -> Result<(), EmiError> {
        let key = key.to_owned();
        self.write(move |w| {
            let mut upload = UPLOADS.get(w, &key)?.ok_or(EmiError::NotFound)?;
            admit(w, &upload.org, [&file].into_iter(), bytes_max)?;
            upload.file = Some(file.clone());
            upload.kept_until_ms = kept_until_ms;
            Ok(UPLOADS.put(w, &key, &upload)?)
        })
        .await
    }
}
