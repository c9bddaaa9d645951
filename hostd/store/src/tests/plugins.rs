//! Tables of plugins, and their keys.

use super::super::handler_kv::{ENTRY_BYTES, KvError, Namespace, get, scan, used};
use super::super::plugins::{
    self, GRANT_FORMAT, Grant, Package, Plugin, PluginError, Removal, Settings, State,
};
use super::*;

const ID: &str = "acme.x";

fn package(digest: &str) -> Package {
    Package {
        plugin: ID.into(),
        digest: digest.into(),
        version: "1.0.0".into(),
        manifest: String::new(),
        component: format!("component of {digest}"),
        component_bytes: 1,
        signed_by: None,
        by: "u".into(),
        at_ms: 1,
    }
}

fn grant(org: &str) -> Grant {
    Grant {
        format: GRANT_FORMAT,
        org: org.into(),
        plugin: ID.into(),
        wants: String::new(),
        devices: None,
        interfaces: Vec::new(),
        scopes: Vec::new(),
        http: Vec::new(),
        events: Vec::new(),
        timers: Vec::new(),
        secrets: Vec::new(),
        public: false,
        store_mib: 1,
        by: "u".into(),
        at_ms: 1,
    }
}

async fn install(store: &Store, digest: &str) -> Plugin {
    store.plugin_stage(package(digest), 2).await.unwrap();
    store.plugin_activate(ID, digest, "u", 2).await.unwrap()
}

fn kept(store: &Store) -> Vec<String> {
    let found = plugins::packages_of(&store.snapshot().unwrap(), ID).unwrap();
    found.into_iter().map(|package| package.digest).collect()
}

fn names(plugin: &Plugin) -> [Option<&str>; 3] {
    [&plugin.active, &plugin.previous, &plugin.staged].map(Option::as_deref)
}

#[tokio::test]
async fn versions_follow_each_other_and_only_two_are_kept() {
    let store = Store::in_memory().unwrap();
    let staged = store.plugin_stage(package("1"), 2).await.unwrap();
    assert_eq!(names(&staged), [None, None, Some("1")]);
    let first = store.plugin_activate(ID, "1", "u", 2).await.unwrap();
    assert_eq!(names(&first), [Some("1"), None, None]);
    assert_eq!(first.trial.unwrap().since_ms, 2);
    assert!(matches!(
        store.plugin_roll_back(ID, "1", "u", 3).await,
        Err(PluginError::NoPrevious)
    ));
    assert_eq!(
        names(&install(&store, "2").await),
        [Some("2"), Some("1"), None]
    );
    assert_eq!(
        names(&install(&store, "3").await),
        [Some("3"), Some("2"), None]
    );
    assert_eq!(kept(&store), ["2", "3"]);
    let other = store.plugin_stage(package("4"), 2).await.unwrap();
    assert_eq!(names(&other), [Some("3"), Some("2"), Some("4")]);
    store.plugin_stage(package("5"), 2).await.unwrap();
    assert_eq!(kept(&store), ["2", "3", "5"]);
    assert!(matches!(
        store.plugin_activate(ID, "4", "u", 3).await,
        Err(PluginError::OtherVersion)
    ));
    assert!(matches!(
        store.plugin_unstage(ID, "4").await,
        Err(PluginError::OtherVersion)
    ));
    store.plugin_unstage(ID, "5").await.unwrap();
    let again = store.plugin_stage(package("3"), 2).await.unwrap();
    assert_eq!(
        names(&again),
        [Some("3"), Some("2"), None],
        "the active one is not staged"
    );
    let back = store.plugin_roll_back(ID, "3", "u", 9).await.unwrap();
    assert_eq!(
        (names(&back), back.trial),
        ([Some("2"), Some("3"), None], None)
    );
    assert!(matches!(
        store.plugin_roll_back(ID, "3", "u", 9).await,
        Err(PluginError::OtherVersion)
    ));
    assert_eq!(kept(&store), ["2", "3"]);
}

#[tokio::test]
async fn a_state_is_said_of_one_version() {
    let store = Store::in_memory().unwrap();
    install(&store, "1").await;
    install(&store, "2").await;
    let failed = State::Failed {
        reason: "traps".into(),
    };
    let late = store
        .plugin_set_state(ID, Some("1"), failed.clone(), "", 3)
        .await;
    assert!(matches!(late, Err(PluginError::OtherVersion)));
    store
        .plugin_set_state(ID, Some("2"), failed.clone(), "", 3)
        .await
        .unwrap();
    let read = |s: &Store| plugins::by_id(&s.snapshot().unwrap(), ID).unwrap().unwrap();
    assert_eq!(read(&store).state, failed);
    assert_eq!(
        store
            .plugin_count_start(ID)
            .await
            .unwrap()
            .trial
            .unwrap()
            .starts,
        1
    );
    assert!(matches!(
        store.plugin_settle(ID, "1").await,
        Err(PluginError::OtherVersion)
    ));
    assert_eq!(store.plugin_settle(ID, "2").await.unwrap().trial, None);
    assert_eq!(
        store.plugin_roll_back(ID, "2", "u", 4).await.unwrap().state,
        State::Enabled
    );
    store
        .plugin_set_state(ID, None, State::Disabled, "u", 5)
        .await
        .unwrap();
    assert_eq!(read(&store).state, State::Disabled);
}

#[tokio::test]
async fn there_is_a_most_of_plugins() {
    let store = Store::in_memory().unwrap();
    for id in ["a", "b"] {
        let package = Package {
            plugin: id.into(),
            ..package("1")
        };
        store.plugin_stage(package, 2).await.unwrap();
    }
    let third = store.plugin_stage(package("1"), 2).await;
    assert!(matches!(third, Err(PluginError::TooMany { count_max: 2 })));
    assert!(kept(&store).is_empty(), "nothing of a refused one stays");
}

