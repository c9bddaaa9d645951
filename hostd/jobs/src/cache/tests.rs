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
        self.cache_of(&CacheOwner::local(), bytes_max)
    }

    fn cache_of(&self, owner: &CacheOwner, bytes_max: u64) -> Cache {
        Cache::open(self.folder.path(), owner, bytes_max, &self.cancel).unwrap()
    }

    /// What the job keeps next.
    fn fill(&self, content: &[u8]) {
        fs::create_dir_all(self.job().join(".ccache")).unwrap();
        fs::write(self.job().join(".ccache/o"), content).unwrap();
    }

    /// What a job gets from the cache.
    fn restored(&self, cache: &Cache, key: &Key) -> Option<Vec<u8>> {
        tree::remove(&self.job().join(".ccache")).unwrap();
        cache.restore(key, &self.job(), &self.rules()).unwrap()?;
        Some(fs::read(self.job().join(".ccache/o")).unwrap())
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
    assert_eq!(home.restored(&cache, &key), None);
    fs::create_dir_all(home.job().join(".ccache/x")).unwrap();
    fs::write(home.job().join(".ccache/x/o"), "object").unwrap();
    assert_eq!(home.save(&cache, &key), Some(6));
    tree::remove(&home.job().join(".ccache")).unwrap();
    let found = cache.restore(&key, &home.job(), &home.rules()).unwrap();
    assert_eq!(found, Some(&Layer::Shared));
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
        move || Cache::open(&state, &CacheOwner::local(), 1 << 20, &cancel).map(drop)
    });
    home.cancel.cancel();
    assert!(matches!(waiting.join().unwrap(), Err(CopyError::Cancelled)));
    drop(held);
    // A cache that is free is nobody's to wait for.
    home.cache(1 << 20);
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let home = Home::new();
    let cache = home.cache(25);
    home.fill(b"ten bytes!");
    let keys = ["1", "2", "3"].map(|definition| home.key(definition, 1));
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    for (key, age) in keys.iter().take(2).zip([0, 500]) {
        home.save(&cache, key);
        let size = File::options()
            .write(true)
            .open(cache.folder.join(key.entry(&Layer::Shared)).join(SIZE))
            .unwrap();
        size.set_modified(long_ago - Duration::from_secs(age))
            .unwrap();
    }
    // The older of the two is used once more.
    assert!(home.restored(&cache, &keys[1]).is_some());
    home.save(&cache, &keys[2]);
    let is_kept = |key: &Key| cache.folder.join(key.entry(&Layer::Shared)).exists();
    assert_eq!(keys.each_ref().map(is_kept), [false, true, true]);
    // What is larger than the whole cache is not kept, and costs nothing that is.
    fs::write(home.job().join(".ccache/big"), [0; 30]).unwrap();
    let paths = [".ccache".to_owned()];
    let large = cache.save(&home.key("4", 1), &home.job(), &paths, &home.rules());
    assert!(matches!(large, Err(CopyError::Large { .. })));
    assert!(is_kept(&keys[2]));
}

/// Every owner that a job can have in these tests.
fn owners() -> Vec<CacheOwner> {
    let own = |text: &str| text.to_owned();
    let layers = [
        Layer::Shared,
        Layer::Ref(own("topic")),
        Layer::Ref(own("other")),
        // Names that look like other layers.
        Layer::Ref(own("shared")),
        Layer::Ref(own("ann")),
        Layer::Ref(own("")),
        Layer::User(own("ann")),
        Layer::User(own("bob")),
    ];
    let of = |org: &'static str| {
        let owner = move |layer: &Layer| CacheOwner::new(org, layer.clone());
        layers.iter().map(owner).collect::<Vec<_>>()
    };
    ["acme", "rival", ""].into_iter().flat_map(of).collect()
}

