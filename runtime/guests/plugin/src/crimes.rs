//! What a plugin must not do, or cannot.

use hostd_plugin::{Response, devices, log, random, store};

/// Bytes of a body that is too large.
const LARGE_BODY_BYTES: usize = 9 << 20;

pub(crate) fn commit(what: &str) -> Response {
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
        "recursion" => Response::text(200, deeper(0).to_string()),
        "body" => Response::text(200, "x".repeat(LARGE_BODY_BYTES)),
        "status" => Response::text(99, "x"),
        "header" => with_header("x-bad", "a\r\nset-cookie: hostd_session=stolen"),
        "cookie" => with_header("set-cookie", "hostd_session=stolen; Path=/"),
        "page" => {
            let mut page = with_header("content-security-policy", "default-src *");
            page.headers
                .push(("content-type".to_owned(), "text/html".to_owned()));
            page
        }
        "random" => Response::text(200, random::bytes(1 << 20).len().to_string()),
        "log" => {
            for n in 0..10_000 {
                log::info(&format!("line {n} {}", "x".repeat(10_000)));
            }
            Response::text(200, "done")
        }
        "keys" => {
            for n in 0..u64::MAX {
                if let Err(error) = store::put(&format!("key-{}", n % 1_000), b"late") {
                    return Response::text(500, error.to_string());
                }
            }
            Response::text(200, "done")
        }
        "handles" => {
            let mut held = Vec::new();
            for _ in 0..100_000 {
                match devices::list() {
                    Ok(seen) => held.extend(seen),
                    Err(error) => return Response::text(500, error.to_string()),
                }
            }
            Response::text(200, held.len().to_string())
        }
        _ => Response::text(404, "no such crime"),
    }
}

fn with_header(name: &str, value: &str) -> Response {
    let mut response = Response::text(200, "<script>alert(1)</script>");
    response.headers.push((name.to_owned(), value.to_owned()));
    response
}

#[expect(unconditional_recursion, reason = "that is the crime")]
fn deeper(depth: u64) -> u64 {
    let mut room = [depth; 64];
    room[usize::try_from(depth % 64).unwrap_or_default()] = deeper(std::hint::black_box(depth + 1));
    room.iter().sum()
}
