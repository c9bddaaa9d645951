//! Every right against every way in which it can be missing.

use super::*;
use crate::granted::Kept;
use crate::wants::Wants;

const URL: &str = "https://a.example/x/1?q";

/// A right, asked for.
type Ask = (&'static str, fn(&Rights) -> Result<(), Denied>);

const ASKS: [Ask; 10] = [
    ("serve", |r| r.may_serve()),
    ("free", |r| r.may_interface(Interface::Log)),
    ("interface", |r| r.may_interface(Interface::Devices)),
    ("scope", |r| r.may_scope("bench:control")),
    ("device", |r| r.may_device("d1")),
    ("http", |r| r.may_http(URL).map(drop)),
    ("secret", |r| r.may_secret("token")),
    ("event", |r| r.may_event("job.finished")),
    ("timer", |r| r.may_timer(&timer("0 3 * * *"))),
    ("store", |r| r.may_store().map(drop)),
];

fn timer(cron: &str) -> Timer {
    Timer {
        id: "nightly".into(),
        cron: cron.parse().unwrap(),
    }
}

fn plugin() -> PluginId {
    "acme.x".parse().unwrap()
}

fn full() -> Grant {
    let wants = Wants {
        interfaces: [
            Interface::Devices,
            Interface::HttpOut,
            Interface::Secrets,
            Interface::Store,
        ]
        .into(),
        scopes: ["bench:control".to_owned()].into(),
        http: ["https://a.example/x/*".parse().unwrap()].into(),
        events: ["job.finished".to_owned()].into(),
        timers: [timer("0 3 * * *")].into(),
        secrets: ["token".to_owned()].into(),
        public: true,
        store_mib: 2,
    };
    Grant::of_all(
        "org",
        &plugin(),
        &wants,
        Devices::Only(["d1".to_owned()].into()),
        "u",
        1,
    )
}

fn caller() -> Caller {
    Caller {
        org: "org".into(),
        scopes: ["bench:control".to_owned()].into(),
        devices: Some(["d1".to_owned()].into()),
    }
}

fn denied(grant: Option<Grant>, behind: Behind) -> Vec<&'static str> {
    let rights = Rights::new(&plugin(), "org", grant.map(Arc::new).into(), behind);
    let denied = ASKS.iter().filter(|(_, ask)| ask(&rights).is_err());
    denied.map(|(name, _)| *name).collect()
}

/// A caller with something changed.
fn called(change: fn(&mut Caller)) -> Behind {
    let mut caller = caller();
    change(&mut caller);
    Behind::Caller(caller)
}

/// All that can be asked for.
fn all() -> Vec<&'static str> {
    ASKS.iter().map(|(name, _)| *name).collect()
}

#[test]
fn each_right_needs_its_caller() {
    let other = || Some(["d2".to_owned()].into());
    let none = || Some(BTreeSet::new());
    let no_scope = called(|c| c.scopes.clear());
    let table: [(&str, Behind, &[&str]); 6] = [
        ("all", called(|_| {}), &[]),
        ("itself", Behind::Itself, &[]),
        ("anyone", Behind::Anyone, &["scope", "device"]),
        (
            "other organisation",
            called(|c| c.org = "other".into()),
            &all(),
        ),
        ("no scope", no_scope, &["scope"]),
        ("for all devices", called(|c| c.devices = None), &[]),
    ];
    for (name, behind, wanted) in table {
        assert_eq!(denied(Some(full()), behind.clone()), wanted, "{name}");
        assert_eq!(denied(None, behind), all(), "{name}, without a grant");
    }
    for devices in [other(), none()] {
        let behind = Behind::Caller(Caller {
            devices,
            ..caller()
        });
        assert_eq!(denied(Some(full()), behind), ["device"]);
    }
}

#[test]
fn each_right_needs_its_grant() {
    type Row<'r> = (&'static str, fn(&mut Grant), &'r [&'static str]);
    let all = all();
    let table: [Row<'_>; 10] = [
        ("another organisation's", |g| g.org = "other".into(), &all),
        (
            "another plugin's",
            |g| g.plugin = "acme.y".parse().unwrap(),
            &all,
        ),
        (
            "interfaces",
            |g| g.rights.interfaces.clear(),
            &["interface", "http", "secret", "store"],
        ),
        ("scopes", |g| g.rights.scopes.clear(), &["scope"]),
        (
            "devices",
            |g| g.devices = Devices::Only(BTreeSet::new()),
            &["device"],
        ),
        ("addresses", |g| g.rights.http.clear(), &["http"]),
        ("secrets", |g| g.rights.secrets.clear(), &["secret"]),
        ("events", |g| g.rights.events.clear(), &["event"]),
        ("timers", |g| g.rights.timers.clear(), &["timer"]),
        (
            "a timer at other times",
            |g| g.rights.timers = [timer("* * * * *")].into(),
            &["timer"],
        ),
    ];
    for (name, change, wanted) in table {
        let mut grant = full();
        change(&mut grant);
        for behind in [called(|_| {}), Behind::Itself] {
            assert_eq!(denied(Some(grant.clone()), behind), wanted, "{name}");
        }
    }
    let mut private = full();
    private.rights.public = false;
    assert_eq!(denied(Some(private.clone()), Behind::Anyone), all);
    assert!(denied(Some(private), called(|_| {})).is_empty());
}

