//! Lists that the server filters and sorts: each page goes on where the one before ended, in every order.

use serde_json::{Value, json};
use tests::{Bench, Client, Server, until};

fn capture(server: &Server, device: &str, (samples, name): (u64, &str)) -> String {
    let client = server.client();
    let order = json!({"device_id": device, "samples": samples, "sample_rate_mhz": 1.0, "voltage_mv": 3300, "name": name});
    let started = client.post("/api/la/captures/start", &order).unwrap();
    let id = started.expect(202)["capture_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/capture/{id}?frames=none");
    let record = || client.get(&path).unwrap().expect(200);
    until(record, |record| record["status"] == "done").unwrap();
    id
}

/// The names of what a list has, page by page.
fn names(client: &Client, query: &str, limit: usize) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/captures?limit={limit}&{query}{cursor}");
        let page = client.get(&path).unwrap().expect(200);
        let captures = page["captures"].as_array().unwrap();
        assert!(captures.len() <= limit);
        let name = |capture: &Value| capture["name"].as_str().unwrap().to_owned();
        found.extend(captures.iter().map(name));
        let Some(next) = page["next_cursor"].as_str() else {
            return found;
        };
        cursor = format!("&cursor={next}");
    }
}

#[test]
fn captures_are_found_and_sorted_by_the_server() {
    let bench = Bench::start(&["sim:v3,seed=3", "sim:v3,seed=4"]).unwrap();
    let (server, client) = (&bench.server, bench.server.client());
    let [a, b] = &bench.devices[..] else {
        panic!("two devices");
    };
    let made = [
        (a, (300, "boot short")),
        (b, (9000, "boot long")),
        (a, (2000, "idle")),
        (b, (2000, "Reboot")),
    ];
    let ids: Vec<String> = made
        .iter()
        .map(|(device, order)| capture(server, device, *order))
        .collect();
    let pin = json!({"pinned": true});
    let path = format!("/api/capture/{}", ids[2]);
    client.patch(&path, &pin).unwrap().expect(200);
    for limit in [1, 3, 200] {
        let of = |query: &str| names(&client, query, limit);
        assert_eq!(of(""), ["Reboot", "idle", "boot long", "boot short"]);
        assert_eq!(
            of("order=asc"),
            ["boot short", "boot long", "idle", "Reboot"]
        );
        assert_eq!(
            of("sort=samples"),
            ["boot long", "Reboot", "idle", "boot short"]
        );
        let ascending = ["boot short", "idle", "Reboot", "boot long"];
        assert_eq!(of("sort=samples&order=asc"), ascending);
        assert_eq!(of("text=BOOT"), ["Reboot", "boot long", "boot short"]);
        assert_eq!(of(&format!("text={}", ids[2].to_lowercase())), ["idle"]);
        assert_eq!(of(&format!("device_id={a}&text=boot")), ["boot short"]);
        assert_eq!(of("pinned=true"), ["idle"]);
        assert_eq!(of("status=failed"), Vec::<String>::new());
        assert_eq!(of("kind=logic&since=2026-01-01").len(), 4);
        assert_eq!(of("since=9999-01-01"), Vec::<String>::new());
    }
    // A session for one device sees its captures alone, in every order.
    let minted = client.post("/api/auth/token", &json!({"devices": ["d0"]}));
    let token = minted.unwrap().expect(200)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let narrow = server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"));
    assert_eq!(names(&narrow, "sort=samples", 1), ["idle", "boot short"]);
    assert_eq!(names(&narrow, "text=boot", 1), ["boot short"]);
    let foreign = format!("/api/captures?text=boot&device_id={b}");
    narrow.get(&foreign).unwrap().expect_error(404, "not_found");
    // A cursor goes on after its capture is gone.
    let page = client
        .get("/api/captures?sort=samples&limit=2")
        .unwrap()
        .expect(200);
    let next = page["next_cursor"].as_str().unwrap();
    client
        .delete(&format!("/api/capture/{}", ids[3]))
        .unwrap()
        .expect(204);
    assert_eq!(page["captures"][1]["id"], *ids[3]);
    let rest = format!("/api/captures?sort=samples&cursor={next}");
    let rest = client.get(&rest).unwrap().expect(200);
    assert_eq!(rest["captures"][0]["name"], "idle");
}

#[test]
fn devices_are_found_by_what_people_know_them_by() {
    let bench = Bench::start(&["sim:v3,seed=3", "tcp:127.0.0.1:9"]).unwrap();
    let client = bench.server.client();
    let of = |query: &str| -> Vec<String> {
        let list = client.get(&format!("/api/bench/devices?{query}")).unwrap();
        let list = list.expect(200)["devices"].as_array().unwrap().clone();
        let names = list.iter().map(|device| device["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    until(
        || of("online=true"),
        |found| found.contains(&"d0".to_owned()),
    )
    .unwrap();
    assert_eq!(of("text=D0"), ["d0"]);
    assert_eq!(of("online=false"), ["d1"]);
    assert_eq!(of(&format!("text={}", bench.devices[1])), ["d1"]);
    assert_eq!(of("text=nothing"), Vec::<String>::new());
}
