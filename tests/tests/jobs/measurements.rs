//! What jobs measure: kept with the job, listed, and summed up for its organisation alone.

use serde_json::{Value, json};
use tests::can_isolate;
use tests::offline::stranger;

use super::Jobs;

/// Measures its bus, and leaves two values of its own.
const MEASURES: &str = r#"
version: 1
benches:
  - id: bench
    device: { name: demo }
    steps:
      - run: |
          echo '{"serial": "B7"}' > "$HOSTD_OUT/measurements.jsonl"
          echo '{"name": "rail", "value": RAIL, "unit": "V", "low": 3.2, "high": 3.4}' >> "$HOSTD_OUT/measurements.jsonl"
        id: rails
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: 1000000 }
        id: bus
      - measure: { on: bus, name: clock pulse, channel: scl, quantity: high_s.p50, low: 1e-6, high: 1e-3 }
        case: the clock is right
"#;

/// All of the list, one by one.
fn page_by_page(get: impl Fn(&str) -> Value) -> Vec<Value> {
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(&format!("?limit=1{cursor}"));
        paged.extend(page["measurements"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return paged,
        }
    }
}

/// Two rails of 3.30 and 3.34 V.
fn assert_summed_up(all: &Value) {
    let summed = all["names"].as_array().unwrap();
    let rail = summed.iter().find(|one| one["name"] == "rail").unwrap();
    assert_eq!((&rail["count"], &rail["low"]), (&json!(2), &json!(3.2)));
    assert!(
        (rail["mean"].as_f64().unwrap() - 3.32).abs() < 1e-9,
        "{rail}"
    );
    let deviation = 0.04 / 2.0_f64.sqrt();
    assert!((rail["deviation"].as_f64().unwrap() - deviation).abs() < 1e-9);
    let cpk = (3.4 - 3.32) / (3.0 * deviation);
    assert!((rail["cpk"].as_f64().unwrap() - cpk).abs() < 1e-9, "{rail}");
}

#[test]
fn what_a_job_measures_is_kept_and_summed_up() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    assert!(jobs.server.stop().unwrap());
    let eve = format!("ApiKey {}", stranger(jobs.dir.path()));
    jobs.restart();
    let mut ids = Vec::new();
    for rail in ["3.30", "3.34"] {
        let id = jobs.submit(&MEASURES.replace("RAIL", rail));
        let job = jobs.ended(&id);
        assert_eq!(job["verdict"], "success", "{job}");
        let measured = job["measurements"].as_array().unwrap();
        assert_eq!(measured.len(), 2, "{job}");
        assert_eq!(measured[0]["name"], "rail");
        assert_eq!(
            (&measured[1]["unit"], &measured[1]["serial"]),
            (&json!("s"), &json!("B7"))
        );
        assert_eq!(measured[1]["device_name"], "demo");
        ids.push(id);
    }
    let client = jobs.client();
    let get = |path: &str| {
        client
            .get(&format!("/api/measurements{path}"))
            .unwrap()
            .expect(200)
    };
    let all = get("");
    let names = |page: &Value| -> Vec<String> {
        let all = page["measurements"].as_array().unwrap().iter();
        all.map(|one| format!("{} {}", one["job"], one["name"]))
            .collect()
    };
    let of = |id: &str, name: &str| format!("{:?} {name:?}", id);
    assert_eq!(
        names(&all),
        [
            of(&ids[1], "clock pulse"),
            of(&ids[1], "rail"),
            of(&ids[0], "clock pulse"),
            of(&ids[0], "rail"),
        ]
    );
    assert_summed_up(&all);
    assert_eq!(json!(page_by_page(get)), all["measurements"]);
    for (query, count) in [
        (format!("job={}", ids[0]), 2),
        ("name=rail&serial=B7&device=demo".to_owned(), 2),
        ("serial=B8".to_owned(), 0),
        ("since=2999-01-01".to_owned(), 0),
        ("since=2020-01-01".to_owned(), 4),
    ] {
        let page = get(&format!("?{query}"));
        assert_eq!(names(&page).len(), count, "{query}");
    }
    // To another organisation there are none.
    let stranger = jobs.server.anonymous().with_authorization(&eve);
    let theirs = stranger.get("/api/measurements").unwrap().expect(200);
    assert_eq!((names(&theirs).len(), &theirs["names"]), (0, &json!([])));
    let junit = jobs.get(&ids[0], "/junit.xml").text;
    let property = "<property name=\"hostd.measure.rail\" value=\"3.3 V (3.2 V to 3.4 V) of B7\"/>";
    assert!(junit.contains(property), "{junit}");
    let report = jobs.get(&ids[0], "/report").text;
    assert!(report.contains("<td>rail</td>"), "{report}");
}

#[test]
fn a_value_outside_its_limits_fails_the_job_and_is_kept() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(&MEASURES.replace("RAIL", "3.5"));
    let job = jobs.ended(&id);
    assert_eq!(
        (&job["verdict"], &job["runs"][0]["code"]),
        (&json!("failure"), &json!("limits"))
    );
    assert_eq!(
        job["runs"][0]["message"],
        "The value of rail is 3.5 V, not 3.2 V to 3.4 V."
    );
    assert_eq!(job["measurements"][0]["is_within"], false);
}
