//! What single tables promise.

use super::super::captures::{
    CaptureRecord, Change, Deletion, Kind, Listed, OF_JOB_MAX, PAGE_MAX, Status,
};
use super::super::codes::{self, Code};
use super::super::devices::{DeviceRecord, DeviceWriteError};
use super::super::handler_kv::{KEY_BYTES_MAX, SCAN_MAX, VALUE_BYTES_MAX};
use super::super::org_secrets::{self, OrgSecret, OrgSecretError};
use super::super::orgs::Org;
use super::super::users::{Role, User, UserError};
use super::*;

const ORG: &str = "01ARYZ6S410000000000000000";
const OTHER: &str = "01ARYZ6S410000000000000001";

fn device(id: &str, org: &str, name: &str) -> DeviceRecord {
    DeviceRecord {
        id: id.into(),
        org: org.into(),
        name: name.into(),
        first_name: name.into(),
        address: format!("sim:{id}"),
        transport: "sim".into(),
        serial: String::new(),
        board: String::new(),
        firmware_version: String::new(),
        public_key: String::new(),
        certificate_pin: String::new(),
        registered_by: String::new(),
        proves_name: false,
        created_ms: 1,
        last_active_ms: None,
        removed: false,
    }
}

async fn names(store: &Store, org: &'static str) -> Vec<String> {
    let list = store.read(move |s| devices::list(s, org)).await.unwrap();
    list.into_iter().map(|d| d.name).collect()
}

#[tokio::test]
async fn device_names_are_unique_in_an_organisation() {
    let store = Store::in_memory().unwrap();
    store.device_put(device("1", ORG, "bench")).await.unwrap();
    store.device_put(device("2", OTHER, "bench")).await.unwrap();
    let taken = store.device_put(device("3", ORG, "bench")).await;
    assert!(matches!(taken, Err(DeviceWriteError::NameTaken)));
    store.device_put(device("3", ORG, "attic")).await.unwrap();
    let rename = store.device_update("3", |d| d.name = "bench".into()).await;
    assert!(matches!(rename, Err(DeviceWriteError::NameTaken)));
    assert_eq!(names(&store, ORG).await, ["attic", "bench"]);
    let renamed = store.device_update("3", |d| d.name = "cellar".into()).await;
    assert_eq!(renamed.unwrap().unwrap().name, "cellar");
    assert_eq!(names(&store, ORG).await, ["bench", "cellar"]);
    assert_eq!(store.device_by_name(ORG, "attic").await.unwrap(), None);
    assert_eq!(
        store
            .device_by_name(OTHER, "bench")
            .await
            .unwrap()
            .unwrap()
            .id,
        "2"
    );
}

#[tokio::test]
async fn a_removed_device_frees_its_name_and_stays_removed() {
    let store = Store::in_memory().unwrap();
    store.device_put(device("1", ORG, "bench")).await.unwrap();
    let mut gone = device("1", ORG, "bench");
    gone.removed = true;
    store.device_put(gone.clone()).await.unwrap();
    assert!(names(&store, ORG).await.is_empty());
    assert_eq!(
        store
            .device_update("1", |d| d.board = "x".into())
            .await
            .unwrap(),
        None
    );
    store.device_put(device("2", ORG, "bench")).await.unwrap();
    // Writing the tombstone again must not take the name from its new holder.
    store.device_put(gone).await.unwrap();
    assert_eq!(
        store
            .device_by_name(ORG, "bench")
            .await
            .unwrap()
            .unwrap()
            .id,
        "2"
    );
    assert_eq!(store.devices_all().await.unwrap().len(), 2);
}

#[tokio::test]
async fn devices_are_found_by_serial_number() {
    let store = Store::in_memory().unwrap();
    store.device_put(device("1", ORG, "bench")).await.unwrap();
    let by_serial = |serial: &'static str| store.read(move |s| devices::by_serial(s, serial));
    assert!(by_serial("S1").await.unwrap().is_empty());
    store
        .device_update("1", |d| d.serial = "S1".into())
        .await
        .unwrap();
    assert_eq!(by_serial("S1").await.unwrap()[0].id, "1");
    store
        .device_update("1", |d| d.serial = "S2".into())
        .await
        .unwrap();
    assert!(by_serial("S1").await.unwrap().is_empty());
    assert_eq!(by_serial("S2").await.unwrap()[0].id, "1");
}

