//! What jobs record, by their steps and by their programs: the job has it, and who may submit jobs fetches it.

use serde_json::{Value, json};
use tests::can_isolate;
use tests::offline::stranger;

use super::Jobs;

/// Records twice under one name.
const RECORDS: &str = "
version: 1
benches:
  - id: bench
    device: { name: demo }
    steps:
      - capture: { kind: la, channels: { a: 1 }, rate: 1MHz, samples: 1000 }
      - capture: { kind: la, channels: { a: 1 }, rate: 1MHz, samples: 1000 }
";

/// Asks for what another job recorded, with the key of its own, and then records for itself.
const ASKS: &str = r#"
version: 1
benches:
  - id: bench
    device: { name: demo }
    steps:
      - run: |
          cat > ask.bash << 'END'
          exec 3<> /dev/tcp/127.0.0.1/8099
          printf '%s /api%s HTTP/1.1\r\nhost: bench\r\nauthorization: ApiKey %s\r\n' "$1" "$2" "$BENCHPOD_API_KEY" >&3
          printf 'content-type: application/json\r\ncontent-length: %s\r\nconnection: close\r\n\r\n%s' "${#3}" "$3" >&3
          cat <&3
          END
          status() { bash ask.bash "$@" | head -n 1 | cut -d ' ' -f 2; }
          order='{"device_id":"demo","samples":1000,"sample_rate_mhz":1,"voltage_mv":3300}'
          own=$(bash ask.bash POST /la/captures/start "$order" | sed -n 's/.*"capture_id":"\([^"]*\)".*/\1/p')
          until bash ask.bash GET "/capture/$own?frames=none" "" | grep -q '"status":"done"'; do sleep 0.05; done
          echo "own $(status GET "/capture/$own/export?format=vcd" "")"
          echo "pin $(status PATCH "/capture/$own" '{"pinned":true}')"
          echo "foreign $(status GET "/capture/CAPTURE/export?format=vcd" "") $(status GET /jobs/JOB/captures/CAPTURE "")"
"#;

fn members<'c>(capture: &'c Value, names: [&str; 4]) -> [&'c Value; 4] {
    names.map(|name| &capture[name])
}

#[test]
fn what_a_job_records_is_its_own() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    assert!(jobs.server.stop().unwrap());
    let eve = format!("ApiKey {}", stranger(jobs.dir.path()));
    jobs.restart();
    let first = jobs.submit(RECORDS);
    let job = jobs.ended(&first);
    assert_eq!(job["verdict"], "success", "{job}");
    let names = ["run", "step", "name", "file"];
    let captures = job["captures"].as_array().unwrap();
    let called = |end: &str| json!(format!("{first} bench: capture{end}"));
    let [one, two] = captures.as_slice() else {
        panic!("{job}");
    };
    let (bench, capture) = (json!("bench"), json!("capture"));
    let file = json!("capture.sr");
    assert_eq!(members(one, names), [&bench, &capture, &called(""), &file]);
    assert_eq!(two["name"], called(", attempt 1"));
    assert_ne!(two["file"], file);

    let of_first = one["id"].as_str().unwrap();
    let asks = ASKS.replace("JOB", &first).replace("CAPTURE", of_first);
    let second = jobs.submit(&asks);
    let job = jobs.ended(&second);
    let log = jobs.get(&second, "/log").text;
    assert_eq!(job["verdict"], "success", "{log}");
    assert!(
        log.contains("\nown 200\npin 400\nforeign 404 403\n"),
        "{log}"
    );
    let [own] = job["captures"].as_array().unwrap().as_slice() else {
        panic!("{job}");
    };
    let name = json!(format!("{second} bench: logic"));
    let expected = [&bench, &Value::Null, &name, &json!("logic.sr")];
    assert_eq!(members(own, names), expected);
    let listed = jobs.client().get("/api/captures").unwrap().expect(200);
    let origin = json!({"id": second, "run": "bench", "attempt": 1});
    assert_eq!(listed["captures"][0]["job"], origin, "{listed}");

    let own = own["id"].as_str().unwrap();
    let stranger = jobs.server.anonymous().with_authorization(&eve);
    for (job, capture) in [(&first, of_first), (&second, own)] {
        let path = format!("/captures/{capture}");
        let fetched = jobs.get(job, &path);
        assert_eq!(fetched.status, 200);
        assert!(fetched.text.starts_with("PK"));
        let path = format!("/api/jobs/{job}{path}");
        stranger.get(&path).unwrap().expect_error(404, "not_found");
    }
    let crossed = jobs.get(&first, &format!("/captures/{own}"));
    crossed.expect_error(404, "not_found");
    // The report has them, and what is deleted is not told any more.
    let report = jobs.get(&second, "/report").text;
    let link = format!("href=\"/api/jobs/{second}/captures/{own}\">logic.sr</a>");
    assert!(report.contains(&link), "{report}");
    let deleted = jobs.client().delete(&format!("/api/capture/{own}"));
    assert_eq!(deleted.unwrap().status, 204);
    assert_eq!(jobs.job(&second)["captures"], json!([]));
    let gone = jobs.get(&second, &format!("/captures/{own}"));
    gone.expect_error(404, "not_found");
}
