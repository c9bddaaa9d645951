//! What is taken out of a folder, and what is left there.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::open;
use crate::{Artifacts, CollectLimits, PATH_BYTES, SkipReason, collect, each_file};

/// Takes files of these names, and all files that are below a folder of these names.
fn taken(folder: &Path, wanted: &[&str]) -> Artifacts {
    let is_below = |path: &str, folder: &str| {
        let rest = path.strip_prefix(folder);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_wanted = |path: &str| wanted.iter().any(|name| is_below(path, name));
    collect(open(folder), &is_wanted, &CollectLimits::default()).unwrap()
}

fn all_of(folder: &Path) -> Artifacts {
    collect(open(folder), &|_| true, &CollectLimits::default()).unwrap()
}

fn names(artifacts: &Artifacts) -> Vec<&str> {
    artifacts.files.iter().map(|file| &*file.name).collect()
}

fn write(folder: &Path, name: &str, content: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[test]
fn wanted_files_are_taken_sorted() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "build/b.elf",
        "build/a.elf",
        "build/a.o",
        "logs/x/y.txt",
        "top.elf",
    ] {
        write(folder.path(), name, name.as_bytes());
    }
    let found = taken(folder.path(), &["build/b.elf", "build/a.elf", "logs"]);
    assert_eq!(
        names(&found),
        ["build/a.elf", "build/b.elf", "logs/x/y.txt"]
    );
    assert!(found.skipped.is_empty());
    let mut text = String::new();
    found
        .open(&found.files[2])
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!((&*text, found.files[2].size), ("logs/x/y.txt", 12));
    assert_eq!(names(&all_of(folder.path())).len(), 5);
    assert_eq!(names(&taken(folder.path(), &[])).len(), 0);
}

#[test]
fn what_is_no_file_is_left_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(folder.path(), "good", b"1");
    symlink("/etc/passwd", path("link")).unwrap();
    symlink("/etc", path("etc")).unwrap();
    mknodat(
        CWD,
        path("fifo"),
        FileType::Fifo,
        Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    fs::write(folder.path().join(OsStr::from_bytes(b"odd\xff\n")), "").unwrap();
    let found = all_of(folder.path());
    assert_eq!(names(&found), ["good"]);
    let mut skipped: Vec<_> = found.skipped.iter().map(|s| (&*s.name, s.reason)).collect();
    skipped.sort_unstable_by_key(|(name, _)| name.to_owned());
    assert_eq!(
        skipped,
        [
            ("etc", SkipReason::Link),
            ("fifo", SkipReason::Special),
            ("link", SkipReason::Link),
            ("odd\u{fffd}\n", SkipReason::NameNotPlain),
            ("socket", SkipReason::Special),
        ]
    );
    let told: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
    let odd = "'odd\u{fffd}\\n' is left out since its name is no plain text; rename it";
    assert!(told.iter().any(|line| line == odd), "{told:?}");
    // Nobody asked for them.
    assert!(taken(folder.path(), &["good"]).skipped.is_empty());
}

#[test]
fn hard_links_are_taken_only_with_all_their_names_inside() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), "deps/app-1", b"1");
    fs::hard_link(folder.path().join("deps/app-1"), folder.path().join("app")).unwrap();
    write(outside.path(), "secret", b"s");
    fs::hard_link(outside.path().join("secret"), folder.path().join("stolen")).unwrap();
    let found = taken(folder.path(), &["app", "stolen"]);
    assert_eq!(names(&found), ["app"]);
    assert_eq!(found.skipped[0].name, "stolen");
    assert_eq!(found.skipped[0].reason, SkipReason::LinkedElsewhere);
}

