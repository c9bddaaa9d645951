//! Events that plugins are owed: stored with the notice that they come from.

use super::super::jobs::Changes;
use super::super::notices::{self, Notice, Spread, Standing};
use super::super::plugins::{self, EventKey, GRANT_FORMAT, Grant, Package, Removal, State};
use super::*;

const ID: &str = "acme.x";

async fn install(store: &Store) {
    let package = Package {
        plugin: ID.into(),
        digest: "1".into(),
        version: "1.0.0".into(),
        manifest: String::new(),
        component: "c".into(),
        component_bytes: 1,
        signed_by: None,
        by: "u".into(),
        at_ms: 1,
    };
    store.plugin_stage(package, 1).await.unwrap();
    store.plugin_activate(ID, "1", "u", 2).await.unwrap();
}

async fn grant(store: &Store, org: &str, events: &[&str], devices: Option<&[&str]>) {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let grant = Grant {
        format: GRANT_FORMAT,
        org: org.into(),
        plugin: ID.into(),
        wants: String::new(),
        devices: devices.map(texts),
        interfaces: Vec::new(),
        scopes: Vec::new(),
        http: Vec::new(),
        events: texts(events),
        timers: Vec::new(),
        secrets: Vec::new(),
        public: false,
        store_mib: 0,
        by: "u".into(),
        at_ms: 1,
    };
    store.plugin_grant_put(grant).await.unwrap();
}

fn notice(id: &str, standing: Standing, devices: &[&str]) -> Notice {
    Notice {
        id: id.into(),
        org: "o".into(),
        job: format!("job-{id}"),
        name: None,
        r#ref: None,
        commit: None,
        standing,
        message: String::new(),
        told: None,
        at_ms: 5,
        devices: devices.iter().map(|device| (*device).to_owned()).collect(),
    }
}

/// What is owed once the notice was stored and spread.
async fn owed(store: &Store, notice: Notice) -> Vec<EventKey> {
    let changes = Changes {
        notices: vec![notice],
        ..Changes::default()
    };
    store.jobs_change(changes).await.unwrap();
    let found = store.read(|s| notices::oldest(s, 9)).await.unwrap();
    let spreads = found.into_iter().map(|notice| Spread {
        notice,
        body: None,
        told: Some("{}".into()),
        statuses: Vec::new(),
    });
    store.notices_spread(spreads.collect()).await.unwrap();
    store.read(plugins::events_owed).await.unwrap()
}

fn key(id: &str) -> EventKey {
    EventKey {
        plugin: ID.into(),
        org: "o".into(),
        id: id.into(),
    }
}

#[tokio::test]
async fn the_end_of_a_job_is_owed_to_plugins_that_may_hear_of_it() {
    let store = Store::in_memory().unwrap();
    install(&store).await;
    let ended = |id: &str| notice(id, Standing::Failed, &["d"]);
    assert_eq!(owed(&store, ended("0")).await, []);
    grant(&store, "other", &["job.finished"], None).await;
    assert_eq!(owed(&store, ended("1")).await, []);
    grant(&store, "o", &["lease.taken"], None).await;
    assert_eq!(owed(&store, ended("2")).await, []);
    // A job that had a device that was not granted.
    grant(&store, "o", &["job.finished"], Some(&["c"])).await;
    assert_eq!(owed(&store, ended("3")).await, []);
    grant(&store, "o", &["job.finished"], Some(&["c", "d"])).await;
    let running = notice("4", Standing::Running, &[]);
    assert_eq!(owed(&store, running).await, []);
    assert_eq!(owed(&store, ended("5")).await, [key("5")]);
    let found = store.read(|s| plugins::event(s, &key("5"))).await.unwrap();
    let found = found.unwrap();
    assert_eq!(
        (found.kind.as_str(), found.subject.as_str()),
        ("job.finished", "job-5")
    );
    assert_eq!(
        (found.told.as_str(), found.devices),
        ("{}", vec!["d".to_owned()])
    );
    assert!(store.plugin_event_done(&key("5")).await.unwrap());
    assert!(!store.plugin_event_done(&key("5")).await.unwrap());
    assert_eq!(store.read(plugins::events_owed).await.unwrap(), []);
}

#[tokio::test]
async fn a_plugin_that_is_off_is_owed_nothing_and_one_that_goes_no_more() {
    let store = Store::in_memory().unwrap();
    install(&store).await;
    grant(&store, "o", &["job.finished"], None).await;
    let set = |state: State| store.plugin_set_state(ID, None, state, "u", 3);
    set(State::Disabled).await.unwrap();
    assert_eq!(owed(&store, notice("1", Standing::Passed, &[])).await, []);
    set(State::Enabled).await.unwrap();
    let left = owed(&store, notice("2", Standing::Passed, &[])).await;
    assert_eq!(left, [key("2")]);
    let removal = Removal { data: false };
    store
        .plugin_begin_removal(ID, removal, "u", 4)
        .await
        .unwrap();
    store.plugin_end_removal(ID).await.unwrap();
    assert_eq!(store.read(plugins::events_owed).await.unwrap(), []);
}
