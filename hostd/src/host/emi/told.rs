//! Records of boards and runs, as handlers know them.

use analysis::Signed;
use base::clock;
use serde_json::Value;
use store::emi::boards::Board;
use store::emi::projects::{Project, SourceKind};
use store::emi::runs::{Artifact, Kind, Run, Status};

use super::w;

pub(super) fn source_kind_of(kind: w::SourceKind) -> SourceKind {
    match kind {
        w::SourceKind::Kicad => SourceKind::Kicad,
        w::SourceKind::Gerber => SourceKind::Gerber,
    }
}

pub(super) fn kind_from(kind: w::Kind) -> Kind {
    match kind {
        w::Kind::Ingest => Kind::Ingest,
        w::Kind::Compliance => Kind::Compliance,
        w::Kind::Cable => Kind::Cable,
        w::Kind::Solve => Kind::Solve,
    }
}

pub(super) fn kind_of(kind: Kind) -> w::Kind {
    match kind {
        Kind::Ingest => w::Kind::Ingest,
        Kind::Compliance => w::Kind::Compliance,
        Kind::Cable => w::Kind::Cable,
        Kind::Solve => w::Kind::Solve,
    }
}

/// As `rules.json` has it.
pub(super) fn severity(severity: w::Severity) -> &'static str {
    let severity = match severity {
        w::Severity::Critical => emi::Severity::Critical,
        w::Severity::Warning => emi::Severity::Warning,
        w::Severity::Info => emi::Severity::Info,
    };
    severity.name()
}

pub(super) fn signed(shown: w::Signed) -> Signed {
    Signed {
        expires_s: shown.expires,
        signature: shown.signature,
    }
}

pub(super) fn project(project: Project) -> w::Project {
    w::Project {
        id: project.id,
        organization_id: project.org,
        name: project.name,
        source_kind: match project.source_kind {
            SourceKind::Kicad => w::SourceKind::Kicad,
            SourceKind::Gerber => w::SourceKind::Gerber,
        },
        created_by: project.created_by,
        created_at: clock::text(project.created_ms),
    }
}

pub(super) fn board(board: Board) -> w::Board {
    let facts = board.facts;
    let counts = facts
        .as_ref()
        .map(|facts| (facts.layer_count, facts.net_count));
    let (layer_count, net_count) = counts.unwrap_or_default();
    let outline = facts.as_ref().and_then(|facts| facts.outline_mm);
    w::Board {
        id: board.id,
        project_id: board.project,
        ingest_run_id: board.ingest_run,
        content_sha256: board.file.sha256,
        size_bytes: board.file.size_bytes,
        layer_count,
        net_count,
        outline_mm: outline.map(|[width, height]| (width, height)),
        stackup: facts.map(|facts| Value::Array(facts.stackup).to_string()),
        created_at: clock::text(board.created_ms),
    }
}

pub(super) fn run(run: Run) -> w::Run {
    w::Run {
        id: run.id,
        project_id: run.project,
        board_id: run.board,
        kind: kind_of(run.kind),
        status: match run.status {
            Status::New => w::Status::New,
            Status::RetryPending => w::Status::RetryPending,
            Status::InProgress => w::Status::InProgress,
            Status::Stopping => w::Status::Stopping,
            Status::Done => w::Status::Done,
            Status::Failed => w::Status::Failed,
            Status::TimedOut => w::Status::TimedOut,
        },
        params: Value::Object(run.params).to_string(),
        progress: w::Progress {
            stage: run.progress.stage,
            pct: run.progress.pct,
            message: run.progress.message,
        },
        summary: run.summary.map(|said| Value::Object(said).to_string()),
        error: run.error.map(|failure| failure.message),
        created_at: clock::text(run.created_ms),
        started_at: run.started_ms.map(clock::text),
        finished_at: run.finished_ms.map(clock::text),
        updated_at: clock::text(run.updated_ms),
    }
}

pub(super) fn artifact(artifact: Artifact) -> w::Artifact {
    w::Artifact {
        name: artifact.name,
        content_type: artifact.content_type,
        size_bytes: artifact.file.size_bytes,
        sha256: artifact.file.sha256,
        created_at: clock::text(artifact.created_ms),
    }
}

pub(super) fn rule(rule: &emi::Rule) -> w::Rule {
    let params = rule.params.iter().map(|param| w::Param {
        key: param.key.to_owned(),
        default: param.default,
        about: param.about.to_owned(),
    });
    w::Rule {
        id: rule.id.to_owned(),
        title: rule.title.to_owned(),
        about: rule.about.to_owned(),
        formula: rule.formula.to_owned(),
        source: rule.source.to_owned(),
        severity: rule.severity.to_owned(),
        validity: rule.validity.to_owned(),
        params: params.collect(),
        assumes: rule
            .assumes
            .iter()
            .map(|assumption| assumption.about().to_owned())
            .collect(),
    }
}
