//! The offline commands on a data folder of their own.

use clap::Parser;
use tempfile::TempDir;

use super::*;
use identity::offline::with_store;
use lab::leases::Why;
use store::Store;
use store::leases::OwedRecord;

#[derive(Debug, Parser)]
struct Line {
    #[command(subcommand)]
    verb: DeviceCommand,
}

fn run(config: &Config, line: &[&str]) -> Result<String, String> {
    let words = ["device"].iter().chain(line);
    let mut out = Vec::new();
    let verb = Line::try_parse_from(words).map_err(|e| e.to_string())?.verb;
    verb.run(config, &mut out).map_err(|e| format!("{e:#}"))?;
    Ok(String::from_utf8(out).unwrap())
}

fn device(id: &str, name: &str) -> DeviceRecord {
    DeviceRecord {
        id: id.into(),
        org: "o".into(),
        name: name.into(),
        first_name: name.into(),
        address: format!("tcp:{name}:8080"),
        transport: "tcp".into(),
        serial: String::new(),
        board: String::new(),
        firmware_version: String::new(),
        public_key: String::new(),
        certificate_pin: String::new(),
        registered_by: String::new(),
        proves_name: false,
        created_ms: 0,
        last_active_ms: None,
        removed: false,
    }
}

fn folder(records: Vec<LeaseRecord>) -> (TempDir, Config) {
    let dir = TempDir::new().unwrap();
    let config = Config {
        data_dir: dir.path().to_owned(),
        ..Config::default()
    };
    drop(Store::open(dir.path(), 4).unwrap());
    with_store(&config.data_dir, async |store| {
        for (id, name) in [("1", "one"), ("2", "two")] {
            store.device_put(device(id, name)).await.unwrap();
        }
        for record in records {
            store.lease_put(record).await.unwrap();
        }
    })
    .unwrap();
    (dir, config)
}

#[test]
fn a_device_goes_and_comes_back() {
    let (_dir, config) = folder(Vec::new());
    assert!(run(&config, &["list"]).unwrap().contains("free"));
    assert_eq!(
        run(&config, &["remove", "one"]).unwrap(),
        "removed one (1)\n"
    );
    assert!(
        run(&config, &["remove", "one"])
            .unwrap_err()
            .contains("find the device")
    );
    assert!(run(&config, &["list"]).unwrap().contains("removed"));
    for which in ["one", "tcp:one:8080", "1"] {
        assert_eq!(
            run(&config, &["admit", which]).unwrap(),
            "admitted one (1)\n"
        );
        let twice = run(&config, &["admit", which]).unwrap_err();
        assert!(twice.contains("find the removed device"), "{twice}");
        run(&config, &["remove", "1"]).unwrap();
    }
}

#[test]
fn one_that_is_not_free_is_removed_by_overriding_alone() {
    let owes = OwedRecord {
        why: Why::Released,
        since_ms: 1_000,
    };
    let (_dir, config) = folder(vec![
        LeaseRecord {
            device: "1".into(),
            holder: "run 7".into(),
            ..LeaseRecord::default()
        },
        LeaseRecord {
            device: "2".into(),
            owes: Some(owes),
            ..LeaseRecord::default()
        },
    ]);
    let held = run(&config, &["remove", "one"]).unwrap_err();
    assert!(held.contains("run 7 holds it"), "{held}");
    let owing = run(&config, &["remove", "two"]).unwrap_err();
    assert!(owing.contains("it owes a safe state since 1970"), "{owing}");
    run(&config, &["remove", "two", "--override"]).unwrap();
    // The debt is gone with it.
    run(&config, &["admit", "two"]).unwrap();
    run(&config, &["remove", "two"]).unwrap();
}
