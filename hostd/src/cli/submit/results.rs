//! What a job left on a server, fetched into a folder as `hostd run` fills one.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use jobs::encoded;
use serde_json::Value;
use sha2::{Digest, Sha256};
use ureq::SendBody;

use super::ended::text;
use super::patience::{Patience, tell};
use super::server::{Failed, Server, retried};

/// What a server makes of a job, and the file that it becomes.
const PAGES: [(&str, &str); 4] = [
    ("log", "log.txt"),
    ("report", "report.html"),
    ("junit.xml", "junit.xml"),
    ("trace.json", "trace.json"),
];

/// Folder of the artifacts, with one for each run in it.
const ARTIFACTS: &str = "artifacts";

/// Largest file.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// Folder of the captures, likewise.
const CAPTURES: &str = "captures";

/// The status of what is not there any more.
const NOT_FOUND: u16 = 404;

/// Artifacts of one job.
const ARTIFACTS_MAX: usize = 10_000;

/// Bytes that are moved at once.
const PIECE_BYTES: usize = 64 << 10;

/// Fetches log, report, JUnit, timeline, artifacts and captures. Returns their paths in the folder.
///
/// # Errors
/// The server does not give them, or the folder cannot be written to.
pub(super) fn fetch(
    server: &Server,
    patience: &Patience,
    id: &str,
    out: &Path,
) -> Result<Vec<String>, Failed> {
    let mut files = Vec::new();
    let job = format!("/jobs/{id}");
    let get = |path: &str, file: &str, sha256: Option<&str>| {
        let to = out.join(file);
        retried(patience, || download(server, path, &to, sha256))
    };
    for (page, file) in PAGES {
        get(&format!("{job}/{page}"), file, None)?;
        files.push(file.to_owned());
    }
    let found = server.get_json(&format!("{job}/artifacts"), patience)?;
    let found = found["artifacts"].as_array().map_or(&[][..], Vec::as_slice);
    for artifact in found.iter().take(ARTIFACTS_MAX) {
        let file = file_of(artifact).map_err(Failed::Here)?;
        let (run, name) = (text(artifact, "run"), text(artifact, "name"));
        let path = format!("{job}/{ARTIFACTS}/{}/{}", encoded(run), encoded(name));
        get(&path, &file, Some(text(artifact, "sha256")))?;
        files.push(file);
    }
    let record = server.get_json(&job, patience)?;
    for (id, file) in captures_of(&record).map_err(Failed::Here)? {
        let path = format!("{job}/{CAPTURES}/{}", encoded(id));
        match get(&path, &file, None) {
            Ok(()) => files.push(file),
            // It gave way to newer ones meanwhile.
            Err(Failed::Refused(refusal)) if refusal.status.as_u16() == NOT_FOUND => {
                tell(&format!("the capture {file} is not kept any more"));
            }
            Err(failed) => return Err(failed),
        }
    }
    Ok(files)
}

/// The captures of a job of which there are files, and where these go, below the folder.
fn captures_of(job: &Value) -> anyhow::Result<Vec<(&str, String)>> {
    let captures = job["captures"].as_array();
    let captures = captures.map_or(&[][..], Vec::as_slice).iter();
    let done = captures.filter(|capture| capture["is_done"] == true);
    done.map(|capture| {
        let (run, name) = (text(capture, "run"), text(capture, "file"));
        let file: PathBuf = [CAPTURES, run, name].iter().collect();
        match file.to_str() {
            Some(file) if is_below(run) && is_below(name) => {
                Ok((text(capture, "id"), file.to_owned()))
            }
            _ => bail!("keep the capture {name:?} of {run:?}: its path leads out of the folder"),
        }
    })
    .collect()
}

/// Whether a path stays below the folder that it is put to.
fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Where an artifact goes, below the folder.
fn file_of(artifact: &Value) -> anyhow::Result<String> {
    let (run, name) = (text(artifact, "run"), text(artifact, "name"));
    let file: PathBuf = [ARTIFACTS, run, name].iter().collect();
    match file.to_str() {
        Some(file) if is_below(run) && is_below(name) => Ok(file.to_owned()),
        _ => bail!("keep the artifact {name:?} of {run:?}: its path leads out of the folder"),
    }
}

/// Fetches one file whole, or leaves none.
fn download(server: &Server, path: &str, to: &Path, sha256: Option<&str>) -> Result<(), Failed> {
    let mut answer = server.send("GET", path, &[], SendBody::none())?;
    let body = answer.body_mut().with_config().limit(FILE_BYTES_MAX);
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = write(body.reader(), &part, sha256).and_then(|()| {
        fs::rename(&part, to)
            .with_context(|| format!("write {}", to.display()))
            .map_err(Failed::Here)
    });
    if written.is_err() {
        // The error tells more than a part that stays.
        let _ = fs::remove_file(&part);
    }
    written
}

fn write(mut from: impl Read, to: &Path, sha256: Option<&str>) -> Result<(), Failed> {
    let here = |error: io::Error| {
        let error = anyhow::Error::new(error).context(format!("write {}", to.display()));
        Failed::Here(error)
    };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(here)?;
    }
    let mut file = File::create(to).map_err(here)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => {
                let error = anyhow::Error::new(error).context("read the answer");
                return Err(Failed::Lost(error));
            }
        };
        hash.update(&piece[..count]);
        file.write_all(&piece[..count]).map_err(here)?;
    }
    if sha256.is_some_and(|wanted| hex::encode(hash.finalize()) != wanted) {
        let error = anyhow::anyhow!("read {}: its SHA-256 is another one", to.display());
        return Err(Failed::Lost(error));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn artifacts_stay_in_the_folder() {
        let file = |run: &str, name: &str| file_of(&json!({"run": run, "name": name}));
        assert_eq!(
            file("fw.a", "bin/fw.elf").unwrap(),
            "artifacts/fw.a/bin/fw.elf"
        );
        for (run, name) in [
            ("..", "x"),
            ("fw", "../x"),
            ("fw", "/etc/passwd"),
            ("", "x"),
            ("fw", ""),
            ("fw", "a/../../../x"),
        ] {
            assert!(file(run, name).is_err(), "{run} {name}");
        }
    }

    #[test]
    fn captures_stay_in_the_folder_and_are_those_that_have_files() {
        let of = |run: &str, file: &str| {
            json!({"captures": [
                {"id": "1", "run": run, "file": file, "is_done": true},
                {"id": "2", "run": "b", "file": "failed.sr", "is_done": false},
            ]})
        };
        let found = of("b.f0", "boot.sr");
        let found = captures_of(&found).unwrap();
        assert_eq!(found, [("1", "captures/b.f0/boot.sr".to_owned())]);
        for (run, file) in [
            ("..", "x.sr"),
            ("b", "../x.sr"),
            ("b", "/etc/x.sr"),
            ("", "x.sr"),
        ] {
            assert!(captures_of(&of(run, file)).is_err(), "{run} {file}");
        }
        // An earlier server tells of none.
        assert_eq!(captures_of(&json!({})).unwrap(), []);
    }

    #[test]
    fn a_file_that_is_not_whole_is_not_kept_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("deep/file");
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(write(&b"abc"[..], &to, Some(abc)).is_ok());
        assert_eq!(fs::read(&to).unwrap(), b"abc");
        let cut = write(&b"ab"[..], &to, Some(abc));
        assert!(matches!(cut, Err(Failed::Lost(_))));
    }
}
