//! The offline commands, each run as the command line runs it, on a data folder of its own.

use clap::{Parser, Subcommand};
use tempfile::TempDir;

use super::*;
use crate::cli::org::OrgCommand;
use crate::cli::user::UserCommand;
use base::private;
use identity::offline::with_identity;
use identity::{Origin, Stay};
use std::time::Duration;
use store::Store;

#[derive(Debug, Parser)]
struct Line {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(subcommand)]
    Key(KeyCommand),
    #[command(subcommand)]
    User(UserCommand),
    #[command(subcommand)]
    Org(OrgCommand),
}

/// With a store, as a server leaves it.
fn config(dir: &TempDir) -> Config {
    let config = bare(dir);
    private::data_folder(&config.data_dir).unwrap();
    drop(Store::open(&config.data_dir, 4).unwrap());
    config
}

fn bare(dir: &TempDir) -> Config {
    let mut config = Config {
        data_dir: dir.path().join("data"),
        ..Config::default()
    };
    config.auth.key_prefix = "bk".to_owned();
    config
}

/// Run `line`, with `input` as standard input; what it printed, or its whole error.
fn run_with(config: &Config, line: &[&str], mut input: &[u8]) -> Result<String, String> {
    let words = ["hostd"].iter().chain(line);
    let mut out = Vec::new();
    let result = match Line::try_parse_from(words).map_err(|e| e.to_string())?.verb {
        Verb::Key(verb) => verb.run(config, &mut out),
        Verb::User(verb) => verb.run_with(config, &mut input, &mut out),
        Verb::Org(verb) => verb.run(config, &mut out),
    };
    result.map_err(|e| format!("{e:#}"))?;
    Ok(String::from_utf8(out).unwrap())
}

fn run(config: &Config, line: &[&str]) -> Result<String, String> {
    run_with(config, line, b"")
}

/// What a server on this folder says of a key.
fn verdict(config: &Config, key: &str) -> &'static str {
    let header = format!("ApiKey {key}");
    with_identity(&config.data_dir, "bk", async |identity| {
        identity
            .authenticate(Some(&header), None, None)
            .map_or_else(identity::AuthError::code, |_| "ok")
    })
    .unwrap()
}

#[test]
fn a_key_is_made_listed_and_revoked() {
    let dir = TempDir::new().unwrap();
    let config = config(&dir);
    let made = run(
        &config,
        &["key", "create", "--name", "ci", "--scope", "jobs:submit"],
    )
    .unwrap();
    let key = made.trim();
    let kid = key.split('_').nth(1).unwrap();
    assert_eq!(verdict(&config, key), "ok");
    let list = run(&config, &["key", "list"]).unwrap();
    let row = list.lines().find(|line| line.starts_with(kid)).unwrap();
    assert!(
        row.contains("owner") && row.contains("ci") && row.ends_with("jobs:submit"),
        "{row}"
    );
    let secret = key.split('_').nth(2).unwrap();
    assert!(!list.contains(secret));
    assert_eq!(
        run(&config, &["key", "revoke", kid]).unwrap(),
        format!("revoked {kid}\n")
    );
    assert_eq!(verdict(&config, key), "revoked_credential");
    assert!(!run(&config, &["key", "list"]).unwrap().contains(kid));
    let again = run(&config, &["key", "revoke", kid]).unwrap_err();
    assert_eq!(again, "revoke the key: there is no such key");
}

#[test]
fn wrong_orders_are_refused_by_name() {
    let dir = TempDir::new().unwrap();
    let config = config(&dir);
    let user = run(&config, &["key", "create", "--user", "nobody"]).unwrap_err();
    assert!(user.contains("there is no user nobody"), "{user}");
    let scope = run(&config, &["key", "create", "--scope", "bench:everything"]).unwrap_err();
    assert!(
        scope.contains("must each be one of jobs:submit, bench:control"),
        "{scope}"
    );
    run(&config, &["user", "add", "ann"]).unwrap();
    let admin = ["key", "create", "--user", "ann", "--scope", "bench:admin"];
    assert!(
        run(&config, &admin)
            .unwrap_err()
            .contains("only an admin or owner")
    );
}

