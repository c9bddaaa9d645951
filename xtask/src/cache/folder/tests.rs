//! Saving and restoring, with target folders in which nothing was really compiled.

use std::collections::BTreeMap;

use super::*;
use crate::cache::restore::NotRestored;
use crate::cache::save::Saved;
use crate::cache::tests::{Compiled, Scratch};

const A: &str = "aaaaaaaaaaaaaaa1";
const B: &str = "bbbbbbbbbbbbbbb2";
const KEY: &str = "00";

/// A clone with a library, and a build script whose texts name its folder.
fn first(name: &str) -> Compiled {
    let compiled = Compiled::new(name);
    compiled.library("outside", A, &[]);
    let folder = compiled.profile().join(format!("build/user-{B}/out"));
    let text = format!("include!(\"{}/made.rs\");", folder.display());
    compiled.script("user", B, &[("code.rs", &text), ("object.o", "\0")]);
    compiled
}

fn save(cache: &CacheFolder, key: &str, compiled: &Compiled) -> Saved {
    let old = match cache.content(key) {
        Content::Files(list) => Some(list),
        Content::Nothing | Content::Damaged(_) => None,
    };
    let units = compiled.units();
    cache
        .save(key, &compiled.profile(), &units, old.as_ref())
        .unwrap()
}

fn restore(cache: &CacheFolder, key: &str, compiled: &Compiled) -> Result<usize, NotRestored> {
    let profile = compiled.profile();
    fs::create_dir_all(profile.parent().unwrap()).unwrap();
    match cache.content(key) {
        Content::Files(list) => cache
            .restore(key, &list, &profile)
            .map(|restored| restored.units),
        Content::Nothing => panic!("there is nothing"),
        Content::Damaged(error) => Err(NotRestored::Damaged(error)),
    }
}

fn set_date(path: &Path, date: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(date).unwrap();
}

/// Every file below a folder: its path, content and modification time.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let date = fs::metadata(&path).unwrap().modified().unwrap();
            let below = path.strip_prefix(folder).unwrap().to_owned();
            found.insert(below, (fs::read(&path).unwrap(), date));
        }
    }
    found
}

#[test]
fn another_clone_gets_the_same_files_with_the_same_dates_and_its_own_folders() {
    let (scratch, first, second) = (
        Scratch::new("same"),
        first("same-1"),
        Compiled::new("same-2"),
    );
    let cache = CacheFolder::open(&scratch.0).unwrap();
    assert!(matches!(
        save(&cache, KEY, &first),
        Saved::Added { units: 2, .. }
    ));
    assert_eq!(save(&cache, KEY, &first), Saved::Known);
    assert_eq!(restore(&cache, KEY, &second).unwrap(), 2);
    let mut expected = files(&first.profile());
    expected.retain(|path, _| path.extension().is_none_or(|kind| kind != "d"));
    let [from, to] = [&first, &second].map(|clone| clone.profile().display().to_string());
    for (content, _) in expected.values_mut() {
        let text = String::from_utf8(content.clone()).unwrap();
        *content = text.replace(&from, &to).into_bytes();
    }
    assert_eq!(files(&second.profile()), expected);
    // What the second clone has is nothing new, though its texts name another folder.
    assert_eq!(save(&cache, KEY, &second), Saved::Known);
}

#[cfg(unix)]
#[test]
fn only_what_is_replaced_and_never_written_in_place_is_shared() {
    use std::os::unix::fs::MetadataExt;
    let (scratch, first, second) = (
        Scratch::new("links"),
        first("links-1"),
        Compiled::new("links-2"),
    );
    let cache = CacheFolder::open(&scratch.0).unwrap();
    save(&cache, KEY, &first);
    restore(&cache, KEY, &second).unwrap();
    for (path, _) in files(&second.profile()) {
        let names = fs::metadata(second.profile().join(&path)).unwrap().nlink();
        let is_shared = path
            .extension()
            .is_some_and(|kind| kind == "rlib" || kind == "rmeta");
        assert_eq!(names, if is_shared { 3 } else { 1 }, "{}", path.display());
    }
}

