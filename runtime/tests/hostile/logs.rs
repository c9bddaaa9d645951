//! What the operator sees of a failed call.

use std::io;
use std::sync::{Arc, Mutex};

use crate::stage::{Stage, options};
use runtime::HandlerOptions;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Log of committing `crime`.
async fn log_of(options: HandlerOptions, crime: &str) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let stage = Stage::new(options);
    let guard = tracing::subscriber::set_default(subscriber);
    stage.commit(crime).await.unwrap_err();
    drop(guard);
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn every_failure_names_handler_request_cause_and_place() {
    let impatient = HandlerOptions {
        compute_ms_max: 300,
        ..options()
    };
    for (crime, cause) in [
        ("panic", "unreachable"),
        ("bomb", "bytes of memory"),
        ("recurse", "stack is full"),
        ("recurse", "guest_hostile::crimes::recurse+0x"),
        ("loop", "of computing"),
        ("refused", "the host refuses"),
    ] {
        let log = match crime {
            "loop" => log_of(impatient.clone(), crime).await,
            _ => log_of(options(), crime).await,
        };
        for expected in [
            "ERROR",
            "handler=\"hostile\"",
            &format!("request_id=\"request-{crime}\""),
            cause,
            "backtrace=\"",
            "+0x",
        ] {
            assert!(log.contains(expected), "{crime} lacks {expected}:\n{log}");
        }
    }
}

#[tokio::test]
async fn a_response_that_cannot_be_sent_is_logged() {
    let log = log_of(options(), "split").await;
    assert!(log.contains("holds a control character"), "{log}");
    assert!(!log.contains("set-cookie"), "{log}");
}
