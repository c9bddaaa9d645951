//! Modes of new and of existing files and folders.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// As hostd made it before it set modes.
fn old_folder(dir: &Path) {
    for folder in ["captures", "blobs/ab", "blobs/staging", "other"] {
        fs::create_dir_all(dir.join(folder)).unwrap();
    }
    for file in ["hostd.redb", "captures/x.la", "blobs/ab/abc", "other/file"] {
        fs::write(dir.join(file), "x").unwrap();
        set(&dir.join(file), 0o644);
    }
    for folder in ["captures", "blobs/ab", "blobs/staging", "blobs", "other"] {
        set(&dir.join(folder), 0o755);
    }
    set(dir, 0o755);
}

#[test]
fn what_is_made_is_for_the_owner_alone() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("a/b");
    data_folder(&data).unwrap();
    assert_eq!([mode(&dir.path().join("a")), mode(&data)], [0o700, 0o700]);
    drop(make_file(&data.join("file")).unwrap());
    assert_eq!(mode(&data.join("file")), 0o600);
    assert!(make_file(&data.join("file")).is_err());
    set(&data.join("file"), 0o644);
    drop(write_file(&data.join("file"), b"text").unwrap());
    assert_eq!(mode(&data.join("file")), 0o600);
    assert_eq!(fs::read(data.join("file")).unwrap(), b"text");
    for _ in 0..2 {
        drop(lock_file(&data.join("lock")).unwrap());
        assert_eq!(mode(&data.join("lock")), 0o600);
    }
}

#[test]
fn an_old_folder_is_mended_and_what_is_not_ours_is_left() {
    let dir = TempDir::new().unwrap();
    old_folder(dir.path());
    data_folder(dir.path()).unwrap();
    for (path, expected) in [
        ("", 0o700),
        ("hostd.redb", 0o600),
        ("captures", 0o700),
        ("captures/x.la", 0o600),
        ("blobs", 0o700),
        ("blobs/ab", 0o700),
        ("blobs/ab/abc", 0o600),
        ("blobs/staging", 0o700),
        ("other", 0o755),
        ("other/file", 0o644),
    ] {
        assert_eq!(mode(&dir.path().join(path)), expected, "{path}");
    }
}

#[test]
fn mending_stays_inside_the_folder() {
    let (dir, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    old_folder(dir.path());
    let (file, folder) = (outside.path().join("file"), outside.path().join("folder"));
    fs::write(&file, "x").unwrap();
    fs::create_dir(&folder).unwrap();
    set(&file, 0o644);
    set(&folder, 0o755);
    symlink(&file, dir.path().join("captures/link.la")).unwrap();
    fs::remove_dir_all(dir.path().join("blobs")).unwrap();
    symlink(&folder, dir.path().join("blobs")).unwrap();
    data_folder(dir.path()).unwrap();
    assert_eq!([mode(&file), mode(&folder)], [0o644, 0o755]);
    assert_eq!(mode(&dir.path().join("captures/x.la")), 0o600);
}

#[test]
fn a_folder_that_others_may_write_to_is_refused_with_what_to_do() {
    let dir = TempDir::new().unwrap();
    for shared in [0o770, 0o777, 0o1777] {
        set(dir.path(), shared);
        let error = data_folder(dir.path()).unwrap_err();
        assert!(matches!(error, PrivateError::Shared { .. }), "{error:?}");
        assert!(error.to_string().contains("chmod 700"), "{error}");
        assert_eq!(mode(dir.path()), shared & 0o777, "left as it was");
    }
}

#[test]
fn a_folder_of_somebody_else_is_refused_with_what_to_do() {
    // Only root may give a folder away; everybody else is not the owner of the root folder.
    let dir = TempDir::new().unwrap();
    let given = std::os::unix::fs::chown(dir.path(), Some(65_534), None);
    let foreign = given.map_or_else(|_| Path::new("/"), |()| dir.path());
    let error = data_folder(foreign).unwrap_err();
    assert!(matches!(error, PrivateError::Foreign { .. }), "{error:?}");
    assert!(error.to_string().contains("run hostd as that user"));
}

#[test]
fn a_file_is_no_folder() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = data_folder(&file).unwrap_err();
    assert!(matches!(error, PrivateError::Folder { .. }), "{error:?}");
}

#[test]
fn a_secret_is_read_only_from_a_private_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    let put = |text: &str, mode: u32| {
        let _ = fs::remove_file(&path);
        fs::write(&path, text).unwrap();
        set(&path, mode);
        read_secret(&path)
    };
    assert_eq!(put("ghp_abc\n", 0o600).unwrap(), "ghp_abc");
    assert_eq!(put(" x ", 0o400).unwrap(), "x");
    for mode in [0o640, 0o604, 0o620] {
        let refused = put("ghp_abc", mode);
        assert!(
            matches!(refused, Err(SecretError::Shared { .. })),
            "{mode:o}"
        );
    }
    for text in ["", "\n", "two words", &"x".repeat(5000)] {
        let refused = put(text, 0o600);
        assert!(
            matches!(refused, Err(SecretError::Content { .. })),
            "{text}"
        );
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(read_secret(&path), Err(SecretError::Read { .. })));
}
