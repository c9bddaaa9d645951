//! Jobs that wait, are ended, are repeated, and are listed.

use std::time::Duration;

use serde_json::{Value, json};
use tests::can_isolate;

use super::packing::{Entry, send_plain, tar_gz};
use super::{Jobs, build, endless, id, mark};

fn told(job: &Value) -> [&Value; 4] {
    ["state", "ended_because", "verdict", "status"].map(|axis| &job[axis])
}

#[test]
fn a_job_that_waits_says_for_what() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::one_by_one();
    let running = jobs.submit(&build(&endless(41)));
    jobs.until_said(&running, 1, "\nhere\n");
    assert_eq!(jobs.job(&running)["state"], "running");
    let next = jobs.submit(&build("true"));
    let last = jobs.submit(&build("true"));
    for (job, ahead) in [(&next, 0), (&last, 1)] {
        let why = jobs.get(job, "/why").expect(200);
        let [state, because, verdict, status] = told(&why["job"]);
        assert_eq!([state, verdict, status], ["queued", "pending", "new"]);
        assert_eq!(because, &Value::Null);
        let run = &why["runs"][0];
        assert_eq!((&run["run"], &run["ahead"]), (&"fw".into(), &ahead.into()));
        assert!(run["until"].is_string(), "{why}");
        assert!(
            run["message"].as_str().unwrap().contains("build slot"),
            "{why}"
        );
    }
    let device =
        "version: 1\nbenches: [{ id: b, device: { name: nowhere }, steps: [{ reset: {} }] }]\n";
    let why = jobs.get(&jobs.submit(device), "/why").expect(200);
    let devices = &why["runs"][0]["devices"];
    assert_eq!(devices[0]["device"], "demo");
    assert_eq!(devices[0]["obstacle"], "misfit");
    assert!(
        devices[0]["detail"].as_str().unwrap().contains("nowhere"),
        "{why}"
    );
    for page in ["/junit.xml", "/report", "/trace.json"] {
        jobs.get(&next, page).expect_error(409, "unfinished");
    }
    jobs.post(&next, "retry").expect_error(409, "unfinished");
    jobs.post(&running, "cancel").expect(200);
    for job in [&next, &last] {
        assert_eq!(jobs.ended(job)["verdict"], "success");
    }
}

#[test]
fn the_record_of_a_job_says_what_it_waits_for_whenever_that_changes() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::one_by_one();
    let running = jobs.submit(&build(&endless(43)));
    jobs.until_said(&running, 1, "\nhere\n");
    let [first, second] = [(); 2].map(|()| jobs.submit(&build("true")));
    let says = |job: &str, part: &str| {
        let said = |job: &Value| job["message"].as_str().unwrap().contains(part);
        tests::until(|| jobs.job(job), said).unwrap();
    };
    says(
        &first,
        "It is next. It starts when one of the 1 build slots",
    );
    says(&second, "One task is before it.");
    let listed = jobs.client().get("/api/jobs?limit=1").unwrap().expect(200);
    let listed = listed["jobs"][0]["message"].as_str().unwrap();
    assert!(listed.starts_with("One task is before it."), "{listed}");
    jobs.post(&first, "cancel").expect(200);
    says(&second, "It is next.");
    jobs.post(&running, "cancel").expect(200);
    assert_eq!(jobs.ended(&second)["verdict"], "success");
}

#[test]
fn a_job_that_no_device_will_do_for_ends_and_says_what_each_lacks() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let text = |timeouts: &str| {
        format!(
            "version: 1\n{timeouts}\nbenches: [{{ id: b, device: {{ name: nowhere }}, steps: [{{ reset: {{}} }}] }}]\n"
        )
    };
    let lacks = "demo: name is demo, the job wants nowhere.";
    let waits = jobs.submit(&text(""));
    // It is known at once, and it ends long before the half hour of its pipeline.
    let said = |job: &Value| job["message"].as_str().unwrap().contains(lacks);
    tests::until(|| jobs.job(&waits), said).unwrap();
    let why = jobs.get(&waits, "/why").expect(200);
    let seconds = |time: &Value| {
        let time = time.as_str().unwrap();
        let of = |at: std::ops::Range<usize>| time[at].parse::<u32>().unwrap();
        of(11..13) * 3600 + of(14..16) * 60 + of(17..19)
    };
    let created = seconds(&why["job"]["created_at"]);
    let left = (seconds(&why["runs"][0]["until"]) + 86_400 - created) % 86_400;
    assert!((55..=61).contains(&left), "{why}");
    jobs.post(&waits, "cancel").expect(200);
    let job = jobs.ended(&jobs.submit(&text("timeouts: { queue: 1s }")));
    let over = ["finished", "no_matching_device", "pending", "failed"];
    assert_eq!(told(&job), over);
    let message = job["message"].as_str().unwrap();
    assert!(
        message.starts_with("b: No device of the organisation"),
        "{message}"
    );
    assert!(message.ends_with(lacks), "{message}");
    assert_eq!(job["runs"][0]["code"], "no_matching_device");
}

