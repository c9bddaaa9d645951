//! What a build and its organisation may hold: counts, sizes and the quota.

use super::BuildError;
use store::builds::{Build, File, Kind, Status};

/// Artifacts of one build.
const ARTIFACTS_MAX: usize = 100;

/// Logs of one build.
const LOGS_MAX: usize = 50;

/// What a build and its organisation may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) artifact_bytes_max: u64,
    pub(super) log_bytes_max: u64,
    pub(super) quota_bytes: u64,
    pub(super) quota_mib: u64,
}

impl Limits {
    /// How many bytes one more file may have when the organisation uses `used`.
    pub(super) fn check(self, build: &Build, kind: Kind, used: u64) -> Result<u64, BuildError> {
        if build.status != Status::Open {
            return Err(BuildError::Finished);
        }
        let (what, count_max, bytes_max) = match kind {
            Kind::Artifact => (
                "artifacts of one build",
                ARTIFACTS_MAX,
                self.artifact_bytes_max,
            ),
            Kind::Log => ("logs of one build", LOGS_MAX, self.log_bytes_max),
        };
        if build.files.iter().filter(|f| f.kind == kind).count() >= count_max {
            return Err(BuildError::Full {
                what,
                max: count_max as u64,
            });
        }
        let left = self.quota_bytes.saturating_sub(used);
        if left == 0 {
            return Err(self.quota_used());
        }
        Ok(bytes_max.min(left))
    }

    pub(super) fn attach(
        self,
        build: &mut Build,
        used: u64,
        file: &File,
    ) -> Result<Build, BuildError> {
        let same = |f: &&File| f.kind == file.kind && f.name == file.name;
        match build.files.iter().find(same) {
            Some(there) if there.sha256 == file.sha256 => return Ok(build.clone()),
            Some(_) => return Err(BuildError::NameTaken),
            None => {}
        }
        let room = self.check(build, file.kind, used)?;
        if file.size_bytes > room {
            return Err(self.quota_used());
        }
        build.files.push(file.clone());
        Ok(build.clone())
    }

    fn quota_used(self) -> BuildError {
        BuildError::Full {
            what: "MiB of build files of the organisation (builds.quota_mib)",
            max: self.quota_mib,
        }
    }
}
