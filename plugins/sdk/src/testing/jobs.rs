//! The double's jobs.

use serde_json::Value;

use super::Double;
use crate::Error;

/// A job of the double.
#[derive(Debug, Clone, Default)]
pub struct Job {
    pub id: String,
    pub json: Value,
    pub log: Vec<String>,
}

impl Job {
    pub(crate) fn tail(&self, limit: u32) -> Vec<String> {
        let limit = limit.clamp(1, 1000) as usize;
        self.log[self.log.len().saturating_sub(limit)..].to_vec()
    }
}

impl Double {
    pub(crate) fn job(&self, id: &str) -> Result<&Job, Error> {
        let found = self.jobs.iter().find(|job| job.id == id);
        found.ok_or_else(|| Error::new("not_found", format!("the double has no job {id}")))
    }
}
