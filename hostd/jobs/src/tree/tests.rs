//! Trees as jobs may leave them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use pipeline::Pattern;

use super::{CopyError, Rules, Search, beneath, copy, matching, remove};
use crate::cancel::Cancel;
use crate::disk::Floor;

fn rules<'r>(cancel: &'r Cancel, leave_out: &'r [PathBuf], bytes_max: u64) -> Rules<'r> {
    Rules {
        owner: None,
        bytes_max,
        floor: Floor::of(0),
        leave_out,
        cancel,
    }
}

/// Files that these patterns match, of which there are at most five.
fn found(root: &Path, patterns: &[&str]) -> Result<Vec<PathBuf>, CopyError> {
    let patterns = patterns.iter().map(|text| Pattern::parse(text).unwrap());
    let search = Search {
        patterns: &patterns.collect::<Vec<_>>(),
        files_max: 5,
        cancel: None,
    };
    matching(root, &search)
}

/// A folder with a file, a program, a link out, and a pipe.
fn sample(root: &Path) {
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/text"), "12345").unwrap();
    fs::write(root.join("a/tool"), "#!").unwrap();
    fs::set_permissions(root.join("a/tool"), Permissions::from_mode(0o4755)).unwrap();
    symlink("/etc/passwd", root.join("a/link")).unwrap();
    let pipe = root.join("a/pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn a_copy_has_files_links_and_modes_but_nothing_that_is_neither() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    sample(&from);
    let cancel = Cancel::default();
    let bytes = copy(&from, &to, &rules(&cancel, &[], 7)).unwrap();
    assert_eq!(bytes, 7);
    assert_eq!(fs::read(to.join("a/b/text")).unwrap(), b"12345");
    let mode = |path: &str| to.join(path).metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("a/tool"), 0o755);
    assert_eq!(
        fs::read_link(to.join("a/link")).unwrap(),
        Path::new("/etc/passwd")
    );
    assert!(to.join("a/pipe").symlink_metadata().is_err());
    let time = |root: &Path| {
        root.join("a/b/text")
            .metadata()
            .unwrap()
            .modified()
            .unwrap()
    };
    assert_eq!(time(&from), time(&to));
    let found = found(&to, &["**"]).unwrap();
    assert_eq!(found, ["a/b/text", "a/tool"].map(PathBuf::from));
}

#[test]
fn a_copy_ends_at_its_bound_at_what_is_left_out_and_when_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    sample(&from);
    let cancel = Cancel::default();
    let large = copy(&from, &to, &rules(&cancel, &[], 6));
    assert!(matches!(large, Err(CopyError::Large { .. })), "{large:?}");
    let without = [from.join("a/b")];
    let other = folder.path().join("other");
    assert_eq!(
        copy(&from, &other, &rules(&cancel, &without, 6)).unwrap(),
        2
    );
    assert!(!other.join("a/b").exists());
    cancel.cancel();
    let cancelled = copy(&from, &folder.path().join("third"), &rules(&cancel, &[], 7));
    assert!(matches!(cancelled, Err(CopyError::Cancelled)));
}

#[test]
fn a_way_through_a_link_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path());
    symlink("/etc", folder.path().join("out")).unwrap();
    let way = |path: &str| beneath(folder.path(), Path::new(path)).unwrap();
    assert_eq!(way("a/b/text"), Some(folder.path().join("a/b/text")));
    assert_eq!(way("./a/none"), Some(folder.path().join("a/none")));
    for path in ["out/passwd", "a/b/text/x", "../x", "/etc/passwd", "none/x"] {
        assert_eq!(way(path), None, "{path}");
    }
}