#[tokio::test]
async fn two_changes_of_a_device_at_once_both_stand() {
    let store = Store::in_memory().unwrap();
    store.device_put(device("1", ORG, "bench")).await.unwrap();
    let (a, b) = tokio::join!(
        store.device_update("1", |d| d.name = "attic".into()),
        store.device_update("1", |d| d.board = "v3".into()),
    );
    a.unwrap();
    b.unwrap();
    let found = store.device_by_name(ORG, "attic").await.unwrap().unwrap();
    assert_eq!(found.board, "v3");
}

fn capture(n: u32, org: &str, device: &str) -> CaptureRecord {
    CaptureRecord {
        i2c: Some((1, 2)),
        ..CaptureRecord::new(
            format!("01ARYZ6S41{n:016}"),
            org.into(),
            device.into(),
            Kind::I2c,
            n.into(),
        )
    }
}

async fn page(store: &Store, org: &str, devices: Option<&str>, before: Option<u32>) -> Vec<u64> {
    let before = before.map(|n| capture(n, org, "").id);
    let devices: Option<Vec<String>> =
        devices.map(|names| names.chars().map(String::from).collect());
    let of = Listed {
        org,
        devices: devices.as_deref(),
        job: None,
    };
    let list = store.captures_list(of, before.as_deref(), 4);
    let list = list.await;
    list.unwrap().iter().map(|c| c.created_ms).collect()
}

#[tokio::test]
async fn captures_are_listed_newest_first_by_page() {
    let store = Store::in_memory().unwrap();
    for n in 0..10 {
        let device = if n % 3 == 0 { "a" } else { "b" };
        store.capture_put(capture(n, ORG, device)).await.unwrap();
        store
            .capture_put(capture(100 + n, OTHER, "a"))
            .await
            .unwrap();
    }
    assert_eq!(page(&store, ORG, None, None).await, [9, 8, 7, 6]);
    assert_eq!(page(&store, ORG, None, Some(6)).await, [5, 4, 3, 2]);
    assert_eq!(page(&store, ORG, None, Some(2)).await, [1, 0]);
    assert!(page(&store, ORG, None, Some(0)).await.is_empty());
    assert_eq!(page(&store, ORG, Some("a"), None).await, [9, 6, 3, 0]);
    assert_eq!(page(&store, ORG, Some("b"), Some(5)).await, [4, 2, 1]);
    assert!(page(&store, ORG, Some("c"), None).await.is_empty());
    assert_eq!(page(&store, ORG, Some("abca"), None).await, [9, 8, 7, 6]);
    assert_eq!(page(&store, ORG, Some("ba"), Some(3)).await, [2, 1, 0]);
    assert!(page(&store, ORG, Some(""), None).await.is_empty());
    for cursor in [
        "",
        "~~~~",
        "/",
        "01ARYZ",
        "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
        "\u{10ffff}",
    ] {
        let of = Listed {
            org: ORG,
            devices: None,
            job: None,
        };
        let list = store.captures_list(of, Some(cursor), 1000).await.unwrap();
        assert!(list.iter().all(|c| c.org == ORG), "{cursor}");
        assert!(list.len() <= PAGE_MAX);
    }
}

#[tokio::test]
async fn captures_of_a_job_are_listed_in_full_pages() {
    let store = Store::in_memory().unwrap();
    let job = capture(3, ORG, "").id;
    for n in 0..20 {
        let is_of_job = n > 3 && n % 2 == 0;
        let record = CaptureRecord {
            job: is_of_job.then(|| job.clone()),
            ..capture(n, ORG, "a")
        };
        store.capture_put(record).await.unwrap();
    }
    let devices = ["a".to_owned(), "b".to_owned()];
    for devices in [None, Some(&devices[..])] {
        let of = Listed {
            org: ORG,
            devices,
            job: Some(&job),
        };
        let first = store.captures_list(of, None, 3).await.unwrap();
        let numbers = |page: &[CaptureRecord]| -> Vec<u64> {
            page.iter().map(|capture| capture.created_ms).collect()
        };
        assert_eq!(numbers(&first), [18, 16, 14]);
        let before = Some(first[2].id.as_str());
        let rest = store.captures_list(of, before, 20).await.unwrap();
        assert_eq!(numbers(&rest), [12, 10, 8, 6, 4]);
        let other = Listed { org: OTHER, ..of };
        assert_eq!(store.captures_list(other, None, 3).await.unwrap(), []);
    }
}