#[test]
fn every_bound_holds() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c/d/e"] {
        write(folder.path(), name, &[b'x'; 100]);
    }
    let with = |limits| collect(open(folder.path()), &|_| true, &limits);
    let all = CollectLimits::default();
    let found = with(CollectLimits {
        file_bytes_max: 99,
        skipped_max: 1,
        ..all.clone()
    })
    .unwrap();
    assert!(found.files.is_empty() && found.skipped_more == 2);
    assert_eq!(found.skipped[0].reason, SkipReason::TooLarge);
    let found = with(CollectLimits {
        bytes_max: 299,
        ..all.clone()
    })
    .unwrap();
    assert_eq!(names(&found), ["a", "b"]);
    assert_eq!(found.skipped[0].reason, SkipReason::TooMuch);
    let found = with(CollectLimits {
        files_max: 1,
        ..all.clone()
    })
    .unwrap();
    assert_eq!(names(&found), ["a"]);
    let found = with(CollectLimits {
        depth_max: 1,
        ..all.clone()
    })
    .unwrap();
    assert_eq!(names(&found), ["a", "b"]);
    assert_eq!(
        (&*found.skipped[0].name, found.skipped[0].reason),
        ("c/d", SkipReason::TooDeep)
    );
    let found = with(CollectLimits {
        name_bytes_max: 4,
        ..all.clone()
    })
    .unwrap();
    assert_eq!(found.skipped[0].reason, SkipReason::NameTooLong);
    assert!(
        with(CollectLimits {
            visited_max: 5,
            ..all.clone()
        })
        .is_ok()
    );
    let error = with(CollectLimits {
        visited_max: 4,
        ..all.clone()
    });
    assert_eq!(error.unwrap_err().code(), "too_many_names");
    // The kept paths are a, b, c, c/d and c/d/e.
    let names = |names_bytes_max| {
        with(CollectLimits {
            names_bytes_max,
            ..all.clone()
        })
    };
    let fits = 11 + 5 * PATH_BYTES;
    assert!(names(fits).is_ok());
    assert_eq!(names(fits - 1).unwrap_err().code(), "names_too_large");
}

#[test]
fn every_file_is_shown_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "c/d/e"] {
        write(folder.path(), name, b"1");
    }
    symlink("a", folder.path().join("link")).unwrap();
    let mut seen = Vec::new();
    let shown = |limits: CollectLimits, seen: &mut Vec<String>| {
        each_file(&open(folder.path()), &limits, &mut |name| {
            seen.push(name.to_owned());
        })
    };
    shown(CollectLimits::default(), &mut seen).unwrap();
    seen.sort();
    assert_eq!(seen, ["a", "c/d/e"]);
    let few = CollectLimits {
        visited_max: 3,
        ..CollectLimits::default()
    };
    assert_eq!(shown(few, &mut seen).unwrap_err().code(), "too_many_names");
}

#[test]
fn a_file_that_changes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let found = |content: &[u8]| {
        fs::write(&file, content).unwrap();
        taken(folder.path(), &["log"])
    };
    let append = |bytes: &[u8]| {
        let mut log = fs::OpenOptions::new().append(true).open(&file).unwrap();
        log.write_all(bytes).unwrap();
    };
    // The file grows, shrinks, or is replaced before it is opened.
    let artifacts = found(b"12345");
    append(b"6");
    assert_eq!(
        artifacts.open(&artifacts.files[0]).unwrap_err().code(),
        "changed"
    );
    let artifacts = found(b"12345");
    fs::remove_file(&file).unwrap();
    fs::write(&file, "54321").unwrap();
    assert_eq!(
        artifacts.open(&artifacts.files[0]).unwrap_err().code(),
        "changed"
    );
    fs::remove_file(&file).unwrap();
    assert_eq!(
        artifacts.open(&artifacts.files[0]).unwrap_err().code(),
        "changed"
    );
    mknodat(CWD, &file, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert_eq!(
        artifacts.open(&artifacts.files[0]).unwrap_err().code(),
        "changed"
    );
    fs::remove_file(&file).unwrap();
    // Or during reading.
    for grows in [true, false] {
        let artifacts = found(&[b'x'; 100]);
        let mut content = artifacts.open(&artifacts.files[0]).unwrap();
        content.read_exact(&mut [0; 50]).unwrap();
        if grows {
            append(b"more");
        } else {
            fs::write(&file, "short").unwrap();
        }
        let error = content.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}

#[test]
fn what_cannot_be_read_does_not_hide_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a", b"1");
    write(folder.path(), "closed/b", b"1");
    let closed = folder.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let found = all_of(folder.path());
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    // Root can read it all the same.
    if rustix::process::geteuid().is_root() {
        assert_eq!(names(&found), ["a", "closed/b"]);
    } else {
        assert_eq!(names(&found), ["a"]);
        assert_eq!(found.skipped[0].reason, SkipReason::Unreadable);
    }
}
