//! Artifacts: files that a build left below `$HOSTD_OUT`, taken from there by name.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use archive::{Artifacts, CollectError, CollectLimits, Content, SkipReason};
use base::private;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::disk::Floor;
use crate::outcome::{Failure, Outcome};
use crate::script::OUT;
use crate::tree;

/// Bytes of the paths of folders below `$HOSTD_OUT`, and of artifacts, that are kept while one looks for these.
const NAMES_BYTES_MAX: usize = 8 << 20;

/// Files that are named when one is not there.
const TOLD_MAX: usize = 5;

/// Bytes of the path of a file that is named then.
const TOLD_BYTES_MAX: usize = 100;

/// A file that a run made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its path below `$HOSTD_OUT`.
    pub name: String,
    /// How long it is.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Where it is kept.
    pub path: PathBuf,
}

/// Takes the artifacts `names` of the folder `job` and keeps them below `to`, whose disk keeps `floor` free.
///
/// # Errors
/// One is not there, is no file, or `bytes_max` is not enough for all of them; or the disk.
pub(crate) fn collect(
    job: &Path,
    names: &[String],
    to: &Path,
    bytes_max: u64,
    floor: Floor,
) -> Result<Vec<Artifact>, Outcome> {
    let wanted: Vec<String> = names
        .iter()
        .map(|name| plain(name))
        .collect::<Result<_, _>>()?;
    let found = search(job, &wanted, bytes_max).map_err(|error| match names.first() {
        Some(name) => refused(name, error),
        None => Outcome::broken("look for artifacts", &error.into()),
    })?;
    let mut artifacts: Vec<Artifact> = Vec::new();
    for (name, wanted) in names.iter().zip(&wanted) {
        let Some(found) = &found else {
            return Err(missing(name, job));
        };
        let Some(file) = found.files.iter().find(|file| file.name == *wanted) else {
            return Err(why_not(name, wanted, found, job));
        };
        let content = found.open(file).map_err(|error| refused(name, error))?;
        let taken = take(
            name,
            to.join(wanted),
            (content, file.size),
            floor,
            &artifacts,
        );
        artifacts.push(taken.map_err(|error| Outcome::broken("keep an artifact", &error))?);
    }
    Ok(artifacts)
}

/// As [`collect`], but leaves out those that are not there or cannot be taken, and what there is no room for.
pub(crate) fn collect_what_is_there(
    job: &Path,
    names: &[String],
    to: &Path,
    bytes_max: u64,
    floor: Floor,
) -> Vec<Artifact> {
    let named = names.iter();
    let named = named.filter_map(|name| Some((name, plain(name).ok()?)));
    let (names, wanted): (Vec<&String>, Vec<String>) = named.unzip();
    let Ok(Some(found)) = search(job, &wanted, bytes_max) else {
        return Vec::new();
    };
    let mut artifacts: Vec<Artifact> = Vec::new();
    for (name, wanted) in names.into_iter().zip(&wanted) {
        let Some(file) = found.files.iter().find(|file| file.name == *wanted) else {
            continue;
        };
        let Ok(content) = found.open(file) else {
            continue;
        };
        let path = to.join(wanted);
        match take(name, path.clone(), (content, file.size), floor, &artifacts) {
            Ok(artifact) => artifacts.push(artifact),
            Err(_) => {
                // A part of it is removed later if it cannot be now.
                let _ = tree::remove(&path);
                break;
            }
        }
    }
    artifacts
}

/// Makes the file of an artifact, and the folders above it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), private::make_folder)?;
    private::make_file(path)
}

/// Keeps a file of so many bytes, unless one of the `artifacts` is the same.
fn take(
    name: &str,
    path: PathBuf,
    (content, bytes): (Content, u64),
    floor: Floor,
    artifacts: &[Artifact],
) -> io::Result<Artifact> {
    let is_same = |artifact: &&Artifact| artifact.path == path;
    let sha256 = match artifacts.iter().find(is_same) {
        Some(same) => same.sha256.clone(),
        None => keep(content, &path, floor)?,
    };
    Ok(Artifact {
        name: name.to_owned(),
        bytes,
        sha256,
        path,
    })
}

/// A name without parts that mean nothing, as `./`.
fn plain(name: &str) -> Result<String, Outcome> {
    let parts: Vec<&str> = name
        .split('/')
        .filter(|part| !["", "."].contains(part))
        .collect();
    if name.starts_with('/') || parts.contains(&"..") {
        return Err(unfit(name, "it does not lie below $HOSTD_OUT"));
    }
    Ok(parts.join("/"))
}

/// What `$HOSTD_OUT` has of `wanted`, and what stands in their way. None if there is no such folder.
fn search(
    job: &Path,
    wanted: &[String],
    bytes_max: u64,
) -> Result<Option<Artifacts>, CollectError> {
    let limits = CollectLimits {
        file_bytes_max: bytes_max,
        bytes_max,
        ..limits()
    };
    let is_wanted = |path: &str| wanted.iter().any(|name| is_at(name, path));
    let out = open(job).ok();
    out.map(|out| archive::collect(out, &is_wanted, &limits))
        .transpose()
}