#[tokio::test]
async fn what_a_job_recorded_is_found_by_the_job() {
    let store = Store::in_memory().unwrap();
    let job = "01ARYZ6S40ZZZZZZZZZZZZZZZZ";
    let of = async |org: &str, job: &str| -> Vec<u64> {
        let found = store.captures_of_job(org, job).await.unwrap();
        found.iter().map(|capture| capture.created_ms).collect()
    };
    for n in 0..6 {
        let record = CaptureRecord {
            job: (n % 2 == 0).then(|| job.to_owned()),
            ..capture(n, ORG, "a")
        };
        store.capture_put(record).await.unwrap();
    }
    assert_eq!(of(ORG, job).await, [0, 2, 4]);
    assert_eq!(of(OTHER, job).await, [0; 0]);
    assert_eq!(of(ORG, "01ARYZ6S40").await, [0; 0]);
    assert_eq!(page(&store, ORG, Some("a"), None).await, [5, 4, 3, 2]);
    let id = capture(2, ORG, "a").id;
    store.capture_delete(&id).await.unwrap();
    assert_eq!(of(ORG, job).await, [0, 4]);
    for n in 10..10 + u32::try_from(OF_JOB_MAX).unwrap() {
        let record = CaptureRecord {
            job: Some(job.to_owned()),
            ..capture(n, ORG, "a")
        };
        store.capture_put(record).await.unwrap();
    }
    assert_eq!(of(ORG, job).await.len(), OF_JOB_MAX);
}

#[test]
fn captures_of_earlier_versions_have_no_origin() {
    let mut stored = serde_json::to_value(capture(1, ORG, "a")).unwrap();
    stored["job"] = "01ARYZ6S40ZZZZZZZZZZZZZZZZ".into();
    let read: CaptureRecord = serde_json::from_value(stored).unwrap();
    assert_eq!(read.origin, None);
}

