//! Installing, updating, returning and removing, also when the process ends in between.

use std::collections::BTreeSet;
use std::fs;

use base::folder;
use serde_json::{Value, json};
use store::handler_kv::{self, Namespace};
use store::plugins::State;
use store::testing::Disk;
use tempfile::TempDir;

use super::*;

use crate::grant::{Devices, Grant};
use crate::testing::{Signer, package};

const ID: &str = "acme.x";
const MORE: &str = "[wants]\nscopes = [\"bench:control\"]\n";

fn id() -> PluginId {
    ID.parse().unwrap()
}

fn parts(dir: &TempDir, store: Store) -> Parts {
    Parts {
        data: dir.path().to_owned(),
        store,
        clock: Clock::manual(1000).0,
        pins: Pins::default(),
        keys: Keys::default(),
        policy: Policy::Optional,
    }
}

async fn open(dir: &TempDir, store: &Store) -> Installed {
    Installed::open(parts(dir, store.clone())).await.unwrap()
}

async fn update(
    installed: &Installed,
    version: &str,
    wants: &str,
) -> Result<Plugin, InstalledError> {
    let taken = installed.install(package(ID, version, wants), "u").await?;
    if taken.plugin.active.as_ref() == Some(&taken.digest) {
        return Ok(taken.plugin);
    }
    let activated = installed.activate(&id(), &taken.digest, "u").await;
    installed.sweep().await;
    activated
}

fn digest(version: &str) -> String {
    package(ID, version, "").digest()
}

fn components(dir: &TempDir) -> BTreeSet<String> {
    let entries = fs::read_dir(dir.path().join(folder::PLUGIN_PACKAGES)).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn named(versions: &[&str]) -> BTreeSet<String> {
    let digests = versions
        .iter()
        .map(|version| package(ID, version, "").component_digest());
    digests.map(|digest| format!("{digest}.wasm")).collect()
}

async fn active(installed: &Installed) -> Option<String> {
    installed
        .get(&id())
        .await
        .unwrap()
        .and_then(|plugin| plugin.active)
}

/// A list that was read in pieces failed when an update took a version away in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_shows_one_moment_while_versions_come_and_go() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    update(&installed, "1.0.0", "").await.unwrap();
    let updating = tokio::spawn({
        let installed = installed.clone();
        async move {
            for minor in 1..=100 {
                update(&installed, &format!("1.{minor}.0"), "")
                    .await
                    .unwrap();
            }
        }
    });
    let mut seen = BTreeSet::new();
    while !updating.is_finished() {
        let standing = installed.standing().await.unwrap().pop().unwrap();
        let version = standing.active.unwrap().manifest.version.to_string();
        assert_eq!(standing.plugin.active, Some(digest(&version)));
        seen.insert(version);
    }
    updating.await.unwrap();
    assert!(seen.len() > 1, "{seen:?}");
}

#[tokio::test]
async fn a_plugin_is_installed_updated_and_returned_from() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    let taken = installed
        .install(package(ID, "1.0.0", ""), "u")
        .await
        .unwrap();
    assert_eq!(
        (taken.origin, taken.waits.len(), taken.plugin.active),
        (Origin::Unsigned, 0, None)
    );
    installed.activate(&id(), &taken.digest, "u").await.unwrap();
    installed.settle(&id(), &taken.digest).await.unwrap();
    update(&installed, "2.0.0", "").await.unwrap();
    update(&installed, "3.0.0", "").await.unwrap();
    assert_eq!(components(&dir), named(&["2.0.0", "3.0.0"]));
    assert_eq!(active(&installed).await, Some(digest("3.0.0")));
    assert!(
        installed
            .roll_back(&id(), &digest("2.0.0"), "u")
            .await
            .is_err()
    );
    installed
        .roll_back(&id(), &digest("3.0.0"), "u")
        .await
        .unwrap();
    assert_eq!(active(&installed).await, Some(digest("2.0.0")));
    let component = installed.component(&id(), &digest("2.0.0")).await.unwrap();
    assert_eq!(component, package(ID, "2.0.0", "").component());
    installed
        .install(package(ID, "4.0.0", ""), "u")
        .await
        .unwrap();
    installed.unstage(&id(), &digest("4.0.0")).await.unwrap();
    assert_eq!(components(&dir), named(&["2.0.0", "3.0.0"]));
    assert_eq!(installed.list().await.unwrap().len(), 1);
    installed
        .fail(&id(), &digest("3.0.0"), "late")
        .await
        .unwrap_err();
    let failed = installed
        .fail(&id(), &digest("2.0.0"), "traps")
        .await
        .unwrap();
    assert_eq!(
        failed.state,
        State::Failed {
            reason: "traps".into()
        }
    );
    assert_eq!(
        installed.enable(&id(), "u").await.unwrap().state,
        State::Enabled
    );
    assert_eq!(
        installed.disable(&id(), "u").await.unwrap().state,
        State::Disabled
    );
    assert!(matches!(
        installed.version(&id(), "x").await,
        Err(InstalledError::NoVersion)
    ));
}

