//! Uploads: a key that bytes may come to without a credential, whoever sends them, and the bytes.

use std::sync::Arc;

use base::id;
use blobs::{Blobs, Staged, Turn};
use store::StoreError;
use store::emi::uploads::{self, Upload};
use store::emi::{File, boards};
use tracing::info;

use crate::artifact;
use crate::error::Error;
use crate::link::{For, GOOD_S, Signed};
use crate::projects::check_name;
use crate::service::Analysis;

/// Characters of a key: 190 bits.
const KEY_LEN: usize = 32;

/// Uploads of one organisation that are kept at once.
const PER_ORG_MAX: u64 = 200;

/// How long what has come waits to become a board.
const KEPT_MS: u64 = 24 * 3_600_000;

/// What files are when nobody says.
const TYPE: &str = "application/octet-stream";

/// What is to be uploaded.
#[derive(Debug, Clone, Default)]
pub struct NewUpload {
    /// Name of the file, without folders.
    pub filename: String,
    /// Lower-case hexadecimal.
    pub sha256: Option<String>,
    /// Media type.
    pub content_type: Option<String>,
    /// How many bytes.
    pub size_bytes: Option<u64>,
}

/// Where it goes.
#[derive(Debug, Clone)]
pub struct Begun {
    /// What it is called from now on.
    pub key: String,
    /// Whether the bytes are there.
    pub already_uploaded: bool,
    /// Media type.
    pub content_type: String,
    /// How long the address is good, in seconds.
    pub expires_in_s: u64,
    /// What goes into the address; none if the bytes are there.
    pub signed: Option<Signed>,
}

/// Who asked for an address, and how much may come to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The organisation.
    pub org: String,
    /// The user's id.
    pub user: String,
    /// How many bytes.
    pub bytes_max: u64,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Lower-case hexadecimal.
    pub sha256: String,
    /// How many bytes.
    pub size_bytes: u64,
}

impl Analysis {
    /// Make a key for an upload. Bytes that the organisation has already need not come again.
    ///
    /// # Errors
    /// A value is none, there is no such project, there are too many uploads, or the store failed.
    pub async fn begin_upload(
        &self,
        org: &str,
        user: &str,
        project: &str,
        new: NewUpload,
    ) -> Result<Begun, Error> {
        let begun = self.begin(org, user, project, new).await;
        self.counted(begun)
    }

    async fn begin(
        &self,
        org: &str,
        user: &str,
        project: &str,
        new: NewUpload,
    ) -> Result<Begun, Error> {
        let filename = check_name("filename", &new.filename)?;
        let sha256 = new.sha256.as_deref().map(check_digest).transpose()?;
        let content_type = new.content_type.unwrap_or_else(|| TYPE.to_owned());
        if !artifact::is_type(&content_type) {
            return Err(Error::invalid("content_type", "must be a media type"));
        }
        let max = self.upload_bytes_max();
        if new.size_bytes.is_some_and(|bytes| bytes > max) {
            return Err(Error::TooLarge { max });
        }
        let file = match &sha256 {
            Some(sha256) => self.there(org, sha256).await?,
            None => None,
        };
        let now_ms = self.clock.now_ms();
        // Until the reference is stored, the bytes that it is to could go.
        let turn = self.blobs.turn().await;
        let file = file.filter(|file| self.is_there(&turn, file));
        let (is_there, kept_ms) = match file {
            Some(_) => (true, KEPT_MS),
            // Bytes may be on their way when the address has expired.
            None => (false, (GOOD_S + self.arrival_s) * 1000),
        };
        let upload = Upload {
            key: id::base62(KEY_LEN),
            org: org.to_owned(),
            project: project.to_owned(),
            user: user.to_owned(),
            filename,
            content_type: content_type.clone(),
            sha256,
            size_bytes: new.size_bytes,
            file,
            created_ms: now_ms,
            kept_until_ms: now_ms + kept_ms,
        };
        let key = upload.key.clone();
        self.store.emi_upload_add(upload, PER_ORG_MAX).await?;
        drop(turn);
        let signed = (!is_there).then(|| self.signer.sign(For::Put { key: &key }));
        Ok(Begun {
            key,
            already_uploaded: is_there,
            content_type,
            expires_in_s: GOOD_S,
            signed,
        })
    }

    /// Whether bytes may come to a key, from whoever shows the signature of its address.
    ///
    /// # Errors
    /// The signature is wrong, the key is not kept any more, or the store failed.
    pub async fn admit(&self, key: &str, signed: &Signed) -> Result<Admitted, Error> {
        self.admit_late(key, signed, 0).await
    }

