//! The plugin beside a double of the host.

use hostd_plugin::captures::Decoded;
use hostd_plugin::testing::{Capture, Double, with};
use hostd_plugin::{Subject, report};
use serde_json::json;

use crate::REPORTS;

mod mail;

fn found(start: u64, end: u64, class: &str, numbers: &[u64]) -> Decoded {
    Decoded {
        start,
        end,
        class: class.to_owned(),
        text: String::new(),
        numbers: numbers.to_vec(),
    }
}

/// A write of a register number, then a read of two bytes, then an address that nobody acknowledges, and a cut.
fn bench(channels: &[&str]) {
    let mut capture = Capture::digital("c1", channels, 1e6, 1_000);
    capture.decoded = vec![
        found(10, 10, "start", &[]),
        found(24, 26, "address-write", &[]),
        found(12, 24, "address-write", &[0x50]),
        found(26, 28, "ack", &[]),
        found(28, 44, "data-write", &[0x0f]),
        found(44, 46, "ack", &[]),
        found(50, 50, "repeat-start", &[]),
        found(52, 64, "address-read", &[0x50]),
        found(66, 68, "ack", &[]),
        found(68, 84, "data-read", &[0xab]),
        found(84, 86, "ack", &[]),
        found(86, 102, "data-read", &[0x01]),
        found(102, 104, "nack", &[]),
        found(110, 110, "stop", &[]),
        found(200, 200, "start", &[]),
        found(202, 214, "address-write", &[0x7f]),
        found(216, 218, "nack", &[]),
        found(220, 220, "stop", &[]),
        found(300, 300, "start", &[]),
    ];
    let double = Double {
        config: json!({"scl": "", "sda": "", "mail": "off", "mail_url": "", "mail_from": "", "mail_to": "", "mail_only": ""}),
        captures: vec![capture],
        ..Double::default()
    };
    double.install();
}

fn subject() -> Subject {
    Subject {
        kind: "capture".to_owned(),
        id: "c1".to_owned(),
        json: json!({"id": "c1", "name": "boot"}),
    }
}

fn table(options: &[(&str, &str)]) -> Vec<String> {
    let made = report(REPORTS, &subject(), options).unwrap();
    assert_eq!(made.name, "boot-i2c.csv");
    let text = String::from_utf8(made.content).unwrap();
    assert!(text.ends_with("\r\n"));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn each_transaction_is_a_line() {
    bench(&["SCL", "SDA"]);
    assert_eq!(
        table(&[]),
        [
            "time_s,duration_s,scl,sda,address,rw,address_ack,data,ack,end",
            "0.000010000,0.000040000,SCL,SDA,0x50,write,ACK,0F,ACK,repeated start",
            "0.000050000,0.000060000,SCL,SDA,0x50,read,ACK,AB 01,ACK NACK,stop",
            "0.000200000,0.000020000,SCL,SDA,0x7F,write,NACK,,,stop",
            "0.000300000,0.000000000,SCL,SDA,,,,,,",
        ]
    );
}

#[test]
fn channels_come_from_request_capture_name_or_configuration() {
    bench(&["LA1", "LA2", "a,b"]);
    let refused = report(REPORTS, &subject(), &[]).unwrap_err();
    assert_eq!(refused.code, "invalid");
    assert!(refused.message.contains("?scl=NAME") && refused.message.contains("LA1, LA2"));
    let of = |options: &[(&str, &str)]| table(options)[1].clone();
    let asked = of(&[("scl", "a,b"), ("sda", "LA1")]);
    assert!(asked.contains(",\"a,b\",LA1,"), "{asked}");
    with(|double| {
        double.config["scl"] = json!("LA2");
        double.config["sda"] = json!("LA1");
    });
    assert!(of(&[]).contains(",LA2,LA1,"));
    let roles = [("scl", "LA1"), ("sda", "LA2")].map(|(r, c)| (r.to_owned(), c.to_owned()));
    with(|double| double.captures[0].roles = roles.to_vec());
    assert!(of(&[]).contains(",LA1,LA2,"));
    assert!(of(&[("scl", "LA2"), ("sda", "LA1")]).contains(",LA2,LA1,"));
    let unknown = report(REPORTS, &subject(), &[("scl", "LA9")]).unwrap_err();
    assert_eq!(unknown.code, "invalid");
}

#[test]
fn a_capture_without_digital_channels_has_no_bus() {
    bench(&["SCL", "SDA"]);
    with(|double| double.captures[0].channels.clear());
    let refused = report(REPORTS, &subject(), &[]).unwrap_err();
    assert_eq!(refused.code, "wrong_state");
}

#[test]
fn a_table_that_is_too_long_is_refused() {
    bench(&["SCL", "SDA"]);
    with(|double| {
        let one = [found(1, 1, "start", &[]), found(2, 3, "data-read", &[0; 1])];
        double.captures[0].decoded = one.iter().cycle().take(500_000).cloned().collect();
    });
    let refused = report(REPORTS, &subject(), &[]).unwrap_err();
    assert_eq!(refused.code, "too_large");
}
