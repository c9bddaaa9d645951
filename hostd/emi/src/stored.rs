//! A report as it was stored: `rules.json`, also of another version, which may know other rules.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::{Counts, Report, Summary};
use crate::finding::{Finding, Place, Severity};

/// Most bytes of a stored report. Ours have at most a tenth of that.
pub const STORED_BYTES_MAX: usize = 32 << 20;

/// Most findings of a stored report.
const FINDINGS_MAX: usize = 100_000;

/// A stored report.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Stored {
    /// Of its format; 1.
    pub format_version: u32,
    /// How many findings it has.
    pub summary: Summary,
    /// How many of each rule.
    #[serde(default)]
    pub rules: BTreeMap<String, Counts>,
    /// The worst first.
    pub findings: Vec<StoredFinding>,
    /// Rules that did not end before time was up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
}

/// A finding of a stored report; its members are those of [`Finding`].
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[expect(missing_docs, reason = "they are those of a finding")]
pub struct StoredFinding {
    pub id: String,
    pub fingerprint: String,
    pub severity: Severity,
    pub rule: String,
    pub title: String,
    pub detail: String,
    pub net: String,
    pub layer: String,
    pub x: f64,
    pub y: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
    pub at: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(default)]
    pub assumed: Vec<String>,
}

/// Why a stored report is none.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// It is too long.
    #[error("it has {bytes} bytes, more than {STORED_BYTES_MAX}")]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// It is something else.
    #[error("this is no rules.json: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is of a format that is not known.
    #[error("its format_version is {0}; 1 is known")]
    Version(u32),
    /// It has too much in it.
    #[error("it has {0} findings, more than {FINDINGS_MAX}")]
    TooMany(usize),
}

impl Stored {
    /// Reads `rules.json`.
    ///
    /// # Errors
    /// [`StoredError`] says what is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Self, StoredError> {
        if STORED_BYTES_MAX < bytes.len() {
            return Err(StoredError::TooLong { bytes: bytes.len() });
        }
        let stored: Self = serde_json::from_slice(bytes)?;
        if stored.format_version != 1 {
            return Err(StoredError::Version(stored.format_version));
        }
        if FINDINGS_MAX < stored.findings.len() {
            return Err(StoredError::TooMany(stored.findings.len()));
        }
        Ok(stored)
    }
}

impl From<&Report> for Stored {
    fn from(report: &Report) -> Self {
        let rules = report.rules.iter();
        Self {
            format_version: report.format_version,
            summary: report.summary,
            rules: rules
                .map(|(rule, counts)| ((*rule).to_owned(), *counts))
                .collect(),
            findings: report.findings.iter().map(StoredFinding::from).collect(),
            unfinished: report
                .unfinished
                .iter()
                .map(|id| (*id).to_owned())
                .collect(),
        }
    }
}

impl From<&Finding> for StoredFinding {
    fn from(finding: &Finding) -> Self {
        Self {
            id: finding.id.clone(),
            fingerprint: finding.fingerprint.clone(),
            severity: finding.severity,
            rule: finding.rule.to_owned(),
            title: finding.title.clone(),
            detail: finding.detail.clone(),
            net: finding.net.clone(),
            layer: finding.layer.clone(),
            x: finding.x,
            y: finding.y,
            bbox: finding.bbox,
            at: finding.at.clone(),
            value: finding.value,
            limit: finding.limit,
            unit: finding.unit.map(str::to_owned),
            assumed: finding.assumed.clone(),
        }
    }
}