#[tokio::test]
async fn removal_takes_what_it_is_told_to() {
    for data in [false, true] {
        let store = Store::in_memory().unwrap();
        install(&store, "1").await;
        store.plugin_grant_put(grant("o")).await.unwrap();
        let values = serde_json::Map::new();
        let settings = Settings {
            plugin: ID.into(),
            org: "o".into(),
            values,
            by: "u".into(),
            at_ms: 1,
        };
        store.plugin_settings_put(settings.clone()).await.unwrap();
        let removal = Removal { data };
        assert!(matches!(
            store.plugin_end_removal(ID).await,
            Err(PluginError::OtherVersion)
        ));
        store
            .plugin_begin_removal(ID, removal, "u", 3)
            .await
            .unwrap();
        let again = store
            .plugin_begin_removal(ID, Removal { data: !data }, "u", 4)
            .await
            .unwrap();
        assert_eq!(again.removal, Some(removal));
        assert!(matches!(
            store.plugin_stage(package("2"), 9).await,
            Err(PluginError::Removing)
        ));
        assert!(matches!(
            store.plugin_grant_put(grant("p")).await,
            Err(PluginError::Removing)
        ));
        assert!(matches!(
            store.plugin_settings_put(settings).await,
            Err(PluginError::Removing)
        ));
        store.plugin_end_removal(ID).await.unwrap();
        let now = store.snapshot().unwrap();
        assert_eq!(plugins::by_id(&now, ID).unwrap(), None);
        assert!(plugins::grants(&now).unwrap().is_empty());
        assert!(plugins::components(&now).unwrap().is_empty());
        assert_eq!(plugins::settings(&now, ID, "o").unwrap().is_none(), data);
        assert!(matches!(
            store.plugin_end_removal(ID).await,
            Err(PluginError::Missing)
        ));
        assert!(matches!(
            store.plugin_grant_put(grant("p")).await,
            Err(PluginError::Missing)
        ));
    }
}

#[tokio::test]
async fn a_quota_is_kept_to_the_byte() {
    let store = Store::in_memory().unwrap();
    let entry = 1 + 100 + ENTRY_BYTES;
    let space = Namespace::of_plugin(ID, "o", 2 * entry);
    let count = || used(&store.snapshot().unwrap(), ID, "o").unwrap();
    for key in ["a", "b"] {
        store.kv_put(&space, key, vec![1; 100]).await.unwrap();
    }
    assert_eq!(count(), 2 * entry);
    for (key, len) in [("c", 0), ("a", 101)] {
        let full = store.kv_put(&space, key, vec![1; len]).await.unwrap_err();
        assert!(
            matches!(full, KvError::Full { bytes_max, .. } if bytes_max == 2 * entry),
            "{full}"
        );
    }
    let full = store
        .kv_compare_and_set(&space, "c", None, Some(vec![1]))
        .await;
    assert!(matches!(full, Err(KvError::Full { .. })));
    assert_eq!(count(), 2 * entry);
    let version = store.kv_put(&space, "a", vec![2; 100]).await.unwrap();
    store
        .kv_compare_and_set(&space, "a", Some(version), None)
        .await
        .unwrap();
    assert_eq!(count(), entry);
    assert!(
        store.kv_delete(&space, "b").await.unwrap() && !store.kv_delete(&space, "b").await.unwrap()
    );
    assert_eq!(count(), 0);
    // A smaller quota takes nothing away, and lets what is there shrink.
    store.kv_put(&space, "a", vec![2; 100]).await.unwrap();
    let small = Namespace::of_plugin(ID, "o", 10);
    store.kv_put(&small, "a", vec![2; 50]).await.unwrap();
    assert_eq!(count(), entry - 50);
}

#[tokio::test]
async fn keys_of_plugins_meet_no_others_and_go_together() {
    let store = Store::in_memory().unwrap();
    let group = Namespace::new("devices", "o");
    let neighbours = [("acme", "o"), ("acme.x2", "o"), (ID, "p"), ("devices", "o")]
        .map(|(id, org)| Namespace::of_plugin(id, org, 1 << 20));
    let own = Namespace::of_plugin(ID, "o", 1 << 20);
    for space in neighbours.iter().chain([&group]) {
        store.kv_put(space, "k", b"x".into()).await.unwrap();
    }
    for n in 0..1200 {
        store
            .kv_put(&own, &format!("k{n:04}"), vec![0; 3])
            .await
            .unwrap();
    }
    let now = store.snapshot().unwrap();
    assert_eq!(
        scan(&now, &own, "", "\u{10ffff}", 1000).unwrap()[0].key,
        "k0000"
    );
    assert_eq!(get(&now, &own, "k").unwrap(), None);
    let mut rounds = 1;
    while store.kv_clear_plugin(ID).await.unwrap() {
        rounds += 1;
    }
    assert_eq!(rounds, 3);
    let now = store.snapshot().unwrap();
    assert_eq!(
        (used(&now, ID, "o").unwrap(), used(&now, ID, "p").unwrap()),
        (0, 0)
    );
    assert!(scan(&now, &own, "", "\u{10ffff}", 10).unwrap().is_empty());
    let left = |space: &Namespace| get(&now, space, "k").unwrap().is_some();
    assert_eq!(neighbours.each_ref().map(left), [true, true, false, true]);
    assert!(left(&group));
    assert_eq!(used(&now, "acme.x2", "o").unwrap(), 1 + 1 + ENTRY_BYTES);
}
