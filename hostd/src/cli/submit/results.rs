//! What a job left on a server, fetched into a folder as `hostd run` fills one.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;
use sha2::{Digest, Sha256};
use ureq::SendBody;

use super::ended::text;
use super::patience::Patience;
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

/// Artifacts of one job.
const ARTIFACTS_MAX: usize = 10_000;

/// Bytes that are moved at once.
const PIECE_BYTES: usize = 64 << 10;

/// Fetches log, report, JUnit, timeline and artifacts. Returns their paths in the folder.
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
    Ok(files)
}

/// Where an artifact goes, below the folder.
fn file_of(artifact: &Value) -> anyhow::Result<String> {
    let (run, name) = (text(artifact, "run"), text(artifact, "name"));
    let file: PathBuf = [ARTIFACTS, run, name].iter().collect();
    let is_below = |path: &str| {
        let mut parts = Path::new(path).components();
        !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    match file.to_str() {
        Some(file) if is_below(run) && is_below(name) => Ok(file.to_owned()),
        _ => bail!("keep the artifact {name:?} of {run:?}: its path leads out of the folder"),
    }
}

/// A path below another one in a URL (RFC 3986, 3.3).
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => out.push(byte.into()),
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
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
    fn paths_are_encoded_but_for_their_slashes() {
        assert_eq!(encoded("a b/ü?#%.elf"), "a%20b/%C3%BC%3F%23%25.elf");
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
