//! A plugin's own keys: apart from everybody else's, and within a quota.

use serde_json::json;

use super::{Bench, ID, WANTS};

#[test]
fn keys_are_kept_changed_and_found() {
    let bench = Bench::new();
    bench.install("1.0.0");
    let put = |key: &str, value: &str| {
        let asked = json!({"function": "store.put", "key": key, "value": value});
        bench.call(&asked).expect(200).as_u64().unwrap()
    };
    let (first, second) = (put("a/1", "one"), put("a/1", "two"));
    assert!(second > first);
    put("b/1", "other");
    let set = |expected: u64| {
        bench.call(&json!({"function": "store.compare-and-set", "key": "a/1", "expected": expected, "value": "three"}))
    };
    set(first).expect_error(409, "conflict");
    set(second).expect(200);
    let found = bench.call(&json!({"function": "store.scan", "from": "a/", "to": "a0"}));
    assert_eq!(found.expect(200), json!(["a/1"]));
    bench
        .call(&json!({"function": "store.delete", "key": "a/1"}))
        .expect(200);
    let gone = bench.call(&json!({"function": "store.get", "key": "a/1"}));
    assert_eq!(gone.expect(200), json!(null));
}

#[test]
fn a_quota_bounds_what_is_kept_and_removal_frees_it() {
    let bench = Bench::new();
    let folder = bench.version("1.0.0", WANTS, "store_mib = 1");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    let put = |key: &str, size: u32| {
        bench.call(&json!({"function": "store.put", "key": key, "size": size}))
    };
    put("a", 700 << 10).expect(200);
    put("b", 700 << 10).expect_error(507, "quota_exceeded");
    put("a", 100 << 10).expect(200);
    put("b", 700 << 10).expect(200);
    put("big", (1 << 20) + 1).expect_error(413, "too_large");
    put(&"k".repeat(513), 1).expect_error(413, "too_large");

    // Gone without --data, the keys wait; with it, they are gone.
    bench.plugin(&["remove", ID]).ok();
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    let asked = json!({"function": "store.scan", "from": "", "to": "z"});
    assert_eq!(bench.call(&asked).expect(200), json!(["a", "b"]));
    bench.plugin(&["remove", ID, "--data"]).ok();
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    assert_eq!(bench.call(&asked).expect(200), json!([]));
}

#[test]
fn what_a_call_stores_while_its_plugin_is_removed_goes_with_it() {
    let bench = Bench::new();
    let folder = bench.install("1.0.0");
    let list = || bench.call(&json!({"function": "store.scan", "from": "", "to": "z"}));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| bench.get("/crime/keys").status);
        while list().expect(200).as_array().is_some_and(Vec::is_empty) {
            std::thread::yield_now();
        }
        bench.plugin(&["remove", ID, "--data"]).ok();
        assert!(call.join().unwrap() >= 500);
    });
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    assert_eq!(list().expect(200), json!([]));
}