#[tokio::test]
async fn a_component_that_was_changed_is_not_given_out() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    update(&installed, "1.0.0", "").await.unwrap();
    let path = dir
        .path()
        .join(folder::PLUGIN_PACKAGES)
        .join(named(&["1.0.0"]).first().unwrap());
    fs::write(&path, b"\0asm").unwrap();
    let error = installed
        .component(&id(), &digest("1.0.0"))
        .await
        .unwrap_err();
    assert!(matches!(error, InstalledError::Changed { .. }), "{error}");
    // Installing it again mends it.
    update(&installed, "1.0.0", "").await.unwrap();
    installed.component(&id(), &digest("1.0.0")).await.unwrap();
    fs::remove_file(&path).unwrap();
    let error = installed
        .component(&id(), &digest("1.0.0"))
        .await
        .unwrap_err();
    assert!(matches!(error, InstalledError::File { .. }), "{error}");
}

#[tokio::test]
async fn an_update_that_asks_for_more_waits_where_less_was_granted() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    update(&installed, "1.0.0", "").await.unwrap();
    let wants = installed
        .version(&id(), &digest("1.0.0"))
        .await
        .unwrap()
        .manifest
        .wants;
    let grant = |wants| Grant::of_all("lab", &id(), wants, Devices::All, "admin", 5);
    installed.approve(grant(&wants)).await.unwrap();
    let more = package(ID, "2.0.0", MORE);
    let taken = installed.install(more.clone(), "u").await.unwrap();
    assert_eq!(taken.waits.len(), 1);
    let error = installed
        .activate(&id(), &taken.digest, "u")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("hostd plugin approve acme.x --org lab --scope bench:control"),
        "{error}"
    );
    assert_eq!(active(&installed).await, Some(digest("1.0.0")));
    assert_eq!(components(&dir).len(), 2);
    installed
        .approve(grant(&more.manifest().wants))
        .await
        .unwrap();
    assert_eq!(installed.waits(&id(), &taken.digest).await.unwrap(), []);
    installed.activate(&id(), &taken.digest, "u").await.unwrap();
}

#[tokio::test]
async fn grants_and_settings_outlive_updates_and_restarts() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    let config = "[config]\nroom = { type = \"string\", default = \"lab\" }\nlevel = { type = \"integer\", max = 3 }\n";
    update(&installed, "1.0.0", config).await.unwrap();
    let values = json!({"level": 2, "room": "attic"})
        .as_object()
        .unwrap()
        .clone();
    installed.set_config(&id(), "o", values, "u").await.unwrap();
    let wrong = json!({"level": 4}).as_object().unwrap().clone();
    let error = installed
        .set_config(&id(), "o", wrong, "u")
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("level must be from"), "{error}");
    let grant = Grant::of_all(
        "o",
        &id(),
        &crate::wants::Wants::default(),
        Devices::All,
        "admin",
        5,
    );
    installed.approve(grant.clone()).await.unwrap();
    let narrower = package(ID, "2.0.0", &config.replace("max = 3", "max = 1"));
    let taken = installed.install(narrower.clone(), "u").await.unwrap();
    installed.activate(&id(), &taken.digest, "u").await.unwrap();
    drop(installed);
    let installed = open(&dir, &store).await;
    assert_eq!(installed.grant(&id(), "o").as_deref(), Some(&grant));
    assert_eq!(installed.grants_of(&id()).len(), 1);
    assert_eq!(installed.grant(&id(), "other"), None);
    let (values, told) = installed
        .config(&id(), "o", narrower.manifest())
        .await
        .unwrap();
    assert_eq!(Value::Object(values), json!({"room": "attic"}));
    assert_eq!(told.len(), 1);
    let held = installed.granted(&id(), "o");
    assert_eq!(held.now().as_deref(), Some(&grant));
    assert!(installed.revoke(&id(), "o").await.unwrap());
    assert!(!installed.revoke(&id(), "o").await.unwrap());
    installed.approve(grant.clone()).await.unwrap();
    assert_eq!(held.now(), None);
    let held = installed.granted(&id(), "o");
    let later = Grant {
        at_ms: 6,
        ..grant.clone()
    };
    installed.approve(later.clone()).await.unwrap();
    assert_eq!(held.now().as_deref(), Some(&later));
    assert!(installed.revoke(&id(), "o").await.unwrap());
    held.revoked().await;
    assert_eq!(installed.grant(&id(), "o"), None);
    let stranger = Grant {
        plugin: "acme.y".parse().unwrap(),
        ..grant
    };
    assert!(installed.approve(stranger.clone()).await.is_err());
    assert_eq!(installed.grant(&stranger.plugin, "o"), None);
}