#[test]
fn every_damage_is_noticed_and_leaves_no_half_a_folder() {
    let (scratch, first, second) = (
        Scratch::new("damage"),
        first("damage-1"),
        Compiled::new("damage-2"),
    );
    let cache = CacheFolder::open(&scratch.0).unwrap();
    save(&cache, KEY, &first);
    let place = cache.place(KEY);
    let spoil: [fn(&Path, &[u8]); 3] = [
        |path, _| fs::remove_file(path).unwrap(),
        |path, content| fs::write(path, &content[..content.len() - 1]).unwrap(),
        |path, content| {
            let mut content = content.to_vec();
            content[0] ^= 1;
            fs::write(path, content).unwrap();
        },
    ];
    let saved = files(&place);
    for (path, (content, date)) in saved.iter().filter(|(_, (content, _))| !content.is_empty()) {
        for spoil in spoil {
            let path = place.join(path);
            spoil(&path, content);
            if path.exists() {
                set_date(&path, *date);
            }
            let error = restore(&cache, KEY, &second).unwrap_err();
            assert!(
                matches!(error, NotRestored::Damaged(_)),
                "{}: {error:?}",
                path.display()
            );
            let target = second.profile().parent().unwrap().to_owned();
            assert_eq!(fs::read_dir(target).unwrap().count(), 0);
            fs::write(&path, content).unwrap();
            set_date(&path, *date);
        }
    }
    assert_eq!(restore(&cache, KEY, &second).unwrap(), 2);
}

#[test]
fn a_folder_that_cannot_be_made_is_no_damage() {
    let (scratch, first) = (Scratch::new("failed"), first("failed-1"));
    let cache = CacheFolder::open(&scratch.0).unwrap();
    save(&cache, KEY, &first);
    // The folder is there, and not empty.
    assert!(matches!(
        restore(&cache, KEY, &first),
        Err(NotRestored::Failed(_))
    ));
    assert_eq!(
        fs::read_dir(first.profile().parent().unwrap())
            .unwrap()
            .count(),
        1
    );
    assert!(first.profile().join("deps").exists());
}

#[test]
fn what_another_clone_saved_stays_and_what_changed_is_replaced() {
    let (scratch, first) = (Scratch::new("union"), first("union-1"));
    let cache = CacheFolder::open(&scratch.0).unwrap();
    save(&cache, KEY, &first);
    let other = Compiled::new("union-2");
    other.library("user", "ccccccccccccccc3", &[]);
    assert!(matches!(
        save(&cache, KEY, &other),
        Saved::Added { units: 1, .. }
    ));
    // The same unit, as its build script came out in other surroundings.
    let changed = Compiled::new("union-3");
    changed.script("user", B, &[("code.rs", "other")]);
    changed.write(
        &format!(".fingerprint/user-{B}/run-build-script"),
        "dddddddddddddddd",
    );
    assert!(matches!(
        save(&cache, KEY, &changed),
        Saved::Added { units: 1, .. }
    ));
    let last = Compiled::new("union-4");
    assert_eq!(restore(&cache, KEY, &last).unwrap(), 3);
    let code = last.profile().join(format!("build/user-{B}/out/code.rs"));
    assert_eq!(fs::read_to_string(&code).unwrap(), "other");
    assert!(!code.with_file_name("object.o").exists());
}

