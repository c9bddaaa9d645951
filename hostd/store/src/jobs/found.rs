//! A job as it was found: one whose record this version cannot read is no reason to do without the others.

use std::sync::Arc;

use serde_json::Value;

use super::super::StoreError;
use super::super::records::Read;
use super::super::snapshot::Source;
use super::{JOBS, Job};

/// Letters of a SHA-256.
const DIGEST_CHARS: usize = 64;

/// What is stored of a job.
#[derive(Debug, Clone)]
pub enum Found {
    /// Whole.
    Job(Box<Job>),
    /// Written by another version, or damaged.
    Unreadable(Unreadable),
}

/// A job that cannot be read as one.
#[derive(Debug, Clone)]
pub struct Unreadable {
    pub id: String,
    pub org: String,
    /// What is stored; null if that is no JSON.
    pub stored: Value,
    /// Its size.
    pub bytes: u64,
    pub error: Arc<serde_json::Error>,
}

impl Found {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Job(job) => &job.id,
            Self::Unreadable(job) => &job.id,
        }
    }

    /// The job, if it is whole.
    #[must_use]
    pub fn job(&self) -> Option<&Job> {
        match self {
            Self::Job(job) => Some(job),
            Self::Unreadable(_) => None,
        }
    }

    pub(super) fn of<B: AsRef<[u8]>>(key: &str, read: Read<Job, B>) -> Self {
        let (error, bytes) = match read {
            Ok(job) => return Self::Job(Box::new(job)),
            Err((error, bytes)) => (error, bytes),
        };
        let bytes = bytes.as_ref();
        let (org, id) = key.split_once('/').unwrap_or(("", key));
        Self::Unreadable(Unreadable {
            id: id.to_owned(),
            org: org.to_owned(),
            stored: serde_json::from_slice(bytes).unwrap_or_default(),
            bytes: bytes.len() as u64,
            error: error.into(),
        })
    }
}

impl Unreadable {
    /// What looks like a blob that it refers to.
    pub(super) fn blobs(&self) -> Vec<String> {
        let mut found = Vec::new();
        digests(&self.stored, &mut found);
        found
    }
}

pub(super) fn get(from: &impl Source, key: &str) -> Result<Option<Found>, StoreError> {
    let read = JOBS.get_found(from, key)?;
    Ok(read.map(|read| Found::of(key, read)))
}

/// All members that are called `sha256` and look like one, however deep.
fn digests(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| digests(item, found)),
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_str().filter(|_| name == "sha256") {
                    Some(text) if is_digest(text) => found.push(text.to_owned()),
                    _ => digests(member, found),
                }
            }
        }
        _ => {}
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
