//! The stream of a job as a page of text, cut by broken connections, and with runs side by side.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;

/// A page that can be read while it is written.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn story(is_github: bool) -> (Story, Page) {
    let page = Page::default();
    let printer = Printer::new(Box::new(page.clone()), is_github);
    (Story::new(printer), page)
}

fn job(state: &str, attempts: Value) -> Value {
    json!({"state": state, "message": format!("It is {state}."), "attempts": attempts})
}

fn begun(number: u32, run: &str) -> Value {
    json!({"number": number, "run": run, "outcome": "running", "ended_at": null, "log_bytes": 0})
}

fn over(number: u32, run: &str, outcome: &str, log_bytes: usize) -> Value {
    json!({"number": number, "run": run, "outcome": outcome, "message": format!("It has {outcome}."),
        "ended_at": "2026-01-02T03:04:05Z", "log_bytes": log_bytes})
}

fn output(attempt: u32, stream: &str, offset: usize, text: &str) -> Value {
    json!({"type": "output", "attempt": attempt, "stream": stream, "offset": offset, "step": 0, "text": text})
}

fn hear_all(story: &mut Story, messages: &[Value]) {
    for told in messages {
        assert!(!story.hear(told));
    }
}

#[test]
fn a_job_reads_like_one_that_was_run_here() {
    let (mut story, page) = story(false);
    story.hear_job(job("queued", json!([])));
    story.hear_job(job("running", json!([begun(1, "fw")])));
    story.hear(&output(1, "server", 0, "== compile\n"));
    story.hear(&output(1, "output", 11, "building\n"));
    // The record is ahead of the log.
    story.hear_job(job("running", json!([over(1, "fw", "passed", 52)])));
    story.hear(&output(
        1,
        "server",
        20,
        "-- compile: passed\n-- fw: passed\n",
    ));
    story.hear_job(job("finished", json!([over(1, "fw", "passed", 52)])));
    assert!(story.hear(&json!({"type": "end"})));
    let expected = "\
        -- queued: It is queued.\n\
        -- running: It is running.\n\
        === fw\n\
        == compile\n\
        building\n\
        === fw: It has passed.\n";
    assert_eq!(page.text(), expected);
}

#[test]
fn a_new_connection_repeats_nothing() {
    let messages = [
        output(1, "server", 0, "== make\n"),
        output(1, "output", 8, "one\n"),
        json!({"type": "dropped", "attempt": 1, "bytes": 7}),
        output(1, "output", 12, "two\n"),
    ];
    let (mut whole, expected) = story(false);
    whole.hear_job(job("running", json!([begun(1, "fw")])));
    hear_all(&mut whole, &messages);
    for cut in 0..=messages.len() {
        let (mut story, page) = story(false);
        story.hear_job(job("running", json!([begun(1, "fw")])));
        hear_all(&mut story, &messages[..cut]);
        story.begin_again();
        assert!(story.take_news());
        story.hear_job(job("running", json!([begun(1, "fw")])));
        hear_all(&mut story, &messages[..cut]);
        assert!(!story.take_news(), "{cut}");
        hear_all(&mut story, &messages[cut..]);
        assert_eq!(page.text(), expected.text(), "{cut}");
    }
}

#[test]
fn runs_side_by_side_are_kept_apart() {
    let (mut story, page) = story(true);
    story.hear_job(job(
        "running",
        json!([begun(1, "a"), begun(2, "b"), begun(3, "a")]),
    ));
    for told in [
        output(1, "server", 0, "== make\n"),
        output(1, "output", 8, "a1"),
        output(2, "output", 0, "b1\n"),
        output(1, "output", 10, "::error::a2\n"),
        output(3, "output", 0, "again\n"),
    ] {
        story.hear(&told);
    }
    let ends = json!([
        over(1, "a", "broken", 22),
        over(2, "b", "passed", 3),
        over(3, "a", "failed", 6)
    ]);
    story.hear_job(job("stopping", ends));
    let text = page.text();
    let word = text.split("::stop-commands::").nth(1).unwrap();
    let (word, _) = word.split_once('\n').unwrap();
    let expected = "\
        -- running: It is running.\n\
        === a\n::group::a: make\n::stop-commands::WORD\na1\n::WORD::\n::endgroup::\n\
        === b\nb1\n\
        === a\n::group::a: make\n::stop-commands::WORD\n::error::a2\n::WORD::\n::endgroup::\n\
        === a, attempt 2\nagain\n\
        ::error title=a::It has broken.\n=== a: It has broken.\n\
        === b: It has passed.\n\
        ::error title=a%2C attempt 2::It has failed.\n=== a, attempt 2: It has failed.\n\
        -- stopping: It is stopping.\n";
    assert_eq!(text, expected.replace("WORD", word));
}

