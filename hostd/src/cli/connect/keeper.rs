//! Keeps the lease, and notices when it, the server or the device is gone.

use std::time::{Duration, Instant};

use super::super::server::Failed;
use super::over::Over;
use super::ports::Shared;
use super::{blocking, over};

/// Between two renewals. What has a connection open learns of an end at once; this is for who has none.
const RENEW_EVERY: Duration = Duration::from_secs(4);

/// Between two tries when the server does not answer.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// How long a server may not answer.
const SILENCE_MAX: Duration = Duration::from_secs(6);

/// Keeps the lease until something is over.
pub(super) async fn keep(shared: Shared) {
    let mut heard = Instant::now();
    loop {
        let asked = {
            let (bench, lease) = (shared.bench.clone(), shared.lease.clone());
            blocking(move || {
                bench.renew(&lease)?;
                bench.is_online()
            })
        };
        let pause = match tokio::time::timeout(SILENCE_MAX, asked).await {
            Ok(Ok(true)) => {
                heard = Instant::now();
                RENEW_EVERY
            }
            Ok(Ok(false)) => return shared.ending.end(Over::Device(gone(&shared))),
            Ok(Err(failed)) if !is_asked(&failed) && heard.elapsed() < SILENCE_MAX => RETRY_EVERY,
            Ok(Err(failed)) => return shared.ending.end(ended(failed)),
            Err(_) => {
                let why = format!("hear anything from the server for {SILENCE_MAX:?}");
                return shared.ending.end(Over::Server(why));
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = shared.doubt.notified() => {}
        }
    }
}

fn gone(shared: &Shared) -> String {
    format!("go on: the device {} is away", shared.bench.name())
}

/// Whether the server has decided something, which asking again does not change.
fn is_asked(failed: &Failed) -> bool {
    matches!(failed, Failed::Refused(refusal) if refusal.is_asked())
}

fn ended(failed: Failed) -> Over {
    match over(failed) {
        Over::Lease(_) => {
            Over::LeaseEnded("the lease is over: it expired, or somebody took it away".to_owned())
        }
        over => over,
    }
}
