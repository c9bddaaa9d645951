//! The offline commands, each run as the command line runs it, on a data folder of its own.

use base::clock::Clock;
use base::private;
use clap::{Parser, Subcommand};
use identity::offline::{with_identity, with_store};
use tempfile::TempDir;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(subcommand)]
    Secret(SecretCommand),
}

/// With the organisations `default` and `acme`.
fn folder() -> (TempDir, Config) {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        data_dir: dir.path().join("data"),
        ..Config::default()
    };
    private::data_folder(&config.data_dir).unwrap();
    drop(Store::open(&config.data_dir, 4).unwrap());
    with_identity(&config.data_dir, "bk", async |identity| {
        identity.bootstrap().await.unwrap();
        identity.org_add("acme").await.unwrap();
    })
    .unwrap();
    (dir, config)
}

fn run(config: &Config, line: &str, mut input: &[u8]) -> Result<String, String> {
    let words = ["hostd", "secret"].into_iter().chain(line.split(' '));
    let Verb::Secret(verb) = Line::try_parse_from(words).map_err(|e| e.to_string())?.verb;
    let mut out = Vec::new();
    let result = verb.run_with(config, &mut input, &mut out);
    result.map_err(|e| format!("{e:#}"))?;
    Ok(String::from_utf8(out).unwrap())
}

fn read(config: &Config, org: &str, name: &str) -> String {
    with_store(&config.data_dir, async |store| {
        let vault = Vault::new(&config.data_dir, store.clone(), Clock::system());
        let name = name.to_owned();
        let snapshot = store.snapshot().unwrap();
        let org = orgs::by_name(&snapshot, org).unwrap().unwrap().id;
        let mut values = vault.open(&org, &[&*name].into(), Some("main")).unwrap();
        values.remove(&name).unwrap()
    })
    .unwrap()
}

#[test]
fn secrets_are_set_listed_and_removed() {
    let (_dir, config) = folder();
    let told = run(&config, "set CAL", b"correct horse\n").unwrap();
    assert_eq!(told, "CAL is written\n");
    let told = run(
        &config,
        "set CAL --ref main --ref release/*",
        b"battery staple\r\n",
    )
    .unwrap();
    assert_eq!(told, "CAL is replaced\n");
    run(&config, "set CAL --org acme", b"line one\nline two\n").unwrap();
    assert_eq!(read(&config, "default", "CAL"), "battery staple");
    assert_eq!(read(&config, "acme", "CAL"), "line one\nline two\n");
    let listed = run(&config, "list", b"").unwrap();
    let rows: Vec<Vec<&str>> = listed
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    let row = |org: &str| rows.iter().find(|row| row[0] == org).unwrap();
    assert_eq!(row("default")[1..3], ["CAL", "ready"]);
    assert_eq!(row("default")[4..], ["main", "release/*"]);
    assert_eq!(row("acme")[4..], ["all"]);
    assert!(!listed.contains("battery") && !listed.contains("line one"));
    run(&config, "set CAL --all-refs", b"another value").unwrap();
    assert!(!run(&config, "list", b"").unwrap().contains("release"));
    assert_eq!(
        run(&config, "remove CAL --org acme", b"").unwrap(),
        "removed CAL\n"
    );
    assert!(run(&config, "remove CAL --org acme", b"").is_err());
    assert_eq!(read(&config, "default", "CAL"), "another value");
}

#[test]
fn what_is_refused_is_told_without_the_value() {
    let (_dir, config) = folder();
    let long = vec![b'x'; *VALUE_BYTES.end() + 1];
    let inputs: [(&str, &[u8], &str); 6] = [
        ("set CAL", b"short\n", "at least 8 bytes"),
        ("set CAL", &long, "at most 65536 bytes"),
        ("set CAL", b"not \xff UTF-8", "not UTF-8"),
        ("set cal", b"unlikely value", "capital letters"),
        ("set CAL --org none", b"unlikely value", "hostd org list"),
        (
            "set CAL --ref a --all-refs",
            b"unlikely value",
            "cannot be used with",
        ),
    ];
    for (line, input, part) in inputs {
        let told = run(&config, line, input).unwrap_err();
        assert!(told.contains(part), "{told}");
        assert!(
            !told.contains("unlikely") && !told.contains("xxx"),
            "{told}"
        );
    }
}
