//! Whoever takes results of a decoder, and how they end.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use jobs::Cancel;

use super::*;

/// Long enough for anything here, and ends a test that hangs.
const WAIT: Duration = Duration::from_secs(60);

fn mark(at: u64) -> Annotation {
    Annotation {
        start: at,
        end: at,
        class: 0,
        value: Value::Mark,
    }
}

/// A decoder whose second call computes until it is told to go on. It tells when it is in it, and what the call after it
/// meets.
struct Busy {
    begun: Receiver<()>,
    go_on: Sender<()>,
    ended: Receiver<ControlFlow<()>>,
}

impl Busy {
    fn begin() -> (
        Self,
        impl FnOnce(Sink<'_>) -> Result<(), ReadError> + Send + 'static,
    ) {
        let (tell_begun, begun) = channel();
        let (go_on, may_go_on) = channel();
        let (tell_ended, ended) = channel();
        let work = move |sink: Sink<'_>| {
            let _ = sink(&[mark(1)]);
            tell_begun.send(()).unwrap();
            may_go_on.recv_timeout(WAIT).unwrap();
            tell_ended.send(sink(&[mark(2)])).unwrap();
            Ok(())
        };
        let busy = Self {
            begun,
            go_on,
            ended,
        };
        (busy, work)
    }

    /// The call ends now: what it found is not wanted any more, so nor is what would come.
    fn end(self) {
        self.go_on.send(()).unwrap();
        let ended = self.ended.recv_timeout(WAIT).unwrap();
        assert!(ended.is_break());
    }
}

#[test]
fn pipelines_know_what_decoders_are_wired_to_and_find() {
    let known = [Decoder::I2c, Decoder::Spi, Decoder::Uart];
    assert_eq!(known.len(), decode::DECODERS.len());
    for decoder in &known {
        let mut all = decode::DECODERS.iter();
        let own = all.find(|own| own.id == decoder.as_str()).unwrap();
        let roles: Vec<&str> = own.channels.iter().map(|role| &*role.id).collect();
        assert_eq!(decoder.roles(), roles);
        let classes = own.classes.iter().map(|class| &class.id);
        let rows = own.rows.iter().map(|row| &row.id);
        let rows = rows.filter(|row| own.class(row).is_none());
        let names: Vec<&str> = classes.chain(rows).map(|name| &**name).collect();
        assert_eq!(decoder.annotations(), names);
    }
}

#[test]
fn results_come_in_order_and_with_the_failure_that_ends_them() {
    let cancel = Cancel::default();
    let until = Until {
        at: Instant::now() + WAIT,
        cancel: &cancel,
    };
    let mut taken = Vec::new();
    let mut take = |batch: Vec<Annotation>| taken.extend(batch.iter().map(|found| found.start));
    let count = 3 * BATCHES_MAX as u64;
    let work = move |sink: Sink<'_>| {
        for at in 0..count {
            assert!(sink(&[mark(at)]).is_continue());
        }
        Err(ReadError::NoChannel)
    };
    let failed = in_batches(work, &until, &mut take).unwrap_err();
    assert_eq!(failed, lost(&ReadError::NoChannel));
    assert_eq!(taken, (0..count).collect::<Vec<_>>());
}

#[test]
fn a_cancel_does_not_wait_for_the_call_that_computes() {
    let (busy, work) = Busy::begin();
    let cancel = Cancel::default();
    let ended = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let until = Until {
                at: Instant::now() + WAIT,
                cancel: &cancel,
            };
            in_batches(work, &until, &mut |_| {})
        });
        busy.begun.recv_timeout(WAIT).unwrap();
        cancel.cancel();
        run.join().unwrap()
    });
    assert_eq!(ended, Err(BenchError::Cancelled));
    busy.end();
}

#[test]
fn nor_does_the_end_of_the_time() {
    let (busy, work) = Busy::begin();
    let cancel = Cancel::default();
    let until = Until {
        at: Instant::now() + Duration::from_millis(20),
        cancel: &cancel,
    };
    let ended = in_batches(work, &until, &mut |_| {});
    assert_eq!(ended, Err(BenchError::TimedOut));
    busy.end();
}
