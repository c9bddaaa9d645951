//! What was built, seen alike whoever built it: a build that was reported has one pack, and one that a job made has a
//! pack for each of its runs.

use std::mem;

use serde_json::{Map, Value};
use store::builds::{self, Build, File, Kind, Origin, Status};
use store::jobs::{self, End, Found, Job};
use store::{Snapshot, StoreError};

use super::Artifact;

/// The one pack of a reported build.
pub const REPORTED: &str = "external";

/// Media type of files that jobs make: nobody says what they are.
const TYPE: &str = "application/octet-stream";

/// A build and its files.
#[derive(Debug)]
pub(super) struct Made {
    /// Its files are in the packs.
    pub(super) build: Build,
    packs: Vec<Pack>,
}

#[derive(Debug)]
struct Pack {
    id: String,
    /// Chips that it is for; empty = nobody says.
    targets: Vec<String>,
    files: Vec<File>,
}

impl Made {
    /// What CI reported.
    pub(super) fn reported(mut build: Build) -> Self {
        let files = mem::take(&mut build.files).into_iter();
        let files = files.filter(|file| file.kind == Kind::Artifact);
        let pack = Pack {
            id: REPORTED.to_owned(),
            targets: Vec::new(),
            files: files.collect(),
        };
        Self {
            build,
            packs: vec![pack],
        }
    }

    /// What a job made so far. It is a success once the whole job is one, its tests included.
    pub(super) fn by_job(job: &Job) -> Self {
        let status = match &job.end {
            None => Status::Open,
            Some(end) if end.has_passed() => Status::Success,
            Some(_) => Status::Failure,
        };
        let origin = Origin {
            r#ref: job.r#ref.clone().unwrap_or_default(),
            sha: job.commit.clone().unwrap_or_default(),
            ..Origin::default()
        };
        let build = Build {
            id: job.id.clone(),
            org: job.org.clone(),
            user: job.user.clone(),
            origin,
            target: String::new(),
            name: job.name.clone().unwrap_or_default(),
            wiring: Map::new(),
            status,
            reason: String::new(),
            files: Vec::new(),
            created_ms: job.created_ms,
            finished_ms: job.finished_ms,
        };
        let runs = job.runs.iter().enumerate();
        let packs = runs.filter_map(|(place, _)| pack(job, place)).collect();
        Self { build, packs }
    }

    /// A build of an organisation by the id of it, or of its job.
    pub(super) fn by_id(from: &Snapshot, org: &str, id: &str) -> Result<Option<Self>, StoreError> {
        if let Some(build) = builds::by_id(from, org, id)? {
            return Ok(Some(Self::reported(build)));
        }
        let job = jobs::by_id(from, org, id)?;
        Ok(job.as_ref().and_then(Found::job).map(Self::by_job))
    }

    /// Files of the packs that `wanted` takes, by id and targets, in their order.
    pub(super) fn artifacts(
        &self,
        mut wanted: impl FnMut(&str, &[String]) -> bool,
    ) -> Vec<Artifact> {
        let packs = self.packs.iter();
        let packs = packs.filter(|pack| wanted(&pack.id, &pack.targets));
        let artifact = |pack: &Pack, file: &File| Artifact {
            build: Build {
                wiring: self.wiring(pack),
                ..self.build.clone()
            },
            pack: pack.id.clone(),
            file: file.clone(),
        };
        packs
            .flat_map(|pack| pack.files.iter().map(move |file| artifact(pack, file)))
            .collect()
    }

    /// What is known of the wiring of targets: what was reported, or the chip if the pack is for one alone.
    fn wiring(&self, pack: &Pack) -> Map<String, Value> {
        let mut wiring = self.build.wiring.clone();
        if let [only] = &pack.targets[..] {
            wiring.insert("target".to_owned(), only.as_str().into());
        }
        wiring
    }
}

/// What a run of a build made, if it has passed.
fn pack(job: &Job, place: usize) -> Option<Pack> {
    let run = job.runs.get(place).filter(|run| !run.is_bench)?;
    let mut attempts = job.attempts.iter().rev();
    let passed = attempts.find(|attempt| {
        attempt.run as usize == place && attempt.end.as_ref().is_some_and(End::has_passed)
    })?;
    let file = |file: &jobs::File| File {
        kind: Kind::Artifact,
        name: file.name.clone(),
        content_type: TYPE.to_owned(),
        size_bytes: file.size_bytes,
        sha256: file.sha256.clone(),
        created_ms: passed.ended_ms.unwrap_or(job.created_ms),
    };
    Some(Pack {
        id: run.id.clone(),
        targets: run.targets.clone(),
        files: passed.files.iter().map(file).collect(),
    })
}