#[tokio::test]
async fn a_deleted_capture_does_not_come_back() {
    let store = Store::in_memory().unwrap();
    let mut record = capture(1, ORG, "a");
    store.capture_put(record.clone()).await.unwrap();
    assert_eq!(store.captures_unfinished().await.unwrap(), [record.clone()]);
    let deleted = store.capture_delete(&record.id).await.unwrap();
    assert_eq!(deleted, Deletion::Done(Box::new(record.clone())));
    record.status = Status::Done;
    assert!(!store.capture_update(record.clone()).await.unwrap());
    assert_eq!(store.capture_get(&record.id).await.unwrap(), None);
    let gone = store.capture_delete(&record.id).await.unwrap();
    assert_eq!(gone, Deletion::Missing);
    assert!(page(&store, ORG, None, None).await.is_empty());
    assert!(page(&store, ORG, Some("a"), None).await.is_empty());
    assert!(store.captures_unfinished().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_finished_capture_is_changed_and_a_pinned_one_stays() {
    let store = Store::in_memory().unwrap();
    let mut record = capture(1, ORG, "a");
    store.capture_put(record.clone()).await.unwrap();
    let pin = |pinned| {
        let store = store.clone();
        let id = record.id.clone();
        async move {
            let change = store.capture_change(&id, move |record| {
                record.marks.pinned = pinned;
                match record.name.as_deref() {
                    Some("never") => Err("never"),
                    _ => Ok(()),
                }
            });
            change.await.unwrap()
        }
    };
    // Its recorder would write over it.
    assert_eq!(pin(true).await, Change::Unfinished);
    record.status = Status::Done;
    store.capture_put(record.clone()).await.unwrap();
    let mut pinned = record.clone();
    pinned.marks.pinned = true;
    let changed = Change::Done(Box::new((record.clone(), pinned.clone())));
    assert_eq!(pin(true).await, changed);
    let refused = store.capture_delete(&record.id).await.unwrap();
    assert_eq!(refused, Deletion::Pinned);
    let kept = store.capture_get(&record.id).await.unwrap();
    assert_eq!(kept, Some(pinned.clone()));
    // A change that does not fit leaves nothing.
    pinned.name = Some("never".to_owned());
    store.capture_put(pinned.clone()).await.unwrap();
    assert_eq!(pin(false).await, Change::Refused("never"));
    let kept = store.capture_get(&record.id).await.unwrap();
    assert_eq!(kept, Some(pinned.clone()));
    pinned.name = None;
    store.capture_put(pinned).await.unwrap();
    assert!(matches!(pin(false).await, Change::Done(_)));
    let done = store.capture_delete(&record.id).await.unwrap();
    assert!(matches!(done, Deletion::Done(_)));
    assert_eq!(pin(true).await, Change::Missing);
}

#[tokio::test]
async fn finished_captures_are_no_longer_open() {
    let store = Store::in_memory().unwrap();
    for (n, status) in [
        (1, Status::Armed),
        (2, Status::Running),
        (3, Status::Done),
        (4, Status::TimedOut),
    ] {
        let mut record = capture(n, ORG, "a");
        store.capture_put(record.clone()).await.unwrap();
        record.status = status;
        assert!(store.capture_update(record).await.unwrap());
    }
    let open = store.captures_unfinished().await.unwrap();
    assert_eq!(
        open.iter().map(|c| c.created_ms).collect::<Vec<_>>(),
        [1, 2]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_racing_compare_and_sets_one_wins_each_round() {
    let store = Store::in_memory().unwrap();
    store.kv_put(&space(), "count", vec![0]).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let mut done = 0;
            while done < 20 {
                let old = store
                    .read(|s| handler_kv::get(s, &space(), "count"))
                    .await
                    .unwrap()
                    .unwrap();
                let new = Some(vec![old.value[0] + 1]);
                match store
                    .kv_compare_and_set(&space(), "count", Some(old.version), new)
                    .await
                {
                    Ok(_) => done += 1,
                    Err(KvError::Conflict { current }) => assert_ne!(current, Some(old.version)),
                    Err(e) => panic!("{e:?}"),
                }
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(value(&store, "count").await, Some(vec![160]));
}

#[tokio::test]
async fn versions_never_repeat_even_across_deletion() {
    let store = Store::in_memory().unwrap();
    let space = space();
    let set = |expected, value| store.kv_compare_and_set(&space, "k", expected, value);
    let first = set(None, Some(vec![1])).await.unwrap();
    let conflict = set(None, Some(vec![2])).await.unwrap_err();
    assert!(matches!(conflict, KvError::Conflict { current: Some(v) } if v == first));
    assert_eq!(set(Some(first), None).await.unwrap(), 0);
    let second = set(None, Some(vec![3])).await.unwrap();
    assert!(second > first);
    assert!(matches!(
        set(Some(first), Some(vec![4])).await,
        Err(KvError::Conflict { .. })
    ));
    assert!(store.kv_delete(&space, "k").await.unwrap());
    assert!(!store.kv_delete(&space, "k").await.unwrap());
    assert!(matches!(
        set(Some(second), None).await,
        Err(KvError::Conflict { current: None })
    ));
}

#[tokio::test]
async fn namespaces_do_not_see_each_other() {
    let store = Store::in_memory().unwrap();
    let spaces = [("a", ORG), ("a", OTHER), ("ab", ORG)].map(|(g, o)| Namespace::new(g, o));
    for (n, space) in (0u8..).zip(&spaces) {
        for key in ["", "k1", "k2", "k\u{10ffff}"] {
            store.kv_put(space, key, vec![n]).await.unwrap();
        }
    }
    for (n, space) in (0u8..).zip(spaces) {
        let found = store
            .read(move |s| handler_kv::scan(s, &space, "", "\u{10ffff}", 99))
            .await
            .unwrap();
        let keys: Vec<_> = found.iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["", "k1", "k2", "k\u{10ffff}"]);
        assert!(found.iter().all(|e| e.value == [n]));
    }
}

#[tokio::test]
async fn scans_and_sizes_are_bounded() {
    let store = Store::in_memory().unwrap();
    let long = "k".repeat(KEY_BYTES_MAX + 1);
    let too_long = store.kv_put(&space(), &long, Vec::new()).await.unwrap_err();
    assert_eq!(
        too_long.to_string(),
        "store a key of 513 bytes: the limit is 512"
    );
    let big = vec![0; VALUE_BYTES_MAX + 1];
    let too_big = store.kv_put(&space(), "k", big).await.unwrap_err();
    assert!(matches!(too_big, KvError::ValueTooLarge { .. }));
    store
        .kv_put(&space(), &long[1..], vec![0; VALUE_BYTES_MAX])
        .await
        .unwrap();
    for n in 0..10 {
        store
            .kv_put(&space(), &format!("big {n}"), vec![0; VALUE_BYTES_MAX])
            .await
            .unwrap();
    }
    let scan = |from: &'static str, to: &'static str, limit| {
        let found = store.read(move |s| handler_kv::scan(s, &space(), from, to, limit));
        async { found.await.unwrap().len() }
    };
    assert_eq!(
        scan("big", "bih", SCAN_MAX).await,
        7,
        "8 MiB with the versions"
    );
    assert_eq!(scan("big", "bih", 3).await, 3);
    assert_eq!(scan("big", "bih", 0).await, 1);
    assert_eq!(scan("z", "a", 9).await, 0);
    assert_eq!(scan("a", "a", 9).await, 0);
}

fn user(id: &str, login: &str, role: Role) -> User {
    User {
        id: id.into(),
        org: ORG.into(),
        login: login.into(),
        role,
        password_hash: Some("$argon2id$secret".into()),
        disabled: false,
        epoch: 0,
        created_ms: 1,
        signed_in_ms: None,
    }
}

#[tokio::test]
async fn the_last_owner_stays() {
    let store = Store::in_memory().unwrap();
    store.user_add(user("1", "ann", Role::Owner)).await.unwrap();
    store.user_add(user("2", "bob", Role::Admin)).await.unwrap();
    let taken = store.user_add(user("3", "ann", Role::Member)).await;
    assert!(matches!(taken, Err(UserError::LoginTaken)));
    let last = store.user_set_disabled("1", true).await;
    assert!(matches!(last, Err(UserError::LastOwner)));
    store.user_add(user("3", "cid", Role::Owner)).await.unwrap();
    let out = store.user_set_disabled("1", true).await.unwrap();
    assert_eq!((out.disabled, out.epoch), (true, 1));
    assert!(matches!(
        store.user_set_disabled("3", true).await,
        Err(UserError::LastOwner)
    ));
    assert!(matches!(
        store.user_set_password("9", "x".into()).await,
        Err(UserError::NotFound)
    ));
}

#[tokio::test]
async fn secrets_do_not_show_in_debug_output() {
    let user = format!("{:?}", user("1", "ann", Role::Owner));
    assert!(user.contains("ann") && !user.contains("secret"), "{user}");
    let secret = secrets::ServerSecret {
        id: "k1".into(),
        purpose: secrets::Purpose::Sign,
        bytes: [77; 32],
        created_ms: 0,
        retired_ms: None,
    };
    let secret = format!("{secret:?}");
    assert!(secret.contains("k1") && !secret.contains("77"), "{secret}");
}

#[tokio::test]
async fn a_code_is_taken_once() {
    let store = Store::in_memory().unwrap();
    let code = |hash: &str, user: &str| Code {
        hash: hash.into(),
        user: user.into(),
        expires_ms: 100,
        at_start: false,
    };
    store.code_issue(code("h1", "ann"), 0).await.unwrap();
    let (a, b) = tokio::join!(store.code_take("h1", 50), store.code_take("h1", 50));
    assert_eq!(
        u8::from(a.unwrap().is_some()) + u8::from(b.unwrap().is_some()),
        1
    );
    store.code_issue(code("h2", "ann"), 0).await.unwrap();
    store.code_issue(code("h3", "ann"), 0).await.unwrap();
    assert_eq!(
        store.code_take("h2", 50).await.unwrap(),
        None,
        "replaced by h3"
    );
    assert_eq!(store.code_take("h3", 100).await.unwrap(), None, "expired");
    assert_eq!(
        store.code_take("h3", 50).await.unwrap(),
        None,
        "gone once tried"
    );
}

#[tokio::test]
async fn a_code_of_a_start_stands_beside_one_that_was_asked_for() {
    let store = Store::in_memory().unwrap();
    let issue = async |hash: &str, at_start, expires_ms| {
        let code = Code {
            hash: hash.into(),
            user: "ann".into(),
            expires_ms,
            at_start,
        };
        store.code_issue(code, 0).await.unwrap();
    };
    let has = async |hash: &'static str| store.read(move |s| codes::has(s, hash)).await.unwrap();
    issue("start 1", true, 50).await;
    issue("asked 1", false, 100).await;
    assert!(!has("start 1").await, "asking replaces all");
    issue("start 2", true, 50).await;
    issue("start 3", true, 50).await;
    assert!(!has("start 2").await && has("asked 1").await);
    // An expired code does not remove the others; a used one does.
    assert_eq!(store.code_take("start 3", 50).await.unwrap(), None);
    assert!(!has("start 3").await && has("asked 1").await);
    issue("start 4", true, 100).await;
    assert!(store.code_take("asked 1", 50).await.unwrap().is_some());
    assert!(!has("start 4").await);
    // Codes of older versions lack the field: they count as asked for.
    let old = r#"{"hash":"h","user":"ann","expires_ms":1}"#;
    assert!(!serde_json::from_str::<Code>(old).unwrap().at_start);
}

#[tokio::test]
async fn the_first_organisation_of_a_name_stands() {
    let store = Store::in_memory().unwrap();
    let org = |id: &str| Org {
        id: id.into(),
        name: "default".into(),
        created_ms: 1,
        trusted_refs: Vec::new(),
    };
    let (a, b) = tokio::join!(store.org_ensure(org("1")), store.org_ensure(org("2")));
    assert_eq!(a.unwrap().id, b.unwrap().id);
    assert_eq!(store.read(orgs::all).await.unwrap().len(), 1);
}

fn secret(org: &str, name: &str, at_ms: u64) -> OrgSecret {
    OrgSecret {
        org: org.into(),
        name: name.into(),
        sealed: format!("sealed at {at_ms}"),
        key: "k".into(),
        refs: Vec::new(),
        created_by: format!("user {at_ms}"),
        created_ms: at_ms,
        updated_by: format!("user {at_ms}"),
        updated_ms: at_ms,
    }
}

#[tokio::test]
async fn a_replaced_secret_keeps_its_maker_and_its_refs() {
    let store = Store::in_memory().unwrap();
    let put = |secret, refs: Option<&[&str]>| {
        let refs = refs.map(|refs| refs.iter().map(ToString::to_string).collect());
        store.org_secret_put(secret, refs, 2)
    };
    let (_, is_new) = put(secret(ORG, "A", 1), Some(&["main"])).await.unwrap();
    assert!(is_new);
    let (found, is_new) = put(secret(ORG, "A", 2), None).await.unwrap();
    assert!(!is_new);
    let kept = (&*found.created_by, found.created_ms, &*found.refs[0]);
    assert_eq!(kept, ("user 1", 1, "main"));
    let changed = (&*found.updated_by, found.updated_ms, &*found.sealed);
    assert_eq!(changed, ("user 2", 2, "sealed at 2"));
    let (found, _) = put(secret(ORG, "A", 3), Some(&[])).await.unwrap();
    assert!(found.refs.is_empty());
    assert!(!format!("{found:?}").contains("sealed"));
}

#[tokio::test]
async fn organisations_have_secrets_of_their_own_and_so_many() {
    let store = Store::in_memory().unwrap();
    for (org, name) in [(ORG, "B"), (ORG, "A"), (OTHER, "A")] {
        store
            .org_secret_put(secret(org, name, 1), None, 2)
            .await
            .unwrap();
    }
    let full = store.org_secret_put(secret(ORG, "C", 2), None, 2).await;
    assert!(matches!(full, Err(OrgSecretError::Full(2))));
    // One that is there can be replaced all the same.
    store
        .org_secret_put(secret(ORG, "B", 2), None, 2)
        .await
        .unwrap();
    assert!(store.org_secret_remove(OTHER, "A").await.unwrap());
    assert!(!store.org_secret_remove(OTHER, "A").await.unwrap());
    let snapshot = store.snapshot().unwrap();
    let names = |org| -> Vec<String> {
        let found = org_secrets::of_org(&snapshot, org).unwrap();
        found.into_iter().map(|secret| secret.name).collect()
    };
    assert_eq!(names(ORG), ["A", "B"]);
    assert!(names(OTHER).is_empty());
    assert_eq!(org_secrets::all(&snapshot).unwrap().len(), 2);
    let found = org_secrets::by_name(&snapshot, ORG, "B").unwrap().unwrap();
    assert_eq!(found.updated_ms, 2);
    assert_eq!(org_secrets::by_name(&snapshot, OTHER, "B").unwrap(), None);
}