#[tokio::test]
async fn removal_takes_the_grants_and_with_data_the_keys() {
    for data in [false, true] {
        let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
        let installed = open(&dir, &store).await;
        update(&installed, "1.0.0", "").await.unwrap();
        let wants = crate::wants::Wants::default();
        installed
            .approve(Grant::of_all("o", &id(), &wants, Devices::All, "admin", 5))
            .await
            .unwrap();
        let space = Namespace::of_plugin(ID, "o", 1 << 20);
        store.kv_put(&space, "k", b"v".into()).await.unwrap();
        installed.remove(&id(), data, "u").await.unwrap();
        assert!(installed.list().await.unwrap().is_empty() && components(&dir).is_empty());
        let left = handler_kv::get(&store.snapshot().unwrap(), &space, "k").unwrap();
        assert_eq!(left.is_none(), data);
        // Whoever takes the name later has none of its rights.
        update(&installed, "1.0.0", "").await.unwrap();
        assert_eq!(installed.grant(&id(), "o"), None);
        assert!(open(&dir, &store).await.grants_of(&id()).is_empty());
    }
}

#[tokio::test]
async fn a_server_that_takes_signed_plugins_alone_takes_no_other() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let signer = Signer::new(1);
    let installed = Installed::open(Parts {
        keys: Keys::parse([signer.public().as_str()]).unwrap(),
        policy: Policy::Required,
        ..parts(&dir, store.clone())
    });
    let installed = installed.await.unwrap();
    let unsigned = package(ID, "1.0.0", "");
    let error = installed.install(unsigned.clone(), "u").await.unwrap_err();
    assert!(matches!(error, InstalledError::Signature(_)), "{error}");
    assert!(components(&dir).is_empty() && installed.list().await.unwrap().is_empty());
    let sha256 = unsigned.component_digest();
    let text = format!(
        "[plugin]\nid = \"{ID}\"\nversion = \"1.0.0\"\napi = \"1.0\"\nsha256 = \"{sha256}\""
    );
    let signature = signer.sign(text.as_bytes());
    let signed = Package::new(
        text.into(),
        unsigned.component().to_vec(),
        Some(signature.into()),
    )
    .unwrap();
    let taken = installed.install(signed, "u").await.unwrap();
    assert_eq!(taken.origin, Origin::Signed { key: signer.id() });
}

#[tokio::test]
async fn a_version_with_which_the_server_does_not_stay_up_gives_way() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    update(&installed, "1.0.0", "").await.unwrap();
    for _ in 0..TRIAL_STARTS_MAX {
        assert_eq!(
            active(&open(&dir, &store).await).await,
            Some(digest("1.0.0"))
        );
    }
    // Nothing is before it.
    let failed = open(&dir, &store).await.get(&id()).await.unwrap().unwrap();
    assert!(matches!(failed.state, State::Failed { .. }));
    let installed = open(&dir, &store).await;
    update(&installed, "2.0.0", "").await.unwrap();
    for _ in 0..TRIAL_STARTS_MAX {
        assert_eq!(
            active(&open(&dir, &store).await).await,
            Some(digest("2.0.0"))
        );
    }
    for _ in 0..9 {
        let back = open(&dir, &store).await.get(&id()).await.unwrap().unwrap();
        assert_eq!(
            (back.active, back.state),
            (Some(digest("1.0.0")), State::Enabled)
        );
    }
}

