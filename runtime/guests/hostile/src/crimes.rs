//! The crimes that the query string can name.

use std::cell::{Cell, RefCell};
use std::hint::black_box;

use crate::bindings::hostd::host::http_types::{Body, BodyStream, Response};
use crate::bindings::test::hostile::probe;
use crate::text;

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
    static KEPT: RefCell<Vec<BodyStream>> = const { RefCell::new(Vec::new()) };
}

/// Commit one; some of them use `number`. Unknown names answer 404.
pub(crate) fn commit(crime: &str, number: usize) -> Response {
    match crime {
        "none" => text("ok"),
        "count" => text(CALLS.replace(CALLS.get() + 1).to_string()),
        "loop" => spin(),
        "storm" => storm(),
        "park" => {
            probe::park();
            text("unparked")
        }
        "park-and-panic" => {
            probe::park();
            panic!("after being unparked")
        }
        "bomb" => bomb(),
        "grow" => text(black_box(vec![1u8; number]).len().to_string()),
        "panic" => panic!("as asked"),
        "recurse" => text(recurse(1).to_string()),
        "recurse-big-frames" => text(recurse_big_frames(1).to_string()),
        "refused" => {
            probe::refuse();
            text("not reached")
        }
        "stream" => Response {
            body: Body::Stream(probe::open_stream()),
            ..text("")
        },
        "leak" => {
            std::mem::forget(probe::open_stream());
            text("leaked")
        }
        "keep" => {
            KEPT.with_borrow_mut(|kept| kept.push(probe::open_stream()));
            text("kept")
        }
        "use-kept" => match KEPT.with_borrow_mut(Vec::pop) {
            Some(stream) => Response {
                body: Body::Stream(stream),
                ..text("")
            },
            None => text("nothing kept"),
        },
        "hoard" => hoard(),
        _ => lie(crime, number),
    }
}

/// Answers that are not what they claim to be.
#[allow(
    unsafe_code,
    reason = "handles and strings that safe code could not make"
)]
fn lie(crime: &str, number: usize) -> Response {
    match crime {
        "huge" => Response {
            body: Body::Bytes(vec![b'x'; number]),
            ..text("")
        },
        "status" => Response {
            status: u16::try_from(number).unwrap_or(0),
            ..text("")
        },
        "split" => with_header("x-a", "b\r\nset-cookie: c=d".into()),
        // SAFETY: none, on purpose; the host must refuse a string that is not UTF-8.
        "not-utf8" => with_header("x-a", unsafe {
            String::from_utf8_unchecked(vec![0xff, 0xfe])
        }),
        "many-headers" => aliased_headers(number),
        "forged-handle" => Response {
            // SAFETY: none, on purpose; the host must refuse a handle it never gave.
            body: Body::Stream(unsafe { BodyStream::from_handle(12_345) }),
            ..text("")
        },
        _ => Response {
            status: 404,
            ..text("no such crime")
        },
    }
}

fn with_header(name: &str, value: String) -> Response {
    Response {
        headers: vec![(name.into(), value)],
        ..text("")
    }
}

/// `count` headers whose values all share the same mebibyte of memory: small here, huge once
/// copied.
#[allow(unsafe_code, reason = "strings that share memory")]
fn aliased_headers(count: usize) -> Response {
    let value = "x".repeat(1 << 20).leak();
    let headers = (0..count)
        .map(|_| {
            // SAFETY: none, on purpose. The copies leak until the instance ends.
            let copy =
                unsafe { String::from_raw_parts(value.as_mut_ptr(), value.len(), value.len()) };
            ("x-a".into(), copy)
        })
        .collect();
    Response {
        headers,
        ..text("")
    }
}

fn spin() -> Response {
    let mut n = 0u64;
    loop {
        n = black_box(n + 1);
    }
}

fn storm() -> Response {
    let mut n = 0u32;
    loop {
        n = black_box(probe::echo(n).wrapping_add(1));
    }
}

fn bomb() -> Response {
    let mut hoard = Vec::new();
    loop {
        hoard.push(black_box(vec![1u8; 1 << 20]));
    }
}

fn hoard() -> Response {
    let mut streams = Vec::new();
    loop {
        streams.push(probe::open_stream());
    }
}

/// Small frames: the engine's stack overflows before the guest's own. The black box keeps the
/// compiler from turning it into a loop.
#[allow(unconditional_recursion, reason = "the crime itself")]
fn recurse(n: u64) -> u64 {
    let next: fn(u64) -> u64 = black_box(recurse);
    next(n + 1).wrapping_mul(n)
}

/// Frames of a kibibyte in the guest's memory: its own stack overflows, which shows as an access
/// below address zero.
#[allow(unconditional_recursion, reason = "the crime itself")]
fn recurse_big_frames(n: u64) -> u64 {
    let frame = black_box([n; 128]);
    recurse_big_frames(n + 1).wrapping_mul(frame[(n % 128) as usize])
}
