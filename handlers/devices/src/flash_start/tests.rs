//! Bodies of every kind, and what the wiring fills in.

use guest::Fields;
use guest::testing::{mutations, request, request_example};
use serde_json::{Value, json};

use super::order::From;
use super::*;

fn read(body: &Value) -> Result<Asked, ApiError> {
    Asked::read(Fields::parse(body.to_string().as_bytes()).unwrap(), false)
}

fn problem(body: &Value) -> String {
    let error = read(body).unwrap_err();
    assert_eq!(error.status, 400);
    error.fields[0].field.clone()
}

#[test]
fn firmware_is_named_in_one_way() {
    let asked = read(&json!({"job_id": "b", "pack_id": "external", "artifact_name": "a/fw.elf"}));
    assert!(
        matches!(asked.unwrap().from, From::Artifact { job, pack: Some(pack), name } if [&*job, &*pack, &*name] == ["b", "external", "a/fw.elf"])
    );
    let asked = read(&json!({"repo": "acme/blinky", "ref": ""})).unwrap();
    let From::Selector(selector) = asked.from else {
        panic!("{asked:?}")
    };
    assert_eq!(selector.repo.as_deref(), Some("acme/blinky"));
    assert!(selector.ref_.is_none());
    assert_eq!(problem(&json!({})), "firmware");
    assert_eq!(problem(&json!({"job_id": "b"})), "artifact_name");
    assert_eq!(
        problem(&json!({"job_id": "b", "artifact_name": "f", "build": "latest"})),
        "job_id"
    );
    let no_pack = read(&json!({"job_id": "b", "artifact_name": "f"}));
    assert!(matches!(
        no_pack.unwrap().from,
        From::Artifact { pack: None, .. }
    ));
    let odd_pack = json!({"job_id": "b", "pack_id": 1, "artifact_name": "f"});
    assert_eq!(problem(&odd_pack), "pack_id");
    let texts = vec![("target".to_owned(), "stm32f0x".to_owned())];
    assert!(matches!(
        Asked::read(Fields::of_texts(texts.clone()), true)
            .unwrap()
            .from,
        From::File
    ));
    let both = [texts, vec![("build".to_owned(), "latest".to_owned())]].concat();
    assert_eq!(
        Asked::read(Fields::of_texts(both), true)
            .unwrap_err()
            .fields[0]
            .field,
        "build"
    );
}

#[test]
fn members_are_bounded() {
    for (member, value) in [
        ("swclk", json!(0)),
        ("swdio", json!(15)),
        ("efuse", json!(3)),
        ("nreset", json!("yes")),
        ("load_addr", json!("flash")),
        ("load_addr", json!(-1)),
        ("load_addr", json!("0x100000000")),
        ("target", json!("x".repeat(129))),
        ("verify", json!(1)),
        ("speed", json!(1)),
    ] {
        assert_eq!(problem(&json!({"build": "latest", member: value})), member);
    }
    let same = json!({"build": "latest", "swclk": 3, "swdio": 3});
    assert_eq!(problem(&same), "swdio");
}

fn order(body: &Value, known: &[Value]) -> Result<flashing::Order, ApiError> {
    let known: Vec<_> = known
        .iter()
        .map(|k| k.as_object().unwrap().clone())
        .collect();
    read(body)
        .unwrap()
        .order("d1", &known, &wiring::defaults(), true)
}

#[test]
fn what_is_left_out_is_as_the_bench_is_wired() {
    let bare = json!({"build": "latest"});
    assert_eq!(order(&bare, &[]).unwrap_err().fields[0].field, "target");
    let stored = json!({"swd_target": "nrf51", "swd_swclk": 1, "efuse": 2, "la_mv": 1800});
    let built = json!({"swd_target": "stm32f0x", "swd_swdio": 9});
    let filled = order(&bare, &[stored.clone(), built]).unwrap();
    assert_eq!(filled.target, "nrf51");
    assert_eq!((filled.swclk, filled.swdio), (1, 9));
    assert_eq!((filled.efuse, filled.la_mv), (2, 1800));
    assert!(filled.verify && filled.reset && !filled.force && filled.load_address.is_none());
    let said = json!({"build": "latest", "target": "stm32f0x", "efuse": 0, "swclk": 3, "load_addr": "0x08001000", "reset": false});
    let filled = order(&said, &[stored]).unwrap();
    assert_eq!((filled.swclk, filled.swdio, filled.efuse), (3, 12, 0));
    assert_eq!(filled.load_address, Some(0x0800_1000));
    assert!(!filled.reset);
    for (nreset, expected) in [
        (json!(false), false),
        (json!(true), true),
        (Value::Null, true),
    ] {
        let held = json!({"build": "latest", "target": "x", "connect_under_reset": true, "nreset": nreset});
        assert_eq!(order(&held, &[]).unwrap().connect_under_reset, expected);
    }
    let unwired = json!({"swd_target": "x", "swd_swclk": null});
    assert_eq!(
        order(&bare, &[unwired]).unwrap_err().fields[0].field,
        "swclk"
    );
    let clash = json!({"swd_target": "x", "swd_swclk": 12});
    assert_eq!(order(&bare, &[clash]).unwrap_err().fields[0].field, "swdio");
}

#[test]
fn a_preference_is_found_among_others() {
    let mut request = request("");
    for (value, expected) in [
        ("respond-async", true),
        ("wait=5, Respond-Async; x=1", true),
        ("wait=5", false),
        ("", false),
    ] {
        request.headers = vec![("prefer".to_owned(), value.to_owned())];
        assert_eq!(prefers_async(&request), expected, "{value}");
    }
}

#[test]
fn mutated_bodies_never_panic() {
    mutations(0xF1A5, &request_example(&ROUTE), 3000, |body| {
        if let Ok(fields) = Fields::parse(body)
            && let Ok(asked) = Asked::read(fields, false)
            && let Ok(order) = asked.order("d1", &[], &wiring::defaults(), true)
        {
            assert!((1..=14).contains(&order.swclk) && order.swclk != order.swdio);
        }
    });
}
