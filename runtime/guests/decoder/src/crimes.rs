//! What a decoder must not do, or cannot.

use hostd_plugin::decoder::Found;
use hostd_plugin::{clock, http_out, log};

/// More annotations than one call may return.
const MANY: u64 = 140_000;

/// Annotations with texts that one call may return, and bytes of each text: more than an answer to a request may have.
const TEXTS: u64 = 60_000;
const TEXT_BYTES: usize = 250;

/// Annotations with texts that are more than one call may return, and bytes of each text.
const FLOOD: u64 = 34_000;
const FLOOD_TEXT_BYTES: usize = 1_000;

/// How long a slow call computes.
const SLOW_NS: u64 = 200_000_000;

pub(crate) fn commit(what: &str, found: &mut Found) {
    match what {
        "trap" => std::process::abort(),
        "loop" => loop {
            std::hint::spin_loop();
        },
        "memory" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                all.push(vec![1; 1 << 20]);
                std::hint::black_box(&all);
            }
        }
        "class" => found.mark(0, 0, 2),
        "large-class" => found.mark(0, 0, u32::MAX),
        "backwards" => found.mark(1, 0, 0),
        "beyond" => found.mark(0, u64::MAX, 0),
        "text" => found.text(0, 0, 0, "x".repeat(2_000)),
        "many" => (0..MANY).for_each(|_| found.mark(0, 0, 0)),
        "texts" => (0..TEXTS).for_each(|_| found.text(0, 0, 0, "x".repeat(TEXT_BYTES))),
        "flood" => (0..FLOOD).for_each(|_| found.text(0, 0, 0, "x".repeat(FLOOD_TEXT_BYTES))),
        "slow" => {
            log::info("slow");
            let begun = clock::monotonic();
            while clock::monotonic() - begun < SLOW_NS {
                std::hint::spin_loop();
            }
        }
        "log" => (0..1_000).for_each(|n| log::info(&format!("line {n}"))),
        "escape" => found.text(0, 0, 0, "a\u{1b}[31m\"b\"\r\nc"),
        url if url.starts_with("http://") => {
            let told = match http_out::Request::new("GET", url).send() {
                Ok(answer) => format!("status {}", answer.status),
                Err(error) => format!("{}: {}", error.code, error.message),
            };
            found.text(0, 0, 0, told);
        }
        _ => {}
    }
}
