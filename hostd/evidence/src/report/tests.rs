//! The page is complete, needs nothing else, and keeps a job's texts in their places.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{time, write};
use crate::measurement::{Measurement, told_of};
use crate::result::{Capture, Case, Channel, Fault, JobResult, Outcome, RunResult, Signal, Span};

const EVIL: &str =
    "</pre><script>alert('1')</script>\" onload=\"x &amp; \u{1b}[31mred\u{1b}[0m\u{7}";

#[expect(clippy::too_many_lines, reason = "it has one of everything")]
fn job() -> JobResult {
    let captures = vec![Capture {
        name: EVIL.to_owned(),
        duration_us: 1200,
        channels: vec![
            Channel {
                name: "SCL".to_owned(),
                signal: Signal::Digital(true, vec![0.1, 0.2, f32::NAN, 7.0]),
            },
            Channel {
                name: "3V3".to_owned(),
                signal: Signal::Analog(
                    vec![(3.2, 3.3), (f32::NAN, 0.0), (3.1, 3.4)],
                    "V".to_owned(),
                ),
            },
        ],
    }];
    let fault = Fault {
        kind: "assert".to_owned(),
        message: EVIL.to_owned(),
        detail: EVIL.to_owned(),
    };
    let case = |name: &str, outcome| Case {
        name: name.to_owned(),
        outcome,
        output: EVIL.to_owned(),
        ..Case::default()
    };
    JobResult {
        id: "J1".to_owned(),
        name: EVIL.to_owned(),
        state: "finished".to_owned(),
        ended_because: Some("completed".to_owned()),
        verdict: "failure".to_owned(),
        sentence: "A test failed.".to_owned(),
        duration_us: 61_000_000,
        runs: vec![
            RunResult {
                class: EVIL.to_owned(),
                files: vec![
                    ("fw.elf".to_owned(), "./artifacts/fw/fw.elf".to_owned()),
                    (EVIL.to_owned(), "data:text/html,x".to_owned()),
                ],
                ..RunResult::default()
            }
            .with_cases(vec![
                Case {
                    captures,
                    links: vec![
                        ("capture".to_owned(), "/captures/1?a=1&b=2".to_owned()),
                        ("bad".to_owned(), "javascript:alert(1)".to_owned()),
                    ],
                    ..case("sensor", Outcome::Failed(fault.clone()))
                },
                case(
                    "lost",
                    Outcome::BenchFailed(Fault {
                        kind: "infra.device_lost".to_owned(),
                        ..fault.clone()
                    }),
                ),
                case(
                    "asks too much",
                    Outcome::BenchFailed(Fault {
                        kind: "refused".to_owned(),
                        ..fault
                    }),
                ),
                case("banner", Outcome::Passed),
            ]),
        ],
        spans: vec![Span {
            lane: EVIL.to_owned(),
            name: EVIL.to_owned(),
            start_us: 5,
            end_us: 3,
            failed: true,
        }],
        log_tail: EVIL.repeat(3000),
        log_before: 5,
        ..JobResult::default()
    }
}