#[tokio::test]
async fn a_version_that_is_off_is_not_why_the_server_ends() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    update(&installed, "1.0.0", "").await.unwrap();
    update(&installed, "2.0.0", "").await.unwrap();
    installed.disable(&id(), "u").await.unwrap();
    for _ in 0..TRIAL_STARTS_MAX + 2 {
        let plugin = open(&dir, &store).await.get(&id()).await.unwrap().unwrap();
        assert_eq!(
            (plugin.active, plugin.state),
            (Some(digest("2.0.0")), State::Disabled)
        );
    }
}

#[tokio::test]
async fn what_was_being_installed_when_the_server_ended_is_installed_anew() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let begin = async |version: &str, wants: &str| {
        let installed = open(&dir, &store).await;
        let taken = installed.install(package(ID, version, wants), "u").await;
        assert!(taken.unwrap().plugin.staged.is_some());
        installed
    };
    // The first version of a plugin: there is none.
    begin("1.0.0", "").await;
    let installed = open(&dir, &store).await;
    assert_eq!(installed.list().await.unwrap(), []);
    assert!(components(&dir).is_empty());
    // A later one: the one before goes on.
    update(&installed, "1.0.0", "").await.unwrap();
    installed.settle(&id(), &digest("1.0.0")).await.unwrap();
    begin("2.0.0", "").await;
    let installed = open(&dir, &store).await;
    let plugin = installed.get(&id()).await.unwrap().unwrap();
    assert_eq!(
        (plugin.active, plugin.staged),
        (Some(digest("1.0.0")), None)
    );
    assert_eq!(components(&dir), named(&["1.0.0"]));
    // One that waits for a grant goes on waiting, and so does one that waits to be switched on.
    let none = crate::wants::Wants::default();
    let grant = Grant::of_all("lab", &id(), &none, Devices::All, "admin", 5);
    installed.approve(grant).await.unwrap();
    begin("2.0.0", MORE).await;
    let installed = open(&dir, &store).await;
    let staged = installed.get(&id()).await.unwrap().unwrap().staged;
    assert_eq!(staged, Some(package(ID, "2.0.0", MORE).digest()));
    installed.disable(&id(), "u").await.unwrap();
    begin("3.0.0", "").await;
    let plugin = open(&dir, &store).await.get(&id()).await.unwrap().unwrap();
    assert_eq!(plugin.staged, Some(digest("3.0.0")));
}

#[tokio::test]
async fn what_was_approved_and_has_not_loaded_is_tried_again_at_some_starts() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    update(&installed, "1.0.0", "").await.unwrap();
    let taken = installed.install(package(ID, "2.0.0", ""), "u").await;
    let version = taken.unwrap().digest;
    let approve = installed.set_due(&id(), &version, true).await;
    assert_eq!(approve.unwrap().staged.as_ref(), Some(&version));
    for start in 1..=TRIAL_STARTS_MAX {
        let plugin = open(&dir, &store).await.get(&id()).await.unwrap().unwrap();
        assert_eq!(
            (plugin.staged, plugin.due_starts),
            (Some(version.clone()), Some(start))
        );
    }
    let plugin = open(&dir, &store).await.get(&id()).await.unwrap().unwrap();
    assert_eq!(
        (plugin.active, plugin.staged, plugin.due_starts),
        (Some(digest("1.0.0")), None, None)
    );
    // What does not load by its own fault is not tried again, and what is installed anew begins anew.
    let installed = open(&dir, &store).await;
    for is_due in [false, true] {
        let taken = installed.install(package(ID, "2.0.0", ""), "u").await;
        assert_eq!(taken.unwrap().plugin.due_starts, None);
        installed.set_due(&id(), &version, is_due).await.unwrap();
    }
    installed.set_due(&id(), &version, false).await.unwrap();
    let plugin = open(&dir, &store).await.get(&id()).await.unwrap().unwrap();
    assert_eq!(plugin.staged, None);
    let other = installed.set_due(&id(), &version, true).await;
    assert!(other.is_err());
}

