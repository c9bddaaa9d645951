//! Manifests, good and bad.

use super::*;
use crate::fuzz;
use crate::interface::Interface;

const GOOD: &str = include_str!("tests/good.toml");

fn problems(text: &str) -> Vec<String> {
    let error = Manifest::parse(text.as_bytes()).unwrap_err();
    error.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_manifest_is_read() {
    let manifest = Manifest::parse(GOOD.as_bytes()).unwrap();
    assert_eq!(manifest.id.as_str(), "acme.rail-report");
    assert_eq!(manifest.version.to_string(), "1.4.2");
    assert_eq!(manifest.api, Api { major: 1, minor: 2 });
    let wants = &manifest.wants;
    let interfaces: Vec<_> = wants.interfaces.iter().map(|i| i.as_str()).collect();
    assert_eq!(
        interfaces,
        ["store", "secrets", "devices", "captures", "http-out"]
    );
    assert_eq!(
        wants.http.first().unwrap().to_string(),
        "https://hooks.example.com:443/bench/*"
    );
    assert_eq!(wants.timers.first().unwrap().cron.to_string(), "0 3 * * *");
    assert!(wants.public && wants.store_mib == 8);
    let limits = manifest.limits;
    assert_eq!(
        (limits.memory_mib, limits.deadline_ms, limits.compute_ms),
        (128, 10_000, 2_000)
    );
    assert_eq!(
        (limits.in_flight, limits.store_mib, limits.reuse),
        (4, 8, false)
    );
    assert_eq!(manifest.config.keys()["room"].default, Some("lab".into()));
}

#[test]
fn the_least_manifest_asks_for_nothing() {
    let text = "[plugin]\nid = \"a.b\"\nversion = \"0.1.0\"\napi = \"1.0\"";
    let manifest = Manifest::parse(text.as_bytes()).unwrap();
    assert_eq!(manifest.wants, Wants::default());
    assert_eq!(manifest.component, "plugin.wasm");
    assert_eq!(
        (
            manifest.limits.memory_mib,
            manifest.limits.store_mib,
            manifest.limits.reuse
        ),
        (64, 0, true)
    );
    let free = format!("{text}\n[wants]\ninterfaces = [\"log\", \"config\"]");
    assert!(
        Manifest::parse(free.as_bytes())
            .unwrap()
            .wants
            .interfaces
            .is_empty()
    );
}

#[test]
fn everything_that_is_wrong_is_told_with_its_line() {
    let text = r#"
[plugin]
id = "Acme"
version = "1.4"
api = "one"
component = "../x.wasm"
sha256 = "ABC"
homepage = "javascript:x"
colour = "red"
[wants]
interfaces = ["devices", "devices", "pods"]
scopes = ["admin"]
http = ["https://a", "https://u@b/*"]
events = "all"
timers = [{ id = "n", cron = "0 0 30 2 *" }, { id = "n", cron = "* * * * *" }, { id = "n", cron = "1 * * * *", at = 1 }]
[limits]
memory_mib = 100000
deadline_ms = 1.5
store_mib = 1
reuse = "yes"
[more]
"#;
    assert_eq!(
        problems(text),
        [
            "3: plugin.id must have 3 to 64 characters a-z, 0-9, . and -, begin and end with a letter or digit, and have no two dots in a row, such as acme.rail-report",
            "4: plugin.version must be a semantic version such as 1.4.2",
            "5: plugin.api must be a version of the contract such as 1.0",
            "6: plugin.component must be the name of a file beside the manifest, of letters, digits, -, _ and ., that ends with .wasm",
            "7: plugin.sha256 must be 64 hexadecimal digits in lower case",
            "8: plugin.homepage must begin with https:// or http://",
            "9: plugin has no key \"colour\"",
            "11: wants.interfaces[1] is there twice",
            "11: wants.interfaces[2] is no interface of this hostd; there are log, config, clock, random, store, secrets, devices, power, captures, jobs, notify, http-out",
            "12: wants.scopes[0] must be a scope such as bench:control",
            "13: wants.http[0] must end with a path and no query; all of a server is https://host/*",
            "13: wants.http[1] must name no user and no password",
            "14: wants.events must be a list",
            "15: wants.timers[0].cron names days that no month has, so it is never due",
            "15: wants.timers[2] has no key \"at\"",
            "15: wants.timers[2] has the id of another timer, n",
            "16: limits.store_mib needs \"store\" in wants.interfaces",
            "17: limits.memory_mib must be from 1 to 512",
            "18: limits.deadline_ms must be a whole number",
            "20: limits.reuse must be true or false",
        ]
    );
}

#[test]
fn what_is_missing_is_told() {
    let three = [
        "1: plugin.id is missing",
        "1: plugin.version is missing",
        "1: plugin.api is missing",
    ];
    assert_eq!(problems(""), three);
    assert_eq!(problems("[plugin]"), three);
    assert_eq!(problems("plugin = 1")[0], "1: plugin must be a table");
    let error = Manifest::parse(b"\n[plugin\n").unwrap_err().to_string();
    assert!(error.starts_with("plugin.toml:2: is no TOML: "), "{error}");
    assert_eq!(
        problems(&" ".repeat(BYTES_MAX + 1)),
        ["1: must have at most 65536 bytes"]
    );
    assert!(Manifest::parse(b"\xff").is_err());
}

#[test]
fn versions_of_the_contract_serve_older_ones_alone() {
    let api = |text| Api::parse(text).unwrap();
    assert!(api("1.2").serves(api("1.0")) && api("1.2").serves(api("1.2")));
    assert!(!api("1.2").serves(api("1.3")) && !api("2.0").serves(api("1.0")));
    for bad in [
        "1",
        "1.",
        ".1",
        "1.0.0",
        "+1.0",
        "01.0",
        "1.x",
        "99999999999.0",
    ] {
        assert_eq!(Api::parse(bad), None, "{bad}");
    }
}

#[test]
fn limits_have_their_defaults_within_their_bounds() {
    for limit in LIMITS {
        assert!(
            limit.least <= limit.default && limit.default <= limit.most,
            "{limit:?}"
        );
        for number in [
            i64::from(limit.least) - 1,
            i64::from(limit.most) + 1,
            -1,
            i64::MAX,
        ] {
            let text = format!("{}\n[limits]\n{} = {number}", least(), limit.key);
            assert!(problems(&text)[0].contains("must be from"), "{text}");
        }
    }
    let text = format!("{}\n[limits]\ndeadline_ms = 1000", least());
    assert_eq!(
        problems(&text),
        ["5: limits.compute_ms must not exceed deadline_ms, which is 1000"]
    );
}

#[test]
fn a_mount_is_for_those_with_a_scope_unless_it_says_otherwise() {
    let read = |more: &str| {
        let text = format!("{}\n{more}", least());
        Manifest::parse(text.as_bytes()).map(|manifest| manifest.mount)
    };
    assert_eq!(read("").unwrap(), None);
    let default = read("[proxy]").unwrap().unwrap();
    assert_eq!(default, Mount::default());
    assert_eq!(default.scope.as_deref(), Some("bench:control"));
    assert_eq!(default.methods.len(), METHODS.len());
    let own = "[proxy]\nscope = \"jobs:submit\"\nmethods = [\"GET\"]\nbody_kib = 0";
    let own = read(own).unwrap().unwrap();
    assert_eq!(own.scope.as_deref(), Some("jobs:submit"));
    assert_eq!((own.methods.len(), own.body_kib), (1, 0));
    let any = read("[proxy]\nscope = \"any\"").unwrap().unwrap();
    assert_eq!((any.scope, any.public), (None, false));
    let public = read("[proxy]\npublic = true\n[wants]\npublic = true");
    let public = public.unwrap().unwrap();
    assert_eq!((public.scope, public.public), (None, true));
    for (bad, what) in [
        ("public = true", "proxy.public needs public = true in wants"),
        (
            "methods = [\"OPTIONS\"]",
            "proxy.methods[0] must be one of GET",
        ),
        ("scope = \"everything\"", "proxy.scope must be a scope"),
        ("body_kib = 8193", "proxy.body_kib must be from 0 to 8192"),
        ("path = \"/\"", "proxy has no key"),
        (
            "public = true\nscope = \"bench:control\"\n[wants]\npublic = true",
            "proxy.scope cannot be asked of callers without a credential",
        ),
    ] {
        let error = read(&format!("[proxy]\n{bad}")).unwrap_err().to_string();
        assert!(error.contains(what), "{bad}: {error}");
    }
}

fn least() -> &'static str {
    "[plugin]\nid = \"a.b\"\nversion = \"0.1.0\"\napi = \"1.0\""
}

#[test]
fn lists_are_bounded() {
    let many: Vec<_> = (0..=asks::SECRETS_MAX)
        .map(|n| format!("\"s{n}\""))
        .collect();
    let text = format!("{}\n[wants]\nsecrets = [{}]", least(), many.join(","));
    assert_eq!(
        problems(&text),
        ["6: wants.secrets must have at most 16 items"]
    );
    let text = format!("{}\n[wants]\nsecrets = [{}]", least(), many[1..].join(","));
    let wants = Manifest::parse(text.as_bytes()).unwrap().wants;
    assert_eq!(wants.secrets.len(), asks::SECRETS_MAX);
    assert!(wants.interfaces.contains(&Interface::Secrets));
    let deep = format!("x = {}1{}", "[".repeat(30_000), "]".repeat(30_000));
    assert!(problems(&deep)[0].contains("is no TOML"));
}

#[test]
fn mutated_manifests_are_read_or_refused() {
    fuzz::seeded(GOOD.as_bytes(), 20_000, 0x0070_1061, |bytes| {
        fuzz::manifest(bytes)
    });
}
