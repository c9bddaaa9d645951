//! A new link: connect, and request the pod's identity and status.

use std::sync::Arc;

use pod_protocol::REPLY_LINE_BYTES_MAX;
use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport};

use super::facts::{PodFacts, PodIdentity};
use super::{PodError, PodOptions, link};

/// A command connection to the right pod.
pub(super) struct Link {
    pub(super) lines: Lines<BoxedStream>,
    pub(super) identity: PodIdentity,
}

/// What a greeting found.
pub(super) struct Greeted {
    pub(super) link: Link,
    pub(super) facts: PodFacts,
}

/// Why a connection is not used.
pub(super) enum Unwelcome {
    /// Nobody answered as a pod does.
    Failed(PodError),
    /// Another pod answered.
    Another {
        expected: String,
        found: PodIdentity,
    },
}

impl From<PodError> for Unwelcome {
    fn from(error: PodError) -> Self {
        Self::Failed(error)
    }
}

/// Connects, and requests identity and status. Only a pod with the `known` or expected key is asked
/// for more than its identity.
pub(super) async fn greet(
    transport: Arc<dyn Transport>,
    options: Arc<PodOptions>,
    known: Option<String>,
) -> Result<Greeted, Unwelcome> {
    let stream = link::connect(transport.connect_commands(), options.connect_timeout).await?;
    let mut lines = Lines::new(stream, REPLY_LINE_BYTES_MAX);
    let timeout = options.greeting_timeout;
    let line = br#"{"cmd":"identity_public"}"#.to_vec();
    let data = link::exchange(&mut lines, "identity_public", line, timeout).await?;
    let identity = PodIdentity::from_data(&data)?;
    let expected = options.expected_public_key.clone().or(known);
    if let Some(expected) = expected
        && expected != identity.public_key
    {
        let found = identity;
        return Err(Unwelcome::Another { expected, found });
    }
    let line = br#"{"cmd":"status"}"#.to_vec();
    let status = link::exchange(&mut lines, "status", line, timeout).await?;
    let facts = PodFacts::from_data(identity.clone(), status)?;
    let link = Link { lines, identity };
    Ok(Greeted { link, facts })
}
