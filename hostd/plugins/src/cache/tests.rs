//! What the cache gives back, and what it does not.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use tempfile::TempDir;

use super::*;

fn name(n: u8) -> Name {
    Name::new(&hex::encode([n; 32]), "0123abcd").unwrap()
}

fn open(dir: &TempDir) -> Cache {
    Cache::open(&dir.path().join("cache"), 1000).unwrap()
}

fn path(cache: &Cache, name: &Name) -> PathBuf {
    cache.folder.join(name.file())
}

fn has(cache: &Cache, name: &Name) -> bool {
    cache.load(name).is_some()
}

#[test]
fn what_was_kept_is_there_after_a_restart() {
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    assert!(!has(&cache, &name(1)));
    assert_eq!(
        cache.keep(&name(1), b"code".to_vec()).unwrap().bytes(),
        b"code"
    );
    drop(cache);
    let cache = open(&dir);
    assert_eq!(cache.load(&name(1)).unwrap().bytes(), b"code");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&cache.folder), 0o700);
    assert_eq!(mode(&path(&cache, &name(1))), 0o600);
    assert_eq!(mode(&cache.folder.join("key")), 0o600);
}

#[test]
fn any_change_of_a_file_makes_it_worthless() {
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    drop(cache.keep(&name(1), b"code".to_vec()).unwrap());
    let path = path(&cache, &name(1));
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&path, &bad).unwrap();
        assert!(!has(&cache, &name(1)), "byte {at}");
        fs::write(&path, &good[..at]).unwrap();
        assert!(!has(&cache, &name(1)), "cut at {at}");
    }
    fs::write(&path, [&good[..], b"x"].concat()).unwrap();
    assert!(!has(&cache, &name(1)));
    fs::write(&path, &good).unwrap();
    assert!(has(&cache, &name(1)));
}

#[test]
fn a_file_is_worth_nothing_under_another_name_or_key() {
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    drop(cache.keep(&name(1), b"code".to_vec()).unwrap());
    fs::copy(path(&cache, &name(1)), path(&cache, &name(2))).unwrap();
    assert!(!has(&cache, &name(2)), "another component");
    let engine = Name::new(&hex::encode([1; 32]), "0123abce").unwrap();
    fs::copy(path(&cache, &name(1)), path(&cache, &engine)).unwrap();
    assert!(!has(&cache, &engine), "another engine");
    let other = TempDir::new().unwrap();
    let foreign = open(&other);
    fs::copy(path(&cache, &name(1)), path(&foreign, &name(1))).unwrap();
    assert!(!has(&foreign, &name(1)), "another server");
    fs::remove_file(cache.folder.join("key")).unwrap();
    let again = open(&dir);
    assert!(!has(&again, &name(1)), "the key is lost");
    drop(again.keep(&name(1), b"code".to_vec()).unwrap());
    assert!(has(&again, &name(1)));
}

#[test]
fn what_others_could_have_written_is_not_there() {
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    drop(cache.keep(&name(1), b"code".to_vec()).unwrap());
    let own = path(&cache, &name(1));
    for mode in [0o620, 0o602, 0o640] {
        fs::set_permissions(&own, Permissions::from_mode(mode)).unwrap();
        assert!(!has(&cache, &name(1)), "{mode:o}");
    }
    fs::set_permissions(&own, Permissions::from_mode(0o600)).unwrap();
    fs::rename(&own, cache.folder.join("elsewhere")).unwrap();
    symlink("elsewhere", &own).unwrap();
    assert!(!has(&cache, &name(1)), "a link");
    fs::remove_file(&own).unwrap();
    fs::create_dir(&own).unwrap();
    assert!(!has(&cache, &name(1)), "a folder");
    // A key that others could have read is replaced.
    let key = fs::read(cache.folder.join("key")).unwrap();
    fs::set_permissions(cache.folder.join("key"), Permissions::from_mode(0o644)).unwrap();
    drop(open(&dir));
    assert_ne!(fs::read(cache.folder.join("key")).unwrap(), key);
    fs::set_permissions(&cache.folder, Permissions::from_mode(0o770)).unwrap();
    let refused = Cache::open(&cache.folder, 1).unwrap_err();
    assert!(matches!(refused, CacheError::Foreign { .. }), "{refused}");
    fs::set_permissions(&cache.folder, Permissions::from_mode(0o700)).unwrap();
    symlink(&cache.folder, dir.path().join("link")).unwrap();
    let refused = Cache::open(&dir.path().join("link"), 1).unwrap_err();
    assert!(matches!(refused, CacheError::Foreign { .. }), "{refused}");
}

#[test]
fn a_file_of_another_owner_is_not_there() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    drop(cache.keep(&name(1), b"code".to_vec()).unwrap());
    std::os::unix::fs::chown(path(&cache, &name(1)), Some(12_345), None).unwrap();
    assert!(!has(&cache, &name(1)));
}

#[test]
fn what_was_not_used_for_longest_goes_first_and_what_is_in_use_stays() {
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    let code = vec![7; 400];
    for n in 1..=2 {
        drop(cache.keep(&name(n), code.clone()).unwrap());
        let age = SystemTime::now() - Duration::from_secs(100 - u64::from(n));
        File::open(path(&cache, &name(n)))
            .unwrap()
            .set_modified(age)
            .unwrap();
    }
    // The first was used last.
    drop(cache.load(&name(1)).unwrap());
    let third = cache.keep(&name(3), code.clone()).unwrap().into_hold();
    assert_eq!(
        [1, 2, 3].map(|n| has(&cache, &name(n))),
        [true, false, true]
    );
    let first = cache.load(&name(1)).unwrap();
    let fourth = cache.keep(&name(4), code.clone()).unwrap();
    assert_eq!(
        [1, 3, 4].map(|n| has(&cache, &name(n))),
        [true; 3],
        "all are in use"
    );
    drop((first, third));
    drop(cache.keep(&name(5), code).unwrap());
    assert_eq!([1, 3].map(|n| has(&cache, &name(n))), [false; 2]);
    assert!(has(&cache, &name(4)));
    drop(fourth);
    assert!(locked(&cache.held).is_empty());
}

#[test]
fn what_a_server_left_unfinished_is_removed_and_does_not_stand_in_the_way() {
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    let work = cache.folder.join(format!("{}{UNFINISHED}", name(1).file()));
    fs::write(&work, b"half").unwrap();
    drop(cache.keep(&name(1), b"code".to_vec()).unwrap());
    fs::write(&work, b"half").unwrap();
    fs::write(cache.folder.join("key.new"), b"half").unwrap();
    let cache = open(&dir);
    assert!(has(&cache, &name(1)) && !work.exists() && !cache.folder.join("key.new").exists());
}

#[test]
fn names_are_hexadecimal() {
    let digest = "a".repeat(64);
    for (component, engine) in [
        ("a", "b"),
        (&digest[..], ""),
        (&digest, "../x"),
        (&digest, "b/c"),
        ("../", "b"),
    ] {
        assert_eq!(Name::new(component, engine), None);
    }
    let cache = TempDir::new().unwrap();
    let cache = open(&cache);
    let large = cache
        .keep(&name(1), vec![0; CODE_BYTES_MAX + 1])
        .unwrap_err();
    assert!(matches!(large, CacheError::TooLarge));
}
