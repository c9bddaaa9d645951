//! The record of a file that somebody may want to flash.

use guest::builds::Format;
use guest::selection::REPORTED;
use guest::{ApiError, Time, builds, words};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::build;

words! {
    const FORMATS: Format = {
        Elf = "elf",
        Hex = "hex",
        Bin = "bin",
        Uf2 = "uf2",
        Other = "other",
    };
}

/// A file of a build.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Artifact")]
pub(crate) struct Record<'a> {
    /// Id of the build, or of the job that made it.
    job_id: &'a str,
    /// `external` for a reported build, otherwise the run of the job, such as `fw.debug.f0`.
    pack_id: &'a str,
    name: &'a str,
    #[schemars(extend("enum" = FORMATS.all()))]
    format: &'static str,
    size_bytes: u64,
    sha256: &'a str,
    content_type: &'a str,
    /// `owner/name`; empty for a job.
    repo: String,
    r#ref: &'a str,
    /// Commit, as published clients read it.
    sha: &'a str,
    commit: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
    wiring_defaults: Map<String, Value>,
}

impl<'a> Record<'a> {
    pub(crate) fn of(artifact: &'a builds::Artifact) -> Result<Self, ApiError> {
        let build = &artifact.build;
        let wiring = serde_json::from_str(&build.wiring).map_err(|error| {
            let id = &build.id;
            ApiError::internal(format!("failed to read the wiring of build {id}: {error}"))
        })?;
        let source = &build.source;
        let repo = match source.repo_owner.as_str() {
            "" => source.repo.clone(),
            owner => format!("{owner}/{}", source.repo),
        };
        Ok(Self {
            job_id: &build.id,
            pack_id: &artifact.pack,
            name: &artifact.name,
            format: FORMATS.word(artifact.format),
            size_bytes: artifact.size_bytes,
            sha256: &artifact.sha256,
            content_type: &artifact.content_type,
            repo,
            r#ref: &source.ref_,
            sha: &source.sha,
            commit: &source.sha,
            created_at: &artifact.created_at,
            wiring_defaults: wiring,
        })
    }
}

/// A file, for the documentation.
pub(crate) fn example() -> builds::Artifact {
    builds::Artifact {
        build: build::example(),
        pack: REPORTED.into(),
        name: "firmware.elf".into(),
        content_type: "application/octet-stream".into(),
        format: builds::Format::Elf,
        size_bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Record, example};

    #[test]
    fn records() {
        let mut artifact = example();
        assert_eq!(
            json!(Record::of(&artifact).unwrap()),
            json!({
                "job_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                "pack_id": "external",
                "name": "firmware.elf",
                "format": "elf",
                "size_bytes": 3,
                "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "content_type": "application/octet-stream",
                "repo": "acme/blinky",
                "ref": "main",
                "sha": "0a1b2c3",
                "commit": "0a1b2c3",
                "created_at": "2026-01-02T03:04:05Z",
                "wiring_defaults": {"target": "target/stm32f0x.cfg", "swclk": 1, "swdio": 2}
            })
        );
        artifact.build.source.repo_owner.clear();
        assert_eq!(Record::of(&artifact).unwrap().repo, "blinky");
        artifact.build.wiring = "[".into();
        assert_eq!(Record::of(&artifact).err().unwrap().status, 500);
    }
}
