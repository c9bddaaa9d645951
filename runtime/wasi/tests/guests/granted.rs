//! What guests are given.

use std::time::{Duration, Instant};

use virtual_wasi::{Exited, Output};

use crate::{Data, Guest};

/// `wasi:io/streams` with standard output.
const STDOUT: &str = r#"
    (import "wasi:io/error@0.2.3" (instance $error (export "error" (type (sub resource)))))
    (alias export $error "error" (type $e))
    (import "wasi:io/streams@0.2.3" (instance $streams
        (export "output-stream" (type $o (sub resource)))
        (export "error" (type $e' (eq $e)))
        (type $se (variant (case "last-operation-failed" (own $e')) (case "closed")))
        (export "stream-error" (type $se' (eq $se)))
        (export "[method]output-stream.blocking-write-and-flush" (func
            (param "self" (borrow $o)) (param "contents" (list u8)) (result (result (error $se')))))))
    (alias export $streams "output-stream" (type $out))
    (import "wasi:cli/stdout@0.2.3" (instance $stdout
        (export "output-stream" (type $o (eq $out)))
        (export "get-stdout" (func (result (own $o))))))"#;

const MONOTONIC: &str = r#"
    (import "wasi:io/poll@0.2.6" (instance $poll
        (export "pollable" (type $p (sub resource)))
        (export "[method]pollable.ready" (func (param "self" (borrow $p)) (result bool)))
        (export "[method]pollable.block" (func (param "self" (borrow $p))))))
    (alias export $poll "pollable" (type $pollable))
    (import "wasi:clocks/monotonic-clock@0.2.6" (instance $clock
        (export "pollable" (type $p (eq $pollable)))
        (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))"#;

const SUBSCRIBE: (&str, &str, &str) = (
    "subscribe",
    r#"$clock "subscribe-duration""#,
    "(param i64) (result i32)",
);

#[tokio::test]
async fn the_time_of_day_in_every_patch_version() {
    for version in ["0.2.0", "0.2.6", "0.2.12"] {
        let imports = format!(
            r#"(import "wasi:clocks/wall-clock@{version}" (instance $clock
                (type $r (record (field "seconds" u64) (field "nanoseconds" u32)))
                (export "datetime" (type $d (eq $r)))
                (export "now" (func (result $d)))))"#
        );
        let guest = Guest {
            imports: &imports,
            lowered: &[("now", r#"$clock "now""#, "(param i32)")],
            run: "(call $now (i32.const 16)) (i64.load (i32.const 16))",
        };
        let seconds = guest.run().await.unwrap();
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        assert!(now.as_secs().abs_diff(seconds) < 60, "{version}: {seconds}");
    }
}

#[tokio::test]
async fn waiting_takes_its_time() {
    let guest = Guest {
        imports: MONOTONIC,
        lowered: &[
            SUBSCRIBE,
            ("block", r#"$poll "[method]pollable.block""#, "(param i32)"),
        ],
        run: "(call $block (call $subscribe (i64.const 30000000))) (i64.const 1)",
    };
    let from = Instant::now();
    assert_eq!(guest.run().await.unwrap(), 1);
    assert!(from.elapsed() >= Duration::from_millis(30));
}

#[tokio::test]
async fn a_handle_outlives_a_call_only_if_it_is_handed_on() {
    let guest = Guest {
        imports: MONOTONIC,
        lowered: &[
            SUBSCRIBE,
            (
                "ready",
                r#"$poll "[method]pollable.ready""#,
                "(param i32) (result i32)",
            ),
        ],
        run: "(if (i32.eq (global.get $kept) (i32.const -1))
                (then (global.set $kept (call $subscribe (i64.const 0)))))
            (i64.extend_i32_u (call $ready (global.get $kept)))",
    };
    let mut instance = guest.start().await.unwrap();
    assert_eq!(instance.run().await.unwrap(), 1);
    let mut next = Data::new();
    next.wasi.inherit(instance.store.data_mut());
    *instance.store.data_mut() = next;
    assert_eq!(instance.run().await.unwrap(), 1);
    *instance.store.data_mut() = Data::new();
    let error = instance.run().await.unwrap_err();
    assert!(
        format!("{error:?}").contains("pollable of an earlier call"),
        "{error:?}"
    );
}

#[tokio::test]
async fn output_becomes_lines() {
    let guest = Guest {
        imports: STDOUT,
        lowered: &[
            ("stdout", r#"$stdout "get-stdout""#, "(result i32)"),
            (
                "write",
                r#"$streams "[method]output-stream.blocking-write-and-flush""#,
                "(param i32 i32 i32 i32)",
            ),
        ],
        run: "(call $write (call $stdout) (i32.const 64) (i32.const 11) (i32.const 16))
            (i64.load8_u (i32.const 16))",
    };
    let mut instance = guest.start().await.unwrap();
    assert_eq!(instance.run().await.unwrap(), 0);
    let data = instance.store.data_mut();
    assert_eq!(data.lines, [(Output::Stdout, "hello".to_owned())]);
    virtual_wasi::flush(data);
    assert_eq!(data.lines[1], (Output::Stdout, "world".to_owned()));
    assert_eq!(data.lines.len(), 2);
}

#[tokio::test]
async fn the_environment_is_the_embedders() {
    let guest = Guest {
        imports: r#"(import "wasi:cli/environment@0.2.0" (instance $cli
            (export "get-environment" (func (result (list (tuple string string)))))
            (export "get-arguments" (func (result (list string))))))"#,
        lowered: &[
            ("env", r#"$cli "get-environment""#, "(param i32)"),
            ("args", r#"$cli "get-arguments""#, "(param i32)"),
        ],
        // Entries, arguments, and the length of the first name.
        run: "(call $env (i32.const 16)) (call $args (i32.const 32))
            (i64.extend_i32_u (i32.add
                (i32.add (i32.mul (i32.load (i32.const 20)) (i32.const 100))
                    (i32.mul (i32.load (i32.const 36)) (i32.const 10)))
                (i32.load offset=4 (i32.load (i32.const 16)))))",
    };
    assert_eq!(guest.run().await.unwrap(), 104);
}

#[tokio::test]
async fn random_numbers_differ_and_have_a_limit() {
    let imports = r#"(import "wasi:random/random@0.2.9" (instance $random
        (export "get-random-u64" (func (result u64)))
        (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))"#;
    let lowered = [
        ("number", r#"$random "get-random-u64""#, "(result i64)"),
        ("bytes", r#"$random "get-random-bytes""#, "(param i64 i32)"),
    ];
    let number = Guest {
        imports,
        lowered: &lowered,
        run: "(call $number)",
    };
    assert_ne!(number.run().await.unwrap(), number.run().await.unwrap());
    let greedy = Guest {
        run: "(call $bytes (i64.const 65537) (i32.const 16)) (i64.const 0)",
        ..number
    };
    let error = greedy.failure().await;
    assert!(
        format!("{error:?}").contains("the limit is 65536"),
        "{error:?}"
    );
}

#[tokio::test]
async fn exit_ends_the_call() {
    let guest = Guest {
        imports: r#"(import "wasi:cli/exit@0.2.0" (instance $cli
            (export "exit" (func (param "status" (result))))))"#,
        lowered: &[("exit", r#"$cli "exit""#, "(param i32)")],
        run: "(call $exit (i32.const 1)) (i64.const 0)",
    };
    let error = guest.failure().await;
    assert_eq!(
        error.downcast_ref::<Exited>(),
        Some(&Exited { status: 1 }),
        "{error:?}"
    );
}