    /// The same for bytes that have come since they were admitted, whose address may have expired meanwhile.
    ///
    /// # Errors
    /// The signature is wrong, its time is over for longer than bytes may take, the key is not kept any more, or the store
    /// failed.
    pub async fn admit_arrived(&self, key: &str, signed: &Signed) -> Result<Admitted, Error> {
        self.admit_late(key, signed, self.arrival_s).await
    }

    async fn admit_late(&self, key: &str, signed: &Signed, late_s: u64) -> Result<Admitted, Error> {
        let upload = self.signed_upload(key, signed, late_s).await;
        let upload = self.counted(upload)?;
        let max = self.upload_bytes_max();
        Ok(Admitted {
            bytes_max: upload.size_bytes.map_or(max, |bytes| bytes.min(max)),
            org: upload.org,
            user: upload.user,
        })
    }

    /// Keep what has come to a key. The same bytes once more change nothing, others replace them. The address may have expired
    /// while they came.
    ///
    /// # Errors
    /// The signature is wrong, its time is over for longer than bytes may take, the bytes are not those that were said, there
    /// is no room, or disk or store fail.
    pub async fn keep(
        &self,
        key: &str,
        signed: &Signed,
        staged: &Staged,
    ) -> Result<Received, Error> {
        let kept = self.keep_signed(key, signed, staged).await;
        self.counted(kept)
    }

    async fn keep_signed(
        &self,
        key: &str,
        signed: &Signed,
        staged: &Staged,
    ) -> Result<Received, Error> {
        let upload = self.signed_upload(key, signed, self.arrival_s).await?;
        let max = self.upload_bytes_max();
        if staged.size_bytes() > max {
            return Err(Error::TooLarge { max });
        }
        let is_other = |said: &String| said != staged.sha256();
        if upload.sha256.as_ref().is_some_and(is_other) {
            return Err(Error::WrongDigest);
        }
        let file = File {
            sha256: staged.sha256().to_owned(),
            size_bytes: staged.size_bytes(),
        };
        let turn = self.blobs.turn().await;
        keep(&self.blobs, &turn, staged)?;
        let until_ms = self.clock.now_ms() + KEPT_MS;
        let quota = self.quota_bytes();
        let received = self
            .store
            .emi_upload_received(key, file.clone(), until_ms, quota);
        received.await?;
        drop(turn);
        info!(org = upload.org, bytes = file.size_bytes, "board uploaded");
        Ok(Received {
            sha256: file.sha256,
            size_bytes: file.size_bytes,
        })
    }

    async fn signed_upload(
        &self,
        key: &str,
        signed: &Signed,
        late_s: u64,
    ) -> Result<Upload, Error> {
        self.signer.check_late(For::Put { key }, signed, late_s)?;
        let key = key.to_owned();
        let upload = self.store.read(move |s| uploads::by_key(s, &key));
        upload.await?.ok_or(Error::NotFound)
    }

    /// Bytes with this digest that a board or an upload of the organisation has.
    async fn there(&self, org: &str, sha256: &str) -> Result<Option<File>, StoreError> {
        let (org, sha256) = (org.to_owned(), sha256.to_owned());
        let read = self.store.read(move |s| {
            let mut found = None;
            boards::newest_first(s, &org, None, |board| {
                if board.file.sha256 != sha256 {
                    return std::ops::ControlFlow::Continue(());
                }
                found = Some(board.file);
                std::ops::ControlFlow::Break(())
            })?;
            uploads::each(s, |upload| {
                let file = upload.file.filter(|_| upload.org == org);
                if let Some(file) = file.filter(|file| file.sha256 == sha256) {
                    found = Some(file);
                }
            })?;
            Ok::<_, StoreError>(found)
        });
        read.await
    }

    /// Whether a blob is still there.
    pub(crate) fn is_there(&self, _turn: &Turn<'_>, file: &File) -> bool {
        self.blobs.path(&file.sha256).is_file()
    }
}

/// Move a staged file into place.
pub(crate) fn keep(blobs: &Arc<Blobs>, turn: &Turn<'_>, staged: &Staged) -> Result<(), Error> {
    let kept = blobs.keep(turn, staged);
    kept.map_err(|source| Error::Blob {
        path: blobs.path(staged.sha256()),
        source,
    })
}

/// A SHA-256 in lower-case hexadecimal.
pub(crate) fn check_digest(text: &str) -> Result<String, Error> {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    if text.len() == 64 && text.bytes().all(is_digit) {
        return Ok(text.to_owned());
    }
    Err(Error::invalid(
        "sha256",
        "must be 64 lower-case hexadecimal digits",
    ))
}