#[test]
fn whatever_a_job_leaves_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("job");
    sample(&root);
    // Deeper than descriptors and paths reach; and names that removing would give.
    fs::create_dir(root.join(".1")).unwrap();
    fs::write(root.join(".1/x"), "").unwrap();
    fs::write(root.join(".2"), "").unwrap();
    fs::create_dir(root.join("deep")).unwrap();
    for _ in 0..40 {
        let bottom = root.join("next").join("folder/".repeat(60));
        fs::create_dir_all(&bottom).unwrap();
        fs::rename(root.join("deep"), bottom.join("below")).unwrap();
        fs::rename(root.join("next"), root.join("deep")).unwrap();
    }
    assert!(jail::disk_use(&root).unwrap().is_too_much);
    fs::create_dir(root.join("locked")).unwrap();
    fs::write(root.join("locked/x"), "").unwrap();
    fs::set_permissions(root.join("locked"), Permissions::from_mode(0o000)).unwrap();
    remove(&root).unwrap();
    assert!(!root.exists());
    remove(&root).unwrap();
}

#[test]
fn a_copy_keeps_holes_and_asks_for_room() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    sample(&from);
    let file = fs::File::create(from.join("hole")).unwrap();
    file.set_len(40 << 20).unwrap();
    fs::set_permissions(from.join("hole"), Permissions::from_mode(0o640)).unwrap();
    let cancel = Cancel::default();
    copy(&from, &to, &rules(&cancel, &[], u64::MAX)).unwrap();
    let copied = to.join("hole").metadata().unwrap();
    assert_eq!((copied.len(), copied.blocks()), (40 << 20, 0));
    assert_eq!(copied.mode() & 0o777, 0o640);
    // Of what is large, before any of it is there.
    fs::write(from.join("large"), vec![1; 17 << 20]).unwrap();
    let full = Rules {
        floor: Floor::of(u64::MAX),
        ..rules(&cancel, &[], u64::MAX)
    };
    let refused = copy(&from.join("large"), &folder.path().join("more"), &full).unwrap_err();
    assert!(base::space::is_full(&refused), "{refused}");
    assert!(!folder.path().join("more").exists());
}

#[test]
fn a_pattern_means_files_as_a_shell_would() {
    let root = tempfile::tempdir().unwrap();
    let paths = [
        "Makefile",
        "src/a.c",
        "src/sub/b.c",
        "src/sub/b.h",
        "r/x.xml",
    ];
    for path in paths {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    symlink("../src", root.path().join("r/src")).unwrap();
    let found = |patterns: &[&str]| {
        found(root.path(), patterns)
            .unwrap()
            .iter()
            .map(|file| file.display().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let sources = "src/a.c src/sub/b.c src/sub/b.h";
    assert_eq!(
        found(&["Makefile", "src/**"]),
        format!("Makefile {sources}")
    );
    assert_eq!(found(&["src"]), sources);
    assert_eq!(found(&["src/*.c"]), "src/a.c");
    assert_eq!(found(&["src/**/*.?"]), sources);
    assert_eq!(found(&["**/*.c", "src/a.c"]), "src/a.c src/sub/b.c");
    assert_eq!(found(&["./r/*.xml"]), "r/x.xml");
    assert_eq!(found(&["none"]), "");
}

#[test]
fn a_file_without_a_plain_name_is_a_file_too() {
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"odd\xff.c");
    fs::write(root.path().join(name), "").unwrap();
    assert_eq!(found(root.path(), &["*.c"]).unwrap(), [PathBuf::from(name)]);
}

#[test]
fn more_files_than_may_fit_are_an_error_and_others_are_not_counted() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("r")).unwrap();
    for number in 0..5 {
        fs::write(root.path().join(format!("r/{number}.xml")), "").unwrap();
        fs::write(root.path().join(format!("r/{number}.txt")), "").unwrap();
    }
    assert_eq!(found(root.path(), &["r/*.xml"]).unwrap().len(), 5);
    let all = found(root.path(), &["**"]);
    assert!(
        matches!(all, Err(CopyError::TooManyFit { files: 5 })),
        "{all:?}"
    );
    let cancel = Cancel::default();
    cancel.cancel();
    let search = Search {
        patterns: &[Pattern::parse("**").unwrap()],
        files_max: 5,
        cancel: Some(&cancel),
    };
    let cancelled = matching(root.path(), &search);
    assert!(matches!(cancelled, Err(CopyError::Cancelled)));
}
