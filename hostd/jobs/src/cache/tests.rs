//! What is found again, and what goes.

use super::*;
use std::os::unix::fs::symlink;

struct Home {
    folder: tempfile::TempDir,
    cancel: Cancel,
}

impl Home {
    fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
            cancel: Cancel::default(),
        };
        fs::create_dir_all(home.job().join("src")).unwrap();
        fs::write(home.job().join("src/a.c"), "int a;").unwrap();
        home
    }

    fn job(&self) -> PathBuf {
        self.folder.path().join("job")
    }

    fn rules(&self) -> Rules<'_> {
        Rules {
            owner: None,
            bytes_max: 1 << 20,
            floor: crate::disk::Floor::of(0),
            leave_out: &[],
            cancel: &self.cancel,
        }
    }

    fn cache(&self, bytes_max: u64) -> Cache {
        Cache::open(self.folder.path(), bytes_max, &self.cancel).unwrap()
    }

    fn key(&self, definition: &str, toolchain: u8) -> Key {
        let cache = pipeline::plan::Cache {
            definition: definition.to_owned(),
            key: vec![pipeline::Pattern::parse("src/**").unwrap()],
            paths: vec![".ccache".to_owned()],
        };
        Key::of(&cache, &[toolchain; 32], &self.job()).unwrap()
    }

    fn save(&self, cache: &Cache, key: &Key) -> Option<u64> {
        let paths = [".ccache".to_owned()];
        cache.save(key, &self.job(), &paths, &self.rules()).unwrap()
    }
}

#[test]
fn what_is_kept_is_found_by_definition_toolchain_and_files() {
    let home = Home::new();
    let key = home.key("make", 1);
    assert_eq!(home.key("make", 1), key);
    assert_ne!(home.key("make -j", 1), key);
    assert_ne!(home.key("make", 2), key);
    fs::write(home.job().join("README"), "no matter").unwrap();
    assert_eq!(home.key("make", 1), key);
    fs::write(home.job().join("src/b.c"), "").unwrap();
    assert_ne!(home.key("make", 1), key);
}

#[test]
fn a_tree_comes_back_as_it_was_kept() {
    let home = Home::new();
    let (cache, key) = (home.cache(1 << 20), home.key("make", 1));
    assert_eq!(home.save(&cache, &key), None);
    assert!(!cache.restore(&key, &home.job(), &home.rules()).unwrap());
    fs::create_dir_all(home.job().join(".ccache/x")).unwrap();
    fs::write(home.job().join(".ccache/x/o"), "object").unwrap();
    assert_eq!(home.save(&cache, &key), Some(6));
    tree::remove(&home.job().join(".ccache")).unwrap();
    assert!(cache.restore(&key, &home.job(), &home.rules()).unwrap());
    assert_eq!(fs::read(home.job().join(".ccache/x/o")).unwrap(), b"object");
}

#[test]
fn a_link_is_no_folder_to_keep() {
    let home = Home::new();
    let (cache, key) = (home.cache(1 << 20), home.key("make", 1));
    symlink("/etc", home.job().join(".ccache")).unwrap();
    assert_eq!(home.save(&cache, &key), None);
}

#[test]
fn nobody_waits_for_the_cache_after_a_cancel() {
    let home = Home::new();
    let held = home.cache(1 << 20);
    let waiting = thread::spawn({
        let (state, cancel) = (home.folder.path().to_owned(), home.cancel.clone());
        move || Cache::open(&state, 1 << 20, &cancel).map(drop)
    });
    home.cancel.cancel();
    assert!(matches!(waiting.join().unwrap(), Err(CopyError::Cancelled)));
    drop(held);
    // A cache that is free is nobody's to wait for.
    assert!(Cache::open(home.folder.path(), 1 << 20, &home.cancel).is_ok());
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let home = Home::new();
    let cache = home.cache(25);
    fs::create_dir_all(home.job().join(".ccache")).unwrap();
    fs::write(home.job().join(".ccache/o"), "ten bytes!").unwrap();
    let keys = ["1", "2", "3"].map(|definition| home.key(definition, 1));
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    for (key, age) in keys.iter().take(2).zip([0, 500]) {
        home.save(&cache, key);
        let size = File::options()
            .write(true)
            .open(cache.folder.join(&key.0).join(SIZE))
            .unwrap();
        size.set_modified(long_ago - Duration::from_secs(age))
            .unwrap();
    }
    // The older of the two is used once more.
    assert!(cache.restore(&keys[1], &home.job(), &home.rules()).unwrap());
    home.save(&cache, &keys[2]);
    let is_kept = |key: &Key| cache.folder.join(&key.0).exists();
    assert_eq!(keys.each_ref().map(is_kept), [false, true, true]);
    // What is larger than the whole cache is not kept, and costs nothing that is.
    fs::write(home.job().join(".ccache/big"), [0; 30]).unwrap();
    let paths = [".ccache".to_owned()];
    let large = cache.save(&home.key("4", 1), &home.job(), &paths, &home.rules());
    assert!(matches!(large, Err(CopyError::Large { .. })));
    assert!(is_kept(&keys[2]));
}
