//! What is created, and what remains when something fails.

use std::fs;
use std::io::{Cursor, Error};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::io::Errno;

use super::{Tar, Zip, Zipped, open};
use crate::{Format, Limits, UnpackError, inspect, unpack};

fn sample() -> Tar {
    Tar::default()
        .file("./ci.yaml", b"version: 1\n")
        .file("src/deep/er/main.c", &[b'x'; 300_000])
        .link("src/link", "deep/er/main.c")
        .hard("same", "src/deep/er/main.c")
        .folder("empty/")
        .mode(0o7777)
        .file("run.sh", b"")
        .mode(0o6711)
}

#[test]
fn everything_is_made_as_it_was_with_two_modes_only() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = sample().gz();
    let inspected = inspect(Cursor::new(&bytes), &Limits::default(), None).unwrap();
    let unpacked = unpack(Cursor::new(&bytes), &Limits::default(), open(folder.path())).unwrap();
    assert_eq!((unpacked.format, unpacked.entries), (Format::TarGz, 9));
    assert_eq!((inspected.entries, inspected.bytes), (9, unpacked.bytes));
    let path = |name: &str| folder.path().join(name);
    assert_eq!(fs::read(path("src/link")).unwrap(), [b'x'; 300_000]);
    assert_eq!(
        fs::read_link(path("src/link")).unwrap().to_str(),
        Some("deep/er/main.c")
    );
    let file = fs::metadata(path("same")).unwrap();
    assert_eq!(file.nlink(), 2);
    let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("ci.yaml"), 0o644);
    assert_eq!(
        (mode("empty"), mode("src/deep"), mode("run.sh")),
        (0o755, 0o755, 0o755)
    );
}

#[test]
fn a_zip_is_made_likewise() {
    let folder = tempfile::tempdir().unwrap();
    let zip = Zip::of(&[
        Zipped::stored("l", b"a/b").mode(0o120_777),
        Zipped::deflated("a/b", &[3; 200_000]).mode(0o104_755),
    ]);
    let unpacked = unpack(
        Cursor::new(zip.bytes()),
        &Limits::default(),
        open(folder.path()),
    )
    .unwrap();
    assert_eq!(
        (unpacked.format, unpacked.entries, unpacked.bytes),
        (Format::Zip, 3, 200_000)
    );
    let file = folder.path().join("l");
    assert_eq!(fs::read(&file).unwrap(), [3; 200_000]);
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o7777,
        0o755
    );
}

#[test]
fn the_wanted_file_is_read_in_the_same_pass() {
    let bytes = sample().gz();
    let text = |wanted| {
        inspect(Cursor::new(&bytes), &Limits::default(), Some(wanted)).map(|seen| seen.text)
    };
    assert_eq!(text("ci.yaml").unwrap().as_deref(), Some("version: 1\n"));
    assert_eq!(text("./ci.yaml").unwrap().as_deref(), Some("version: 1\n"));
    for absent in ["other.yaml", "src/ci.yaml", "src", "src/link", "same"] {
        assert_eq!(text(absent).unwrap(), None, "{absent}");
    }
    assert_eq!(text("../ci.yaml").unwrap_err().code(), "path_escapes");
    let wanted = |data: &[u8]| {
        let limits = Limits {
            text_bytes_max: 10,
            ..Limits::default()
        };
        let bytes = Tar::default().file("a/ci", data).gz();
        inspect(Cursor::new(bytes), &limits, Some("a/ci")).map(|seen| seen.text.unwrap().len())
    };
    assert_eq!(wanted(b"0123456789").unwrap(), 10);
    assert_eq!(wanted(b"").unwrap(), 0);
    assert_eq!(wanted(b"0123456789a").unwrap_err().code(), "text_too_large");
    assert_eq!(wanted(b"\xff").unwrap_err().code(), "text_not_utf8");
}

#[test]
fn nothing_is_left_when_the_end_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = sample().link("out", "../..").gz();
    let error = unpack(Cursor::new(bytes), &Limits::default(), open(folder.path())).unwrap_err();
    assert_eq!(error.code(), "link_escapes");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut bytes = sample().gz();
    bytes.truncate(bytes.len() - 4);
    let error = unpack(Cursor::new(bytes), &Limits::default(), open(folder.path())).unwrap_err();
    assert_eq!(error.code(), "truncated");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_is_there_already_is_neither_written_nor_followed_nor_removed() {
    for there in ["file", "link", "folder"] {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let src = folder.path().join("src");
        match there {
            "file" => fs::write(&src, "mine").unwrap(),
            "link" => std::os::unix::fs::symlink(outside.path(), &src).unwrap(),
            _ => fs::create_dir(&src).unwrap(),
        }
        let result = unpack(
            Cursor::new(sample().gz()),
            &Limits::default(),
            open(folder.path()),
        );
        assert!(matches!(result, Err(UnpackError::InTheWay { entry }) if entry == "src"));
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(left, ["src"]);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_full_disk_and_a_used_up_quota_are_told_apart() {
    let code = |errno: Errno| UnpackError::of_writing("a", errno.into()).code();
    assert_eq!(code(Errno::NOSPC), "disk_full");
    assert_eq!(code(Errno::DQUOT), "quota");
    assert_eq!(code(Errno::NOSYS), "no_openat2");
    assert_eq!(code(Errno::ROFS), "write");
    assert_eq!(
        UnpackError::of_writing("a", Error::other("x")).code(),
        "write"
    );
}

#[test]
fn a_full_disk_leaves_nothing() {
    // A file system of 1 MiB, which needs a namespace of its own.
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("small");
    fs::create_dir(&inside).unwrap();
    let Some(_mounted) = SmallDisk::mount(&inside) else {
        eprintln!("left out: this process may not mount a tmpfs");
        return;
    };
    let mut random = fastrand::Rng::with_seed(1);
    let noise: Vec<u8> = (0..1 << 21).map(|_| random.u8(..)).collect();
    let bytes = Tar::default()
        .file("a/small", b"1")
        .file("a/large", &noise)
        .gz();
    let error = unpack(Cursor::new(bytes), &Limits::default(), open(&inside)).unwrap_err();
    assert_eq!(error.code(), "disk_full");
    assert_eq!(fs::read_dir(&inside).unwrap().count(), 0);
}

/// A small tmpfs, unmounted when dropped.
struct SmallDisk<'a>(&'a std::path::Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a std::path::Path) -> Option<Self> {
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(at)
            .output();
        mount
            .is_ok_and(|done| done.status.success())
            .then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let unmounted = std::process::Command::new("umount").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}