fn page(job: &JobResult) -> String {
    let mut page = Vec::new();
    write(job, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

#[test]
fn nothing_of_a_job_becomes_a_part_of_the_page() {
    let page = page(&job());
    assert!(!page.contains("<script") && !page.contains('\u{1b}') && !page.contains('\u{7}'));
    assert!(!page.contains("href=\"javascript"));
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
    // Every element is closed where it should be, so no text has opened or closed one.
    let body = &page[page.find("<body>").unwrap()..page.find("</html>").unwrap()];
    let mut reader = Reader::from_str(body);
    let mut elements = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) | Event::Empty(element) => {
                elements += 1;
                for attribute in element.attributes() {
                    assert_ne!(attribute.unwrap().key.as_ref(), b"onload");
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(elements > 60, "{elements}");
}

#[test]
fn it_loads_nothing() {
    let page = page(&job());
    for outside in ["src=", "@import", "url(", "<link", "<iframe", "<img"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn what_failed_is_open_and_counted() {
    let page = page(&job());
    assert!(page.contains("1 passed, 1 failed, 1 bench failed, 1 not judged"));
    assert_eq!(
        page.matches("<details class=\"case bad\" open=\"\">")
            .count(),
        1
    );
    assert_eq!(
        page.matches("<details class=\"case bench\" open=\"\">")
            .count(),
        2
    );
    assert_eq!(page.matches("<details class=\"case good\">").count(), 1);
    assert!(page.contains("1 min 01 s"));
    assert!(page.contains("bytes before this are in the whole log"));
    assert!(page.contains("<dt>Verdict</dt><dd>failure</dd>"));
}

#[test]
fn pictures_stay_small_whatever_was_captured() {
    let mut job = job();
    let mut cases: Vec<Case> = job.runs[0].told().unwrap().map(Result::unwrap).collect();
    let captures = &mut cases[0].captures[0];
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let changes = (0..1_000_001).map(|n| n as f32 / 1_000_001.0).collect();
    captures.channels = vec![
        Channel {
            name: "fast".to_owned(),
            signal: Signal::Digital(false, changes),
        },
        Channel {
            name: "long".to_owned(),
            signal: Signal::Analog(vec![(-1.0, 1.0); 1_000_000], "V".to_owned()),
        },
    ];
    job.runs[0] = job.runs[0].clone().with_cases(cases);
    job.log_tail.clear();
    assert!(page(&job).len() < 200_000);
}

#[test]
fn what_was_cut_is_said() {
    let mut job = job();
    job.runs[0].cut_bytes = 70_001;
    let page = page(&job);
    assert!(page.contains("70001 bytes that its cases wrote are left out"));
}

#[test]
fn times_are_said_as_a_person_does() {
    let said = [7, 1500, 2_345_678, 125_000_000].map(time);
    assert_eq!(said, ["7 µs", "1.5 ms", "2.34 s", "2 min 05 s"]);
}

#[test]
fn failures_come_first_and_what_is_left_is_linked() {
    let mut job = job();
    let text = page(&job);
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}"));
    let listed = place("<h2>What failed</h2>");
    assert!(listed < place("<h2>Timeline</h2>"));
    for case in ["case-0-0", "case-0-1", "case-0-2"] {
        let link = place(&format!("<a href=\"#{case}\">"));
        assert!(listed < link && link < place(&format!("<summary id=\"{case}\">")));
    }
    assert!(!text.contains("case-0-3"), "it passed");
    place("<a href=\"./artifacts/fw/fw.elf\">fw.elf</a>");
    assert!(!text.contains("href=\"data:"));

    let cases: Vec<Case> = job.runs[0].told().unwrap().map(Result::unwrap).collect();
    let mut many = cases.clone();
    many.extend(vec![cases[0].clone(); 1000]);
    let file = |n: usize| (format!("f{n}"), format!("/f{n}"));
    job.runs[0] = RunResult {
        files: (0..1000).map(file).collect(),
        ..job.runs[0].clone().with_cases(many)
    };
    job.runs.push(job.runs[0].clone());
    let text = page(&job);
    assert_eq!(text.matches("<li>").count(), 100);
    assert!(text.contains("and 1906 more."), "there are 2006");
    assert_eq!(text.matches("and 800 more files.").count(), 2);
    assert!(text.contains("<summary id=\"case-1-1003\">"));

    let passed = cases
        .into_iter()
        .filter(|case| case.outcome == Outcome::Passed);
    job.runs = vec![RunResult::default().with_cases(passed.collect())];
    assert!(!page(&job).contains("What failed"));
}

#[test]
fn measurements_stand_in_a_table_and_those_outside_their_limits_first() {
    let mut job = job();
    let of = |name: &str, value| Measurement {
        name: name.to_owned(),
        value,
        unit: "V".to_owned(),
        low: Some(3.2),
        high: Some(3.4),
        serial: Some(EVIL.to_owned()),
    };
    let all = [of("rail", 3.3), of(EVIL, 3.5)];
    (job.runs[0].measurements, job.runs[0].measured) = told_of(all.iter());
    job.runs[0].measured += 7;
    let page = page(&job);
    let bad = page.find("<tr class=\"bad\"><td>&lt;/pre&gt;").unwrap();
    let good = page.find(
        "<tr class=\"good\"><td>rail</td><td class=\"word\">3.3 V</td><td>3.2 V to 3.4 V</td>",
    );
    assert!(bad < good.unwrap());
    assert!(page.contains("and 7 more measurements."));
    assert!(!page.contains("<script"));
}
