//! Sends the result of a power profile once it has ended.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use serde_json::Value;

use super::client::{Client, Gone};
use super::profile::result;
use super::refuse::Refuse;
use super::shared::Shared;

/// Waits for the end of a one-shot profile and sends its result. If the client leaves, the profile
/// ends.
pub(crate) async fn wait_and_send<S: Stream>(
    shared: &Arc<Shared>,
    client: &mut Client<S>,
    end_ns: u64,
) -> Result<(), Gone> {
    tokio::select! {
        () = shared.pass_until(end_ns) => {}
        () = client.closed() => {
            shared.with(|world, _| world.profile = None);
            return Err(Gone);
        }
    }
    send(shared, client).await
}

/// Ends the profile and sends its result.
pub(crate) async fn send<S: Stream>(
    shared: &Arc<Shared>,
    client: &mut Client<S>,
) -> Result<(), Gone> {
    let lines = shared.with(|world, now_ns| {
        let profile = world.profile.take()?;
        Some(result(&profile, &world.digital.rails, now_ns))
    });
    let Some(lines) = lines else {
        return client.refuse(&Refuse::NoProfile).await;
    };
    for line in lines {
        client.send(&Value::Object(line)).await?;
    }
    Ok(())
}
