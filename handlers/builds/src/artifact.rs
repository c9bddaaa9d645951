//! The record of a file that somebody may want to flash.

use guest::{Object, builds};

/// Reported builds have one part.
pub(crate) const PACK: &str = "external";

/// Write the record of a file.
pub(crate) fn record(artifact: &builds::Artifact, object: &mut Object) {
    let format = match artifact.format {
        builds::Format::Elf => "elf",
        builds::Format::Hex => "hex",
        builds::Format::Bin => "bin",
        builds::Format::Uf2 => "uf2",
        builds::Format::Other => "other",
    };
    let source = &artifact.build.source;
    let repo = match source.repo_owner.as_str() {
        "" => source.repo.clone(),
        owner => format!("{owner}/{}", source.repo),
    };
    object
        .field("job_id", &artifact.build.id)
        .field("pack_id", PACK)
        .field("name", &artifact.name)
        .field("format", format)
        .field("size_bytes", &artifact.size_bytes)
        .field("sha256", &artifact.sha256)
        .field("content_type", &artifact.content_type)
        .field("repo", &repo)
        .field("ref", &source.ref_)
        .field("sha", &source.sha)
        .field("commit", &source.sha)
        .field("created_at", &artifact.created_at)
        .raw("wiring_defaults", &artifact.build.wiring);
}

#[cfg(test)]
pub(crate) fn example() -> builds::Artifact {
    let source = builds::Source {
        repo_owner: "acme".into(),
        repo: "blinky".into(),
        ref_: "main".into(),
        sha: "0a1b2c3".into(),
        event: String::new(),
        workflow: String::new(),
        actor: String::new(),
        run_id: String::new(),
        run_attempt: String::new(),
    };
    builds::Artifact {
        build: builds::Build {
            id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
            source,
            target: String::new(),
            name: String::new(),
            wiring: r#"{"swclk":1}"#.into(),
            status: builds::Status::Success,
            reason: String::new(),
            created_at: "2026-01-02T03:04:05Z".into(),
        },
        name: "fw.elf".into(),
        content_type: "application/octet-stream".into(),
        format: builds::Format::Elf,
        size_bytes: 3,
        sha256: "ba78".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}