fn limits() -> CollectLimits {
    CollectLimits {
        visited_max: tree::ENTRIES_MAX,
        depth_max: tree::DEPTH_MAX,
        names_bytes_max: NAMES_BYTES_MAX,
        ..CollectLimits::default()
    }
}

/// Opens `$HOSTD_OUT`, however the build changed the way there.
fn open(job: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let job = openat(CWD, job, flags, Mode::empty())?;
    openat2(job, OUT, flags, Mode::empty(), resolve)
}

/// Whether a name is this path, or lies below it.
fn is_at(name: &str, path: &str) -> bool {
    let rest = name.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Why there is no file `wanted` among those that were found.
fn why_not(name: &str, wanted: &str, found: &Artifacts, job: &Path) -> Outcome {
    let mut skipped = found.skipped.iter();
    let Some(skipped) = skipped.find(|skipped| is_at(wanted, &skipped.name)) else {
        return missing(name, job);
    };
    match skipped.reason {
        SkipReason::TooLarge | SkipReason::TooMuch => {
            unfit(name, "all artifacts together are larger than `limits.disk`")
        }
        SkipReason::Link => unfit(
            name,
            "it is a link, or behind one; copy the file instead (cp -L)",
        ),
        other => unfit(name, other),
    }
}

/// What to say of a name that no file has: it is a folder, or what is there instead.
fn missing(name: &str, job: &Path) -> Outcome {
    let limits = CollectLimits {
        name_bytes_max: TOLD_BYTES_MAX,
        ..limits()
    };
    let folder = plain(name).unwrap_or_default();
    let mut there = There::default();
    let looked = open(job)
        .map(|out| archive::each_file(&out, &limits, &mut |path| there.see(path, &folder)));
    // What is there is told if it can be.
    if !matches!(looked, Ok(Ok(()))) {
        there = There::default();
    }
    if there.is_folder {
        return unfit(name, "it is no file; pack a folder into one, as with tar");
    }
    let told: Vec<&str> = there.first.iter().map(String::as_str).collect();
    let more = match there.count - told.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let there = told.join(", ") + &more;
    Outcome::Failed(Failure::MissingArtifact(name.to_owned(), there))
}

/// What there is in place of a file that is missing: a few names of however many.
#[derive(Default)]
struct There {
    first: BTreeSet<String>,
    count: usize,
    /// One is in a folder of the name that was looked for.
    is_folder: bool,
}

impl There {
    fn see(&mut self, path: &str, folder: &str) {
        self.count += 1;
        self.is_folder |= folder.is_empty() || path != folder && is_at(path, folder);
        let is_early = self.first.last().is_none_or(|last| path < last.as_str());
        if is_early || self.first.len() < TOLD_MAX {
            self.first.insert(path.to_owned());
        }
        if self.first.len() > TOLD_MAX {
            self.first.pop_last();
        }
    }
}

fn unfit(name: &str, why: impl ToString) -> Outcome {
    Outcome::Failed(Failure::UnfitArtifact(name.to_owned(), why.to_string()))
}

/// What it means that a file, or the folder it is in, cannot be read.
fn refused(name: &str, error: CollectError) -> Outcome {
    match error {
        CollectError::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            unfit(name, SkipReason::Unreadable)
        }
        CollectError::Read { source, .. } => Outcome::broken("read an artifact", &source),
        CollectError::NoOpenat2 => Outcome::broken("read an artifact", &error.into()),
        other => unfit(name, other),
    }
}