#[test]
fn a_grant_for_all_devices_does_not_widen_the_caller() {
    let mut grant = full();
    grant.devices = Devices::All;
    let rights = Rights::new(
        &plugin(),
        "org",
        Some(Arc::new(grant)).into(),
        Behind::Caller(caller()),
    );
    assert_eq!(
        rights.may_device("d2"),
        Err(Denied::CallerDevice("d2".into()))
    );
}

#[test]
fn denials_say_what_to_do_and_keep_the_query_to_themselves() {
    let rights = Rights::new(
        &plugin(),
        "org",
        Some(Arc::new(full())).into(),
        Behind::Itself,
    );
    let error = rights
        .may_http("https://b.example/y?token=1")
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("hostd plugin approve acme.x --org org --http https://b.example/y"),
        "{error}"
    );
    let secret = "HTTP://B.example:8080/hooks/tok-en-12345?x=1";
    let error = rights.may_http_with_secret(secret).unwrap_err().to_string();
    assert!(error.contains("to http://b.example:8080/* in"), "{error}");
    assert!(
        error.ends_with("hostd plugin approve acme.x --org org --http 'http://b.example:8080/*'"),
        "{error}"
    );
    let (target, pattern) = rights.may_http("HTTPS://A.example:443/y/../x/1?q").unwrap();
    assert_eq!(target.to_string(), URL);
    assert_eq!(pattern.to_string(), "https://a.example:443/x/*");
    let none = Rights::new(&plugin(), "org", Granted::none(), Behind::Itself);
    let error = none.may_event("job.finished").unwrap_err().to_string();
    assert!(
        error.ends_with("hostd plugin approve acme.x --org org"),
        "{error}"
    );
    assert_eq!(rights.may_store(), Ok(2 << 20));
}

#[test]
fn devices_are_those_that_grant_and_caller_have_in_common() {
    let ids = |ids: &[&str]| Some(ids.iter().map(|id| (*id).to_owned()).collect());
    let of = |granted: Devices, behind| {
        let grant = Grant {
            devices: granted,
            ..full()
        };
        Rights::new(&plugin(), "org", Some(Arc::new(grant)).into(), behind).devices()
    };
    let only = |ids: &[&str]| Devices::Only(ids.iter().map(|id| (*id).to_owned()).collect());
    let free = || called(|c| c.devices = None);
    assert_eq!(of(Devices::All, free()), None);
    assert_eq!(of(Devices::All, called(|_| {})), ids(&["d1"]));
    assert_eq!(of(only(&["d2"]), free()), ids(&["d2"]));
    assert_eq!(of(only(&["d1", "d2"]), called(|_| {})), ids(&["d1"]));
    assert_eq!(of(only(&["d2"]), called(|_| {})), ids(&[]));
    assert_eq!(of(Devices::All, Behind::Itself), None);
    assert_eq!(of(Devices::All, Behind::Anyone), ids(&[]));
    let none = Rights::new(&plugin(), "org", Granted::none(), Behind::Itself);
    assert_eq!(none.devices(), ids(&[]));
}

#[tokio::test]
async fn what_is_taken_back_is_missing_in_a_call_that_is_under_way() {
    let kept = Kept::new(full());
    let rights = Rights::new(&plugin(), "org", kept.granted(), Behind::Itself);
    let copy = rights.clone();
    assert!(ASKS.iter().all(|(_, ask)| ask(&copy).is_ok()));

    // Another grant in its place counts at once, and is no reason to end the call.
    let mut narrow = full();
    narrow.rights.secrets.clear();
    kept.replace(narrow);
    assert!(copy.may_secret("token").is_err() && copy.may_store().is_ok());
    let mut revoked = Box::pin(copy.revoked());
    let once = std::future::poll_fn(|context| {
        std::task::Poll::Ready(revoked.as_mut().poll(context).is_ready())
    });
    assert!(!once.await);

    kept.take_back();
    revoked.await;
    for (name, ask) in ASKS {
        assert!(matches!(ask(&copy), Err(Denied::NotGranted(_))), "{name}");
    }
    assert_eq!(copy.devices(), Some(BTreeSet::new()));
    assert!(copy.http().is_empty());
    // A later approval is for later calls.
    drop(kept);
    assert!(rights.may_serve().is_err());
}