#[test]
fn a_folder_without_a_store_is_refused_and_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    let config = bare(&dir);
    for line in [
        &["key", "create"][..],
        &["key", "list"],
        &["user", "add", "ann"],
        &["org", "add", "acme"],
    ] {
        let refused = run(&config, line).unwrap_err();
        let named = config.data_dir.to_string_lossy();
        assert!(
            refused.contains("find a store in")
                && refused.contains(&*named)
                && refused.contains("--data-dir"),
            "{refused}"
        );
        assert!(!config.data_dir.exists(), "a mistyped folder is not made");
    }
    // As the current folder of a shell.
    std::fs::create_dir(&config.data_dir).unwrap();
    run(&config, &["key", "create"]).unwrap_err();
    assert_eq!(std::fs::read_dir(&config.data_dir).unwrap().count(), 0);
}

#[test]
fn a_process_that_keeps_the_folder_and_does_not_answer_is_waited_for_and_named() {
    let dir = TempDir::new().unwrap();
    let config = config(&dir);
    let order = Order::Key(KeyCommand::List);
    let listed = |wait| operator::carried_out(&config.data_dir, "bk", &order, wait);
    let store = Store::open(&config.data_dir, 4).unwrap();
    let locked = listed(Duration::ZERO).unwrap_err().to_string();
    assert!(locked.contains("does not answer on admin.sock"), "{locked}");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| listed(Duration::from_secs(60)).unwrap());
        drop(store);
        waiting.join().unwrap();
    });
}

#[test]
fn a_user_is_added_gets_a_password_and_is_shut_out() {
    let dir = TempDir::new().unwrap();
    let config = config(&dir);
    let added = run(&config, &["user", "add", "ann", "--role", "admin"]).unwrap();
    let code = added.lines().next().unwrap();
    let word = b"correct horse battery\r\nmore\n";
    let set = run_with(&config, &["user", "password", "ann"], word).unwrap();
    assert!(set.ends_with("the password of ann is set\n"), "{set}");
    with_identity(&config.data_dir, "bk", async |identity| {
        let password = "correct horse battery".to_owned();
        let here = Origin::Address(None);
        identity
            .sign_in_password(here, "ann", password, Stay::Short)
            .await
            .unwrap();
        identity
            .sign_in_code(here, code, Stay::Short)
            .await
            .unwrap();
    })
    .unwrap();
    let short = run_with(&config, &["user", "password", "ann"], b"short\n").unwrap_err();
    assert!(
        short.contains("password: must have 10 to 256 characters"),
        "{short}"
    );
    let long = "p".repeat(400);
    assert!(run_with(&config, &["user", "password", "ann"], long.as_bytes()).is_err());
    let list = run(&config, &["user", "list"]).unwrap();
    let row = list.lines().find(|line| line.contains("  ann  ")).unwrap();
    assert!(
        row.contains("admin") && row.contains("active") && !row.ends_with("never"),
        "{row}"
    );
    assert_eq!(
        run(&config, &["user", "disable", "ann"]).unwrap(),
        "ann is disabled\n"
    );
    assert!(
        run(&config, &["user", "list"])
            .unwrap()
            .contains("disabled")
    );
    assert_eq!(
        run(&config, &["user", "enable", "ann"]).unwrap(),
        "ann is enabled\n"
    );
    let last = run(&config, &["user", "disable", "owner"]).unwrap_err();
    assert!(last.contains("last enabled owner"), "{last}");
    let unknown = run(&config, &["user", "code", "bob"]).unwrap_err();
    assert_eq!(unknown, "find the user bob; see hostd user list");
    let unknown = run_with(&config, &["user", "password", "bob"], word).unwrap_err();
    assert!(unknown.contains("find the user bob"), "{unknown}");
    assert!(
        run(&config, &["user", "code", "owner"])
            .unwrap()
            .contains("within 15 minutes")
    );
}

#[test]
fn organisations_are_listed_with_their_users() {
    let dir = TempDir::new().unwrap();
    let config = config(&dir);
    run(&config, &["user", "add", "ann"]).unwrap();
    let list = run(&config, &["org", "list"]).unwrap();
    let row = list.lines().nth(1).unwrap();
    let has_two = row.split_whitespace().nth(3) == Some("2");
    assert!(row.contains("  default  ") && has_two, "{row}");
    // Nobody has named the refs that it trusts.
    assert!(row.ends_with("  none"), "{row}");
}
