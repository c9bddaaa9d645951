//! Whether this machine can isolate jobs: tried once, when the server has started, and waited for by the first who
//! submits.

use std::sync::Arc;

use tokio::sync::OnceCell;
use tracing::warn;

/// What came of trying a jail.
#[derive(Debug)]
pub(crate) struct Isolation {
    options: jail::Options,
    lack: OnceCell<Option<String>>,
}

impl Isolation {
    pub(crate) fn new(options: jail::Options) -> Self {
        Self {
            options,
            lack: OnceCell::new(),
        }
    }

    /// Begins to try one.
    pub(crate) fn look(self: Arc<Self>) {
        tokio::spawn(async move {
            if let Some(lack) = self.lack().await {
                warn!(lack, "jobs are refused");
            }
        });
    }

    /// Why jobs cannot be isolated, with the cure; none if they can.
    pub(crate) async fn lack(&self) -> Option<String> {
        let tried = self.lack.get_or_init(async || {
            let options = self.options.clone();
            let tried = tokio::task::spawn_blocking(move || jail::probe(&options)).await;
            match tried {
                Ok(Ok(report)) => report.isolation.err().map(|lack| {
                    let cure = lack.cure();
                    format!("{REFUSED}: {lack}; {cure} (`hostd doctor` tells more)")
                }),
                Ok(Err(error)) => Some(told(&error)),
                Err(error) => Some(told(&error)),
            }
        });
        tried.await.clone()
    }
}

/// How each lack begins.
const REFUSED: &str = "jobs cannot be isolated on this server";

fn told(error: &dyn std::error::Error) -> String {
    format!("{REFUSED}: failed to {error}; `hostd doctor` tells more")
}
