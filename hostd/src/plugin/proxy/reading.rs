//! Whether anybody still reads a response while the plugin writes it: a call that works for nobody is ended.

use std::time::Duration;

use runtime::{Reply, ReplyBody};
use tokio::sync::oneshot;

/// How long a plugin goes on for a reader who left before the end: one that writes finds that out by itself.
const NOTICE_WAIT: Duration = Duration::from_secs(1);

/// Statuses of responses that nobody reads a body of.
const BODYLESS: [u16; 2] = [204, 304];

/// Comes when a reader has everything; gone without a word when the reader is.
pub(super) type Taken = oneshot::Receiver<()>;

/// The response to a request of this method, and what tells how far it is read; none if there is nothing to read.
pub(super) fn watched(reply: Reply, method: &str) -> (Reply, Option<Taken>) {
    let has_body = method != "HEAD" && !BODYLESS.contains(&reply.status);
    match reply.body {
        ReplyBody::Stream(stream) if has_body => {
            let (tell, taken) = oneshot::channel();
            let body = ReplyBody::Stream(stream.telling(tell));
            (Reply { body, ..reply }, Some(taken))
        }
        body => (Reply { body, ..reply }, None),
    }
}

/// Drive a call whose response has begun to its end, which may come after that of the response. None: its reader left, and
/// it was ended.
pub(super) async fn while_read<O>(run: impl Future<Output = O>, taken: Option<Taken>) -> Option<O> {
    let abandoned = async move {
        let has_left = match taken {
            Some(taken) => taken.await.is_err(),
            None => false,
        };
        if !has_left {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(NOTICE_WAIT).await;
    };
    tokio::select! {
        biased;
        outcome = run => Some(outcome),
        () = abandoned => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use runtime::BodyStream;
    use tokio::sync::mpsc;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Longer than anybody waits here.
    const LONG: Duration = Duration::from_secs(10);

    /// A response of one byte, as a plugin has written it that says so or does not.
    fn reply(status: u16, length: Option<u64>) -> Reply {
        let (sender, parts) = mpsc::channel(1);
        sender.try_send(Ok(Bytes::from_static(b"a"))).unwrap();
        let stream = BodyStream::new(None, parts).ending(length, async { None });
        Reply {
            status,
            headers: Vec::new(),
            body: ReplyBody::Stream(stream),
        }
    }

    /// Read so many parts of a response, then leave; how the call ends, and after how long.
    async fn left_after(parts: u32, (reply, taken): (Reply, Option<Taken>)) -> (bool, Duration) {
        let began = Instant::now();
        let ReplyBody::Stream(mut stream) = reply.body else {
            panic!("it has a body");
        };
        for _ in 0..parts {
            stream.recv().await;
        }
        drop(stream);
        let is_over = while_read(sleep(LONG), taken).await.is_some();
        (is_over, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_ends_soon_after_its_reader_left() {
        for (parts, length) in [(0, None), (1, None), (0, Some(1))] {
            let left = left_after(parts, watched(reply(200, length), "GET")).await;
            assert_eq!(left, (false, NOTICE_WAIT), "{parts} {length:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_has_everything_may_go() {
        for (parts, length) in [(2, None), (1, Some(1))] {
            let left = left_after(parts, watched(reply(200, length), "GET")).await;
            assert_eq!(left, (true, LONG), "{parts} {length:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_reads_by_rule_is_no_reason_to_end() {
        for (status, method) in [(200, "HEAD"), (204, "GET"), (304, "GET")] {
            let left = left_after(0, watched(reply(status, None), method)).await;
            assert_eq!(left, (true, LONG), "{status} {method}");
        }
    }
}