/// Copies a file, if there is room for it, and says what its digest is. What is zeros takes no room.
fn keep(from: Content, path: &Path, floor: Floor) -> io::Result<String> {
    let to = create(path)?;
    let mut digest = Sha256::new();
    let expected = from.disk_bytes();
    tree::copy_sparse(from, &to, expected, floor, |bytes| digest.update(bytes))?;
    Ok(hex::encode(digest.finalize()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn take(job: &Path, names: &[&str]) -> Result<Vec<Artifact>, Outcome> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let to = tempfile::tempdir().unwrap();
        let taken = collect(job, &names, to.path(), 10, Floor::of(0));
        for artifact in taken.iter().flatten() {
            let kept = fs::read(&artifact.path).unwrap();
            assert_eq!(kept.len() as u64, artifact.bytes);
            assert_eq!(hex::encode(Sha256::digest(kept)), artifact.sha256);
        }
        taken
    }

    fn kind(job: &Path, name: &str) -> &'static str {
        take(job, &[name]).unwrap_err().kind().unwrap_or_default()
    }

    /// A job's folder, and its `$HOSTD_OUT`.
    fn job() -> (tempfile::TempDir, PathBuf) {
        let job = tempfile::tempdir().unwrap();
        let out = job.path().join(OUT);
        fs::create_dir_all(out.join("sub")).unwrap();
        fs::write(out.join("sub/fw.elf"), "abc").unwrap();
        (job, out)
    }

    #[test]
    fn files_are_taken_and_nothing_else() {
        let (job, out) = job();
        let job = job.path();
        fs::write(out.join("long"), "more than ten").unwrap();
        fs::write(job.join(".hostd/secret"), "s").unwrap();
        symlink("../secret", out.join("link")).unwrap();
        symlink("sub", out.join("inner")).unwrap();
        symlink("..", out.join("up")).unwrap();
        fs::write(job.join("elsewhere"), "e").unwrap();
        fs::hard_link(job.join("elsewhere"), out.join("hard")).unwrap();
        let mode = Mode::from_raw_mode(0o600);
        let pipe = out.join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();

        let taken = take(job, &["sub/fw.elf"]).unwrap();
        assert_eq!((taken[0].bytes, taken[0].name.as_str()), (3, "sub/fw.elf"));
        assert!(taken[0].sha256.starts_with("ba7816bf"), "{taken:?}");
        let taken = take(job, &["sub/fw.elf", "./sub//fw.elf"]).unwrap();
        assert_eq!(taken[1].name, "./sub//fw.elf");
        assert_eq!(taken[1].path, taken[0].path);
        let unfit = [
            "link",
            "inner/fw.elf",
            "up/secret",
            "hard",
            "sub",
            ".",
            "pipe",
            "long",
            "../secret",
            "/etc/passwd",
        ];
        for name in unfit {
            assert_eq!(kind(job, name), "unfit_artifact", "{name}");
        }
        for name in ["none", "sub/fw.elf/x"] {
            assert_eq!(kind(job, name), "missing_artifact", "{name}");
        }
    }

    #[test]
    fn all_artifacts_together_are_bounded() {
        let (job, out) = job();
        fs::write(out.join("eight"), "8 bytes!").unwrap();
        let outcome = take(job.path(), &["eight", "sub/fw.elf"]).unwrap_err();
        assert!(outcome.to_string().contains("`limits.disk`"), "{outcome}");
        assert!(take(job.path(), &["eight"]).is_ok());
    }

    #[test]
    fn what_is_there_is_taken_when_something_is_not() {
        let (job, out) = job();
        fs::write(out.join("log"), "l").unwrap();
        symlink("log", out.join("link")).unwrap();
        let names = ["none", "../x", "link", "sub/fw.elf", "log", "./log"].map(str::to_owned);
        let to = tempfile::tempdir().unwrap();
        let found = |bytes_max, floor| {
            let found = collect_what_is_there(job.path(), &names, to.path(), bytes_max, floor);
            let named: Vec<String> = found.into_iter().map(|artifact| artifact.name).collect();
            named
        };
        assert_eq!(found(100, Floor::of(0)), ["sub/fw.elf", "log", "./log"]);
        assert_eq!(fs::read(to.path().join("sub/fw.elf")).unwrap(), b"abc");
        assert_eq!(found(100, Floor::of(u64::MAX)), [""; 0]);
        fs::remove_dir_all(&out).unwrap();
        assert_eq!(found(100, Floor::of(0)), [""; 0]);
    }

    #[test]
    fn artifacts_keep_their_holes_and_ask_for_room() {
        use std::os::unix::fs::MetadataExt;
        let (job, out) = job();
        let sparse = fs::File::create(out.join("sparse")).unwrap();
        sparse.set_len(40 << 20).unwrap();
        let to = tempfile::tempdir().unwrap();
        let names = ["sparse".to_owned()];
        let all = 1 << 30;
        let taken = collect(job.path(), &names, to.path(), all, Floor::of(1)).unwrap();
        assert_eq!(taken[0].bytes, 40 << 20);
        let kept = taken[0].path.metadata().unwrap();
        assert_eq!((kept.len(), kept.blocks()), (40 << 20, 0));
        assert_eq!(kept.mode() & 0o777, 0o600);

        let to = to.path().join("more");
        let names = ["sub/fw.elf".to_owned(), "sparse".to_owned()];
        let full = collect(job.path(), &names, &to, all, Floor::of(u64::MAX)).unwrap_err();
        assert_eq!(full.kind(), Some("infra.disk_full"));
    }

    #[test]
    fn what_is_there_is_told_when_a_file_is_missing() {
        let (job, out) = job();
        let told = |name: &str| take(job.path(), &[name]).unwrap_err().to_string();
        let sentence = told("fw.elf");
        assert!(
            sentence.contains("not there, only sub/fw.elf;"),
            "{sentence}"
        );
        for number in 0..6 {
            fs::write(out.join(format!("{number}.o")), "").unwrap();
        }
        let sentence = told("fw.elf");
        let files = "only 0.o, 1.o, 2.o, 3.o, 4.o and 2 more;";
        assert!(sentence.contains(files), "{sentence}");
        fs::remove_dir_all(&out).unwrap();
        assert!(told("fw.elf").contains("not there, nor is anything else;"));
    }

    #[test]
    fn the_way_to_the_folder_leads_nowhere_else() {
        let (job, _) = job();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(elsewhere.path().join("out")).unwrap();
        fs::write(elsewhere.path().join("out/key"), "secret").unwrap();
        fs::remove_dir_all(job.path().join(".hostd")).unwrap();
        symlink(elsewhere.path(), job.path().join(".hostd")).unwrap();
        assert_eq!(kind(job.path(), "key"), "missing_artifact");
    }
}
