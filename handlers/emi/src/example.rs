//! A project, a board and its runs, for the documentation and the tests.

use guest::emi::{Artifact, Board, Kind, Progress, Project, Run, SourceKind, Status};

pub(crate) const PROJECT: &str = "01JGZ5V9T3N8W2K4Q7R6D1M0XP";
pub(crate) const BOARD: &str = "01JGZ5V9T3N8W2K4Q7R6D1M0XD";
pub(crate) const RUN: &str = "01JGZ5V9T3N8W2K4Q7R6D1M0XR";
pub(crate) const ORG: &str = "01JGZ5V9T3N8W2K4Q7R6D1M0X0";
pub(crate) const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

pub(crate) fn project() -> Project {
    Project {
        id: PROJECT.into(),
        organization_id: ORG.into(),
        name: "sensor".into(),
        source_kind: SourceKind::Kicad,
        created_by: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

/// As it is once it was read.
pub(crate) fn board() -> Board {
    Board {
        layer_count: 2,
        net_count: 31,
        outline_mm: Some((60.0, 40.0)),
        stackup: Some(
            r#"[{"kind":"copper","name":"F.Cu","thickness_mm":0.035},{"kind":"dielectric","thickness_mm":1.51,"epsilon_r":4.5},{"kind":"copper","name":"B.Cu","thickness_mm":0.035}]"#
                .into(),
        ),
        ..unread()
    }
}

/// As it is at first.
pub(crate) fn unread() -> Board {
    Board {
        id: BOARD.into(),
        project_id: PROJECT.into(),
        ingest_run_id: RUN.into(),
        content_sha256: SHA256.into(),
        size_bytes: 84_213,
        layer_count: 0,
        net_count: 0,
        outline_mm: None,
        stackup: None,
        created_at: "2026-01-02T03:04:07Z".into(),
    }
}

pub(crate) fn run() -> Run {
    Run {
        status: Status::Done,
        progress: Progress {
            stage: "report".into(),
            pct: 100,
            message: "done".into(),
        },
        summary: Some(
            r#"{"critical":1,"warning":3,"info":12,"assumed_max_frequency_hz":1000000000.0}"#
                .into(),
        ),
        started_at: Some("2026-01-02T03:04:07Z".into()),
        finished_at: Some("2026-01-02T03:04:08Z".into()),
        updated_at: "2026-01-02T03:04:08Z".into(),
        ..queued()
    }
}

pub(crate) fn queued() -> Run {
    Run {
        id: RUN.into(),
        project_id: PROJECT.into(),
        board_id: BOARD.into(),
        kind: Kind::Ingest,
        status: Status::New,
        params: "{}".into(),
        progress: Progress {
            stage: "queued".into(),
            pct: 0,
            message: "it waits for its turn".into(),
        },
        summary: None,
        error: None,
        created_at: "2026-01-02T03:04:07Z".into(),
        started_at: None,
        finished_at: None,
        updated_at: "2026-01-02T03:04:07Z".into(),
    }
}

pub(crate) fn artifact() -> Artifact {
    Artifact {
        name: "rules.json".into(),
        content_type: "application/json".into(),
        size_bytes: 5120,
        sha256: SHA256.into(),
        created_at: "2026-01-02T03:04:08Z".into(),
    }
}

/// A finding as `rules.json` has it.
pub(crate) const FINDING: &str = r#"{"id":"f1","fingerprint":"9f2c1b7a04d3e6aa","severity":"critical","rule":"plane-gap","title":"A trace crosses a gap in its reference plane","detail":"6.0 mm on F.Cu without plane","net":"SCK","layer":"F.Cu","x":30.0,"y":20.0,"at":{"x":130.0,"y":120.0,"layer":"F.Cu"},"value":6.0,"limit":1.0,"unit":"mm","assumed":["stack-up: 1.6 mm of FR-4"]}"#;

/// That finding, in one of two boards that are compared.
pub(crate) const NEW_FINDING: &str = r#"{"certain":true,"id":"f1","fingerprint":"9f2c1b7a04d3e6aa","severity":"critical","rule":"plane-gap","title":"A trace crosses a gap in its reference plane","detail":"6.0 mm on F.Cu without plane","net":"SCK","layer":"F.Cu","x":30.0,"y":20.0,"at":{"x":130.0,"y":120.0,"layer":"F.Cu"},"value":6.0,"limit":1.0,"unit":"mm","assumed":["stack-up: 1.6 mm of FR-4"]}"#;

/// How much changed.
pub(crate) const COMPARED: &str = r#"{"new":{"critical":1,"warning":0,"info":0},"perhaps_new":{"critical":0,"warning":0,"info":0},"gone":{"critical":0,"warning":0,"info":0},"perhaps_gone":{"critical":0,"warning":0,"info":0},"kept":{"critical":0,"warning":0,"info":0},"worse":{"critical":0,"warning":0,"info":0}}"#;
