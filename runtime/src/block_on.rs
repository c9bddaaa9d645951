//! Drives a future on this thread. Loading a component is a plain function that may be called with
//! or without an async runtime around it, yet entering a guest is async.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The future's output, or None if it is still pending at `deadline`.
pub(crate) fn block_on<F: Future>(future: F, deadline: Instant) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Some(output);
        }
        let left = deadline.checked_duration_since(Instant::now())?;
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_up_on_a_future_that_never_ends() {
        assert_eq!(block_on(std::future::pending::<()>(), Instant::now()), None);
    }

    #[test]
    fn wakes_up_for_another_thread() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let sending = thread::spawn(move || sender.send(7));
        let deadline = Instant::now() + std::time::Duration::from_secs(60);
        assert_eq!(block_on(receiver, deadline), Some(Ok(7)));
        sending.join().unwrap().unwrap();
    }
}