#[tokio::test]
async fn files_wait_for_a_backup_and_what_is_left_over_goes() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let pins = Pins::default();
    let own = Parts {
        pins: pins.clone(),
        ..parts(&dir, store.clone())
    };
    let installed = Installed::open(own).await.unwrap();
    update(&installed, "1.0.0", "").await.unwrap();
    let pin = pins.pin();
    installed.remove(&id(), true, "u").await.unwrap();
    assert_eq!(components(&dir), named(&["1.0.0"]));
    drop(pin);
    fs::write(
        dir.path().join(folder::PLUGIN_PACKAGES).join("new-half"),
        b"x",
    )
    .unwrap();
    open(&dir, &store).await;
    assert!(components(&dir).is_empty());
}

#[tokio::test]
async fn a_change_is_finished_though_nobody_waits() {
    let (dir, store) = (TempDir::new().unwrap(), Store::in_memory().unwrap());
    let installed = open(&dir, &store).await;
    for polls in 0..4 {
        let version = format!("1.0.{polls}");
        let mut work = Box::pin(installed.install(package(ID, &version, ""), "u"));
        for _ in 0..=polls {
            let once = std::future::poll_fn(|context| {
                let _ = work.as_mut().poll(context);
                std::task::Poll::Ready(())
            });
            once.await;
        }
        drop(work);
        // The next change comes after it.
        installed.revoke(&id(), "o").await.unwrap();
        let plugin = installed.get(&id()).await.unwrap().unwrap();
        assert_eq!(plugin.staged, Some(digest(&version)));
    }
}

/// What is done when the disk stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Update,
    RollBack,
    Remove,
}

async fn make(installed: &Installed, change: Change) -> Result<(), InstalledError> {
    match change {
        Change::Update => update(installed, "3.0.0", "").await.map(drop),
        Change::RollBack => installed
            .roll_back(&id(), &digest("2.0.0"), "u")
            .await
            .map(drop),
        Change::Remove => installed.remove(&id(), true, "u").await,
    }
}

/// Stops the disk after this many of its steps, then starts on what is left of it; whether the change was made before.
async fn stop_after(steps: u32, change: Change, seed: u64) -> bool {
    let (dir, disk) = (TempDir::new().unwrap(), Disk::default());
    let installed = open(&dir, &disk.open().unwrap()).await;
    update(&installed, "1.0.0", "").await.unwrap();
    update(&installed, "2.0.0", "").await.unwrap();
    installed.settle(&id(), &digest("2.0.0")).await.unwrap();
    let space = Namespace::of_plugin(ID, "o", 1 << 20);
    installed
        .0
        .store
        .kv_put(&space, "k", b"v".into())
        .await
        .unwrap();
    disk.fail_after(Some(steps));
    let made = make(&installed, change).await.is_ok();
    drop(installed);
    let store = disk.after_power_loss(seed).open().unwrap();
    let installed = open(&dir, &store).await;
    let (old, new) = match change {
        Change::Update => (Some(digest("2.0.0")), Some(digest("3.0.0"))),
        Change::RollBack => (Some(digest("2.0.0")), Some(digest("1.0.0"))),
        Change::Remove => (Some(digest("2.0.0")), None),
    };
    let found = active(&installed).await;
    let what = format!("{change:?} after {steps} steps: {found:?}");
    assert!(found == new || found == old && !made, "{what}");
    let plugin = installed.get(&id()).await.unwrap();
    let kept: Vec<_> = plugin
        .iter()
        .flat_map(Plugin::versions)
        .map(str::to_owned)
        .collect();
    for digest in &kept {
        installed.component(&id(), digest).await.unwrap();
    }
    assert_eq!(components(&dir).len(), kept.len(), "{what}");
    assert_eq!(
        table::packages_of(&store.snapshot().unwrap(), ID)
            .unwrap()
            .len(),
        kept.len(),
        "{what}"
    );
    if found == new && change == Change::Remove {
        assert_eq!(
            handler_kv::used(&store.snapshot().unwrap(), ID, "o").unwrap(),
            0
        );
    }
    if found != new {
        make(&installed, change).await.unwrap();
        assert_eq!(active(&installed).await, new, "{what}");
    }
    made
}

#[tokio::test]
async fn the_old_or_the_new_version_is_there_wherever_the_process_ends() {
    for change in [Change::Update, Change::RollBack, Change::Remove] {
        let mut steps = 0;
        while !stop_after(steps, change, u64::from(steps) * 2 + 1).await {
            steps += 1;
        }
        assert!(steps > 2, "{change:?} takes {steps} steps of the disk");
    }
}
