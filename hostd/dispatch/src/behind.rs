//! Work on what a job brought, which may be much: on a thread of its own, behind the threads that answer.

use std::thread;

use tokio::sync::oneshot;
use tracing::warn;

/// Does the work; none if it panics, or there is no thread. Callers hold places, so that threads are bounded.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, done) = oneshot::channel();
    let spawned = thread::Builder::new()
        .name("behind".to_owned())
        .spawn(move || {
            jail::stand_back();
            // Whoever has left does not listen.
            let _ = sender.send(work());
        });
    if let Err(error) = spawned {
        warn!(%error, "failed to start a thread for a job's work");
    }
    done.await.ok()
}

#[cfg(test)]
mod tests {
    use super::run;

    #[tokio::test]
    async fn work_comes_to_its_result_or_to_none() {
        let own = std::thread::current().id();
        let (there, result) = run(|| (std::thread::current().id(), 7)).await.unwrap();
        assert!(there != own && result == 7);
        assert_eq!(run::<u8>(|| panic!("as some work does")).await, None);
    }
}
