//! `bench:host/random`: unpredictable bytes and ids.

use super::Call;
use super::bindings::bench::host::random::Host;
use base::id;

/// Most bytes of one request. More is a bug in the guest, so it gets none.
const BYTES_MAX: u32 = 4096;

impl Host for Call {
    async fn bytes(&mut self, len: u32) -> Vec<u8> {
        if len > BYTES_MAX {
            tracing::warn!(request_id = self.request_id, handler = %self.group, len, "too many random bytes asked for");
            return Vec::new();
        }
        let mut bytes = vec![0; len as usize];
        id::fill_random(&mut bytes);
        bytes
    }

    async fn ulid(&mut self) -> String {
        id::ulid(&self.services.clock)
    }
}
