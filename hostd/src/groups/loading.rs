//! Handlers load on a thread of their own while the rest of the server opens: reading machine code needs the
//! processor, opening a store the disk, and neither needs the other.

use std::thread::{self, JoinHandle};

use base::config::HandlersConfig;

use super::{Components, Embedded, GroupError};

/// Components that are being loaded. Whoever drops it does not wait for them.
#[derive(Debug)]
pub struct Loading(JoinHandle<Result<Components, GroupError>>);

impl Loading {
    /// Begin to load the components of `config.dir` if it is set, and otherwise `embedded`.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(
        config: &HandlersConfig,
        embedded: &'static [Embedded],
    ) -> Result<Self, GroupError> {
        let config = config.clone();
        thread::Builder::new()
            .name("handler-loader".to_owned())
            .spawn(move || Components::load(&config, embedded))
            .map(Self)
            .map_err(GroupError::Thread)
    }

    /// Wait until all are loaded.
    pub(super) fn finish(self) -> Result<Components, GroupError> {
        self.0
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
