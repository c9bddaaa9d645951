//! What no component should do.

use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::http::types::{ErrorCode, Fields, OutgoingResponse, ResponseOutparam};

use crate::reply::Answer;

/// Longer than any test waits.
const LONG_NS: u64 = 600_000_000_000;

/// Do it.
pub(crate) fn commit(crime: &str, out: ResponseOutparam) {
    match crime {
        "trap" => std::process::abort(),
        "loop" => spin(),
        "memory" => fill(),
        "recursion" => {
            let depth = recurse(1);
            Answer::ok(out).text(&depth.to_string());
        }
        // Leaves without a word.
        "silence" => drop(out),
        "error" => ResponseOutparam::set(out, Err(ErrorCode::LoopDetected)),
        "half" => {
            let answer = Answer::ok(out);
            answer.write(b"the first half");
            std::process::abort();
        }
        // Does not look whether anybody is there.
        "deaf" => {
            let answer = Answer::ok(out);
            answer.write(b"the first half");
            subscribe_duration(LONG_NS).block();
            answer.finish();
        }
        // Ends without saying that everything was written.
        "unfinished" => {
            let answer = Answer::ok(out);
            answer.write(b"the first half");
        }
        "loop-after" => {
            Answer::ok(out).text("everything");
            spin();
        }
        "fields" => loop {
            std::mem::forget(Fields::new());
        },
        "bodies" => {
            let mut held = Vec::new();
            loop {
                let response = OutgoingResponse::new(Fields::new());
                held.push((response.body(), response));
            }
        }
        "header" => {
            let fields = Fields::new();
            let long = vec![b'x'; 1 << 20];
            let _ = fields.append("x-long", &long);
            drop(out);
        }
        _ => Answer::new(out, 404, &[]).text("no such crime"),
    }
}

fn spin() {
    loop {
        std::hint::spin_loop();
    }
}

fn fill() {
    let mut all: Vec<Vec<u8>> = Vec::new();
    loop {
        all.push(vec![1; 1 << 20]);
        std::hint::black_box(&all);
    }
}

fn recurse(depth: u64) -> u64 {
    let deeper = std::hint::black_box(depth + 1);
    if deeper == 0 { 0 } else { 1 + recurse(deeper) }
}