#[test]
fn a_cancelled_job_ends_whether_it_waits_or_runs() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::one_by_one();
    let running = jobs.submit(&build(&endless(42)));
    jobs.until_said(&running, 1, "\nhere\n");
    let waiting = jobs.submit(&build("true"));
    let cancelled = jobs.post(&waiting, "cancel").expect(200);
    let over = ["finished", "cancelled", "pending", "failed"];
    assert_eq!(told(&cancelled), over);
    assert_eq!(cancelled["attempts"], json!([]));
    jobs.post(&waiting, "cancel").expect_error(409, "finished");
    let stopping = jobs.post(&running, "cancel").expect(200);
    assert_eq!(stopping["ended_because"], "cancelled");
    assert!(["stopping", "finished"].contains(&stopping["state"].as_str().unwrap()));
    let job = jobs.ended(&running);
    assert_eq!(told(&job), over);
    assert_eq!(job["runs"][0]["outcome"], "cancelled");
    jobs.assert_nothing_runs(&mark(42));
    for id in [&running, &waiting] {
        let junit = jobs.get(id, "/junit.xml").text;
        assert!(junit.contains("<skipped"), "{junit}");
        let why = jobs.get(id, "/why").expect(200);
        assert!(
            why["runs"][0]["message"]
                .as_str()
                .unwrap()
                .contains("cancelled")
        );
    }
    // The slot is free again.
    assert_eq!(
        jobs.ended(&jobs.submit(&build("true")))["verdict"],
        "success"
    );
}

#[test]
fn a_job_is_cancelled_at_whatever_moment() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    // From before it is set up until its step runs.
    for wait_ms in (0..60).step_by(6) {
        let id = jobs.submit(&build(&endless(45)));
        std::thread::sleep(Duration::from_millis(wait_ms));
        jobs.post(&id, "cancel").expect(200);
        let job = jobs.ended(&id);
        let over = ["finished", "cancelled", "pending", "failed"];
        assert_eq!(told(&job), over, "after {wait_ms} ms");
    }
    jobs.assert_nothing_runs(&mark(45));
}

#[test]
fn a_user_can_have_so_many_jobs_wait() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("build_slots = 1\nqueued_per_user_max = 2");
    let running = jobs.submit(&build(&endless(51)));
    jobs.until_said(&running, 1, "\nhere\n");
    let waiting = [(); 2].map(|()| jobs.submit(&build("true")));
    let body = json!({"definition": build("true")});
    let reply = jobs.client().post("/api/jobs/submit", &body).unwrap();
    reply.expect_error(429, "too_many_jobs");
    assert!(reply.header("retry-after").is_some());
    let folders = || json!(super::below(&jobs.data("jobs")).len());
    tests::until(folders, |count| count == 3).unwrap();
    jobs.post(&waiting[0], "cancel").expect(200);
    let instead = jobs.submit(&build("true"));
    jobs.post(&running, "cancel").expect(200);
    for id in [&waiting[1], &instead] {
        assert_eq!(jobs.ended(id)["verdict"], "success");
    }
}

#[test]
fn a_finished_job_is_repeated_with_its_sources() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let pipeline = build("cat a.txt; test ! -e made; touch made");
    let archive = tar_gz(&[
        Entry::File("ci.yml", pipeline.as_bytes()),
        Entry::File("a.txt", b"of the archive\n"),
    ]);
    let first = id(&send_plain(&jobs.client(), &archive).expect(201));
    let before = jobs.ended(&first);
    assert_eq!(before["verdict"], "success");
    let reply = jobs.post(&first, "retry");
    let again = reply.expect(201);
    let again = id(&again);
    assert_ne!(again, first);
    let location = format!("/api/jobs/{again}");
    assert_eq!(reply.header("location"), Some(&*location));
    let after = jobs.ended(&again);
    assert_eq!(after["retry_of"], *first);
    assert_eq!(after["verdict"], "success");
    assert_eq!(after["archive"], before["archive"]);
    let log = jobs.get(&again, "/log").text;
    assert!(log.contains("\nof the archive\n"), "{log}");
    assert_eq!(jobs.job(&first), before, "the first job has changed");
    let third = id(&jobs.post(&again, "retry").expect(201));
    assert_eq!(jobs.ended(&third)["retry_of"], *again);
}

#[test]
fn lists_have_filters_and_pages() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let mut ids = Vec::new();
    for n in 0..5 {
        let name = if n % 2 == 0 { "even" } else { "odd" };
        let body = json!({"definition": build("true"), "name": name, "ref": format!("v{n}")});
        let sent = jobs.client().post("/api/jobs/submit", &body).unwrap();
        ids.insert(0, id(&sent.expect(201)));
    }
    for id in &ids {
        jobs.ended(id);
    }
    let list = |query: &str| {
        let listed = jobs.client().get(&format!("/api/jobs?{query}"));
        let listed = listed.unwrap().expect(200);
        let found: Vec<String> = listed["jobs"].as_array().unwrap().iter().map(id).collect();
        (
            found,
            listed["next_cursor"].as_str().map(str::to_owned),
            listed,
        )
    };
    let (all, next, listed) = list("");
    assert_eq!((&all, next), (&ids, None));
    let first = &listed["jobs"][0];
    assert!(first.get("runs").is_none() && first.get("attempts").is_none());
    for (query, places) in [
        ("name=even", &[0, 2, 4][..]),
        ("name=odd&state=finished", &[1, 3]),
        ("ref=v4", &[0]),
        ("name=odd&ref=v4", &[]),
        ("state=running", &[]),
    ] {
        let expected: Vec<&String> = places.iter().map(|place| &ids[*place]).collect();
        assert_eq!(
            list(query).0.iter().collect::<Vec<_>>(),
            expected,
            "{query}"
        );
    }
    for (filter, expected) in [("", ids.clone()), ("&name=even", list("name=even").0)] {
        let mut paged = Vec::new();
        let mut cursor = String::new();
        loop {
            let (page, next, _) = list(&format!("limit=2{filter}{cursor}"));
            assert!((1..=2).contains(&page.len()), "{page:?}");
            paged.extend(page);
            let Some(next) = next else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(paged, expected, "{filter}");
    }
}
