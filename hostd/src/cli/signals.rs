//! SIGINT and SIGTERM, for commands that have something to end properly.

use std::sync::mpsc;
use std::thread;

use anyhow::Context;

/// Calls `heard` at each SIGINT and SIGTERM from now on, in place of what the system does with them.
pub(super) fn listen(heard: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    let (ready, is_ready) = mpsc::sync_channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the async runtime")?;
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                match crate::serve::stop_signal() {
                    Ok(stop) => {
                        // Later rounds have nobody who waits for this.
                        let _ = ready.try_send(Ok(()));
                        stop.await;
                        heard();
                    }
                    Err(error) => {
                        let _ = ready.try_send(Err(error));
                        return;
                    }
                }
            }
        });
    });
    let listening = is_ready.recv().context("listen for signals")?;
    listening.context("listen for signals")
}
