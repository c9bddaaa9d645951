//! The example `plugins/i2c-csv`, from the end of a capture to a mail gateway.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use tests::offline::offline;
use tests::receiver::Answer;
use tests::server::binary;
use tests::{Receiver, Server, until};

use super::{Bench, run};

const PLUGIN: &str = "hostd.i2c-csv";

/// A server with the plugin, which mails through `gateway`.
fn bench(gateway: &Receiver) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let secret = ["secret", "set", "MAIL_KEY", "--all-refs"];
    offline(dir.path(), &secret, "hidden-key");
    let config = dir.path().join("hostd.toml");
    fs::write(&config, "[plugins]\nhttp_allow = \"127.0.0.1\"\n").unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let built = binary().unwrap().parent().unwrap().join("../handlers");
    let package = built.join("plugins/i2c-csv").display().to_string();
    run(dir.path(), &["install", &package]).ok();
    run(dir.path(), &["approve", PLUGIN]).ok();
    run(
        dir.path(),
        &["approve", PLUGIN, "--http", &gateway.url("/*")],
    )
    .ok();
    Bench { dir, server }
}

/// A capture of the bus of the demonstration, once it is done.
fn capture(bench: &Bench) -> String {
    let client = bench.client();
    let order = json!({"device_id": bench.server.device(), "samples": 100_000, "sample_rate_mhz": 1.0, "scl": "LA1",
        "sda": "LA2", "voltage_mv": 3300});
    let started = client.post("/api/analyzer/captures/start", &order);
    let started = started.unwrap().expect(202);
    let id = started["capture_id"].as_str().unwrap().to_owned();
    let path = format!("/api/capture/{id}?frames=none");
    let look = || client.get(&path).unwrap().expect(200);
    until(look, |capture| capture["status"] == "done").unwrap();
    id
}

#[test]
fn the_table_of_a_capture_is_mailed_once_the_gateway_takes_it() {
    let gateway = Receiver::start(Answer::Status(500));
    let bench = bench(&gateway);
    let client = bench.client();
    // Without a gateway in its configuration it mails nothing. It reads that when it hears of the capture.
    capture(&bench);
    let delivered = format!("hostd_plugin_events_delivered_total{{plugin=\"{PLUGIN}\"}} 1");
    let metrics = || client.get("/metrics").unwrap().text;
    until(metrics, |page| page.lines().any(|line| line == delivered)).unwrap();
    let url = format!("mail_url={}", gateway.url("/v3/example.com/messages"));
    let mut order = vec!["configure", PLUGIN];
    for setting in [
        "mail=mailgun",
        &url,
        "mail_from=bench@example.com",
        "mail_to=lab@example.com",
    ] {
        order.extend(["--set", setting]);
    }
    run(bench.dir.path(), &order).ok();
    let id = capture(&bench);
    let seen = gateway.wait_for(1);
    // The gateway was away; the next time it is there, and gets the same.
    gateway.answer(Answer::Status(200));
    let again = gateway.wait_for(2);
    assert_eq!(again[1].body, seen[0].body);
    let mail = &again[1];
    assert_eq!(
        (mail.method.as_str(), mail.path.as_str()),
        ("POST", "/v3/example.com/messages")
    );
    let login = format!("Basic {}", BASE64_STANDARD.encode("api:hidden-key"));
    assert_eq!(mail.header("authorization"), Some(login.as_str()));
    let report = format!("/api/x/{PLUGIN}/reports/capture/{id}");
    let table = client.get(&report).unwrap().text;
    assert!(table.contains(",LA1,LA2,0x68,"), "{table}");
    assert!(mail.body.contains(&table), "{}", mail.body);
    assert!(mail.body.contains("-i2c.csv\"") && mail.body.contains(&id));
    let mailed = || run(bench.dir.path(), &["logs", PLUGIN]).ok();
    let log = until(mailed, |log| log.contains("was mailed")).unwrap();
    assert!(
        log.contains("the mail gateway answered 500") && !log.contains("hidden"),
        "{log}"
    );
    assert!(!bench.server.log().contains("hidden-key"));
}
