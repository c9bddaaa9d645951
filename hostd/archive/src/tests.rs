//! Archives built byte by byte, and folders in which somebody interferes.

use std::fs::File;
use std::io::Cursor;
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::{ArchiveError, Limits, UnpackError, inspect, unpack};

mod collect;
mod fuzz;
mod kinds;
mod limits;
mod links;
mod names;
mod races;
mod sparse;
mod tar_builder;
mod tools;
mod written;
mod zip_builder;
mod zips;

use tar_builder::Tar;
use zip_builder::{Zip, Zipped};

fn open(folder: &Path) -> OwnedFd {
    File::open(folder).unwrap().into()
}

/// What both passes say about `bytes`: "ok" or the code, and the message. They agree, and nothing is left
/// over.
fn judge(bytes: &[u8], limits: &Limits) -> (&'static str, String) {
    let folder = tempfile::tempdir().unwrap();
    let inspected = inspect(Cursor::new(bytes), limits, None);
    let unpacked = unpack(Cursor::new(bytes), limits, open(folder.path()));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    match (inspected, unpacked) {
        (Ok(_), Ok(_)) => ("ok", String::new()),
        (Err(error), Err(UnpackError::Archive(again))) => {
            assert_eq!(error.to_string(), again.to_string());
            assert_eq!(left, 0, "{error}");
            (error.code(), error.to_string())
        }
        (inspected, unpacked) => panic!("the passes differ: {inspected:?}, {unpacked:?}"),
    }
}

/// Expects that both passes refuse `bytes` with this code, in one line of plain text.
fn assert_refused(bytes: &[u8], code: &str) -> String {
    let (found, message) = judge(bytes, &Limits::default());
    assert_eq!(found, code, "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
    message
}

fn assert_taken(bytes: &[u8]) {
    let (found, message) = judge(bytes, &Limits::default());
    assert_eq!(found, "ok", "{message}");
}

#[test]
fn messages_stay_short_and_plain_whatever_the_name() {
    let name = [b"x\x1b[31m\n".repeat(30_000), vec![0xff; 9]].concat();
    let shown = crate::error::shown(&name);
    assert!(shown.starts_with("x\\u{1b}[31m\\n"));
    assert!(shown.chars().count() <= 121 && shown.ends_with('…'));
    assert_eq!(crate::error::shown(b"a/b"), "a/b");
}

#[test]
fn an_error_of_the_disk_is_no_damage() {
    let failing = |kind| std::io::Error::other(ArchiveError::Read(std::io::Error::from(kind)));
    let error = ArchiveError::of_reading(failing(std::io::ErrorKind::UnexpectedEof));
    assert_eq!(error.code(), "read");
}