#[test]
fn a_log_that_is_not_whole_ends_with_the_job() {
    let (mut story, page) = story(false);
    let ended = job(
        "finished",
        json!([over(1, "fw", "timed_out", 100), over(2, "b", "skipped", 0)]),
    );
    story.hear_job(ended);
    assert_eq!(page.text(), "=== b: It has skipped.\n");
    assert!(!story.hear(&json!({"type": "something later"})));
    assert!(story.hear(&json!({"type": "end"})));
    assert_eq!(
        page.text(),
        "=== b: It has skipped.\n=== fw: It has timed_out.\n"
    );
}

#[test]
fn text_goes_on_where_a_stream_broke_off() {
    let log = "== make\none\ntw\u{e9}o\n-- make: passed\n".as_bytes();
    let messages = [
        output(1, "server", 0, "== make\n"),
        output(1, "output", 8, "one\n"),
        // Half of a letter.
        json!({"type": "output", "attempt": 1, "stream": "output", "offset": 12, "bytes": 3, "text": "tw\u{fffd}"}),
    ];
    for (cut, offset) in [(0, 0), (1, 8), (2, 12)] {
        let (mut story, page) = story(false);
        story.hear_job(job("running", json!([begun(1, "fw")])));
        hear_all(&mut story, &messages[..cut]);
        assert_eq!(story.offset(1), offset, "{cut}");
        let from = usize::try_from(offset).unwrap();
        story.hear_text(1, &log[from..15], 15);
        story.hear_text(1, &[], 15);
        let ends = json!([over(1, "fw", "passed", log.len())]);
        story.hear_job(job("finished", ends));
        story.hear_text(1, &log[15..], log.len() as u64);
        story.finish();
        let before = "-- running: It is running.\n=== fw\n";
        let text = page.text();
        assert_eq!(
            text.strip_prefix(before).unwrap(),
            "== make\none\ntw\u{e9}o\n-- make: passed\n=== fw: It has passed.\n",
            "{cut}"
        );
    }
    let (mut story, _page) = story(false);
    hear_all(&mut story, &messages);
    assert_eq!(story.offset(1), 15);
}

#[test]
fn nothing_in_a_text_is_taken_for_a_command() {
    for is_begun in [false, true] {
        let (mut story, page) = story(true);
        let attempts = json!([begun(1, "a"), begun(2, "b")]);
        story.hear_job(job("running", attempts));
        if is_begun {
            story.hear(&output(1, "server", 0, "== make\n"));
            story.hear(&output(1, "server", 8, "-- make: passed\n"));
        }
        for number in [1, 2, 1] {
            story.hear_text(number, b"::error::x\n", 100);
        }
        story.hear_job(job(
            "finished",
            json!([over(1, "a", "passed", 100), over(2, "b", "passed", 100)]),
        ));
        let text = page.text();
        let word = text.split("::stop-commands::").nth(1).unwrap();
        let word = format!("::{}::", word.split_once('\n').unwrap().0);
        let mut is_stopped = false;
        for line in text.lines() {
            if line.starts_with("::stop-commands::") {
                is_stopped = true;
            } else if line == word {
                is_stopped = false;
            } else if line == "::error::x" {
                assert!(is_stopped, "{text}");
            }
        }
        assert!(
            !is_stopped && text.matches("::error::x").count() == 3,
            "{text}"
        );
        assert!(text.ends_with("=== b: It has passed.\n"), "{text}");
    }
}