#[test]
fn a_job_reads_its_own_layer_and_the_shared_one_of_its_organisation() {
    for writer in owners() {
        let home = Home::new();
        let key = home.key("make", 1);
        home.fill(b"kept");
        home.save(&home.cache_of(&writer, 1 << 20), &key).unwrap();
        for reader in owners() {
            let is_read = reader.folder() == writer.folder()
                && [reader.written(), &Layer::Shared].contains(&writer.written());
            let found = home.restored(&home.cache_of(&reader, 1 << 20), &key);
            assert_eq!(found.is_some(), is_read, "{writer:?} {reader:?}");
        }
    }
}

#[test]
fn what_one_owner_keeps_changes_nothing_for_another() {
    let home = Home::new();
    let key = home.key("make", 1);
    for owner in owners() {
        home.fill(format!("{owner:?}").as_bytes());
        home.save(&home.cache_of(&owner, 1 << 20), &key).unwrap();
    }
    for owner in owners() {
        let found = home.restored(&home.cache_of(&owner, 1 << 20), &key);
        assert_eq!(found.unwrap(), format!("{owner:?}").into_bytes());
    }
}

#[test]
fn room_is_taken_from_who_has_most() {
    let home = Home::new();
    let rival = CacheOwner::new("rival", Layer::Shared);
    let acme = CacheOwner::new("acme", Layer::Shared);
    home.fill(&[0; 10]);
    let key = home.key("old", 1);
    home.save(&home.cache_of(&acme, 25), &key).unwrap();
    for round in 0..5 {
        home.save(
            &home.cache_of(&rival, 25),
            &home.key(&format!("{round}"), 1),
        )
        .unwrap();
    }
    assert!(home.restored(&home.cache_of(&acme, 25), &key).is_some());
    let newest = home.key("4", 1);
    assert!(home.restored(&home.cache_of(&rival, 25), &newest).is_some());
}

#[test]
fn what_another_organisation_uses_just_now_stays() {
    let home = Home::new();
    let rival = CacheOwner::new("rival", Layer::Shared);
    home.fill(&[0; 10]);
    let keys = ["a", "b"].map(|definition| home.key(definition, 1));
    for key in &keys {
        home.save(&home.cache_of(&rival, 25), key).unwrap();
    }
    let held = home.cache_of(&rival, 25);
    // It is not waited for, either.
    assert!(home.save(&home.cache(25), &keys[0]).is_some());
    for key in &keys {
        assert!(home.restored(&held, key).is_some());
    }
    drop(held);
    home.fill(&[0; 1]);
    home.save(&home.cache(25), &keys[1]).unwrap();
    let cache = home.cache_of(&rival, 25);
    let is_kept = keys
        .each_ref()
        .map(|key| home.restored(&cache, key).is_some());
    assert_eq!(is_kept, [false, true]);
}

#[test]
fn what_would_have_to_go_at_once_is_not_kept() {
    let home = Home::new();
    home.fill(&[0; 10]);
    let rival = CacheOwner::new("rival", Layer::Shared);
    home.save(&home.cache_of(&rival, 25), &home.key("a", 1))
        .unwrap();
    home.fill(&[0; 20]);
    let paths = [".ccache".to_owned()];
    let key = home.key("b", 1);
    let saved = home
        .cache(25)
        .save(&key, &home.job(), &paths, &home.rules());
    assert!(matches!(saved, Err(CopyError::Large { .. })), "{saved:?}");
}

#[test]
fn what_nobody_owns_is_neither_read_nor_left() {
    let home = Home::new();
    let key = home.key("make", 1);
    let old = home.folder.path().join("cache").join(&key.0);
    fs::create_dir_all(old.join("tree/.ccache")).unwrap();
    fs::write(old.join("tree/.ccache/o"), "poison").unwrap();
    fs::write(old.join(SIZE), "6").unwrap();
    let cache = home.cache(1 << 20);
    assert_eq!(home.restored(&cache, &key), None);
    home.fill(b"own");
    home.save(&cache, &key).unwrap();
    assert!(!old.exists());
}
