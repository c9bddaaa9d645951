//! `bench:host/clock`: the host's one clock.

use super::Call;
use super::bindings::bench::host::clock::Host;

impl Host for Call {
    async fn now_ms(&mut self) -> u64 {
        self.services.clock.now_ms()
    }

    async fn now_text(&mut self) -> String {
        self.services.clock.now_text()
    }
}