#[test]
fn what_was_used_least_recently_makes_room() {
    let (scratch, first) = (Scratch::new("room"), first("room-1"));
    let mut cache = CacheFolder::open(&scratch.0).unwrap();
    let Saved::Added { bytes, .. } = save(&cache, "a", &first) else {
        panic!("it is not saved");
    };
    save(&cache, "b", &first);
    let used = |key: &str, seconds| {
        let date = SystemTime::now() - Duration::from_secs(seconds);
        set_date(&cache.place(key).join(USED), date);
    };
    used("a", 10);
    used("b", 20);
    cache.bytes_max = 2 * bytes;
    save(&cache, "c", &first);
    let mut keys = cache.keys().unwrap();
    keys.sort();
    assert_eq!(keys, ["a", "c"]);
    cache.note_use("a").unwrap();
    cache.bytes_max = bytes;
    save(&cache, "d", &first);
    assert_eq!(cache.keys().unwrap(), ["d"]);
    // More than the whole cache may have is not saved, and removes nothing.
    cache.bytes_max = bytes - 1;
    assert_eq!(save(&cache, "e", &first), Saved::TooLarge { bytes });
    assert_eq!(cache.keys().unwrap(), ["d"]);
}

#[test]
fn what_a_killed_process_left_is_removed_and_never_restored() {
    let (scratch, first) = (Scratch::new("killed"), first("killed-1"));
    let cache = CacheFolder::open(&scratch.0).unwrap();
    let partial = cache.partial(KEY).unwrap();
    fs::write(partial.join("file"), "half").unwrap();
    assert!(matches!(cache.content(KEY), Content::Nothing));
    drop(cache);
    let cache = CacheFolder::open(&scratch.0).unwrap();
    assert!(!partial.exists());
    save(&cache, KEY, &first);
    assert_eq!(cache.keys().unwrap(), [KEY]);
}

#[test]
fn two_that_save_and_one_that_restores_do_not_disturb_each_other() {
    let scratch = Scratch::new("crowd");
    let clones = [Compiled::new("crowd-1"), Compiled::new("crowd-2")];
    clones[0].library("outside", A, &[]);
    clones[1].library("user", B, &[]);
    std::thread::scope(|scope| {
        for (number, clone) in clones.iter().enumerate() {
            let folder = &scratch.0;
            scope.spawn(move || {
                for round in 0..20_u64 {
                    // A unit of this round, which the cache does not have yet.
                    clone.library(
                        "outside",
                        &format!("{:016x}", 2 * round + number as u64),
                        &[],
                    );
                    save(&CacheFolder::open(folder).unwrap(), KEY, clone);
                }
            });
        }
        scope.spawn(|| {
            let taker = Compiled::new("crowd-3");
            for _ in 0..20 {
                let cache = CacheFolder::open(&scratch.0).unwrap();
                if matches!(cache.content(KEY), Content::Files(_)) {
                    restore(&cache, KEY, &taker).unwrap();
                    fs::remove_dir_all(taker.profile()).unwrap();
                }
            }
        });
    });
    let last = Compiled::new("crowd-4");
    let cache = CacheFolder::open(&scratch.0).unwrap();
    assert_eq!(restore(&cache, KEY, &last).unwrap(), 42);
    assert_eq!(last.units().len(), 42);
}

#[test]
fn a_cache_that_another_process_holds_is_waited_for_and_then_left() {
    let scratch = Scratch::new("held");
    let held = CacheFolder::open(&scratch.0).unwrap();
    let error = CacheFolder::open_within(&scratch.0, Duration::ZERO)
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("another process holds"),
        "{error:#}"
    );
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| CacheFolder::open(&scratch.0).map(drop));
        drop(held);
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_file_with_another_date_is_damage_since_cargo_compares_dates() {
    let (scratch, first) = (Scratch::new("dates"), first("dates-1"));
    let cache = CacheFolder::open(&scratch.0).unwrap();
    save(&cache, KEY, &first);
    let path = cache.place(KEY).join(format!("deps/liboutside-{A}.rlib"));
    set_date(&path, SystemTime::now() + Duration::from_secs(1));
    let restored = restore(&cache, KEY, &Compiled::new("dates-2"));
    assert!(matches!(restored, Err(NotRestored::Damaged(_))));
}
