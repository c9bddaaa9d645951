//! Many connections over one reader and one writer.
//!
//! Both sides may send at any time; a connection that nobody reads holds up no other, since each is granted a window.
//! Connections with something to send take turns, a frame each.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::BytesMut;
use tokio::sync::Notify;

use super::channel::Channel;
use super::drive::{Wires, drive};
use super::frame::FrameError;
use super::greeting::{Greeting, NONCE_BYTES, Terms};
use super::shared::Shared;
use super::stream::LinkStream;
use super::wires::{Incoming, Outgoing};

/// A side that has sent nothing for so long says that it is there.
pub const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// A side from which nothing came for so long is taken for gone.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Why a link ended.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The other side is gone.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Nothing came for [`SILENCE_MAX`].
    #[error("nothing was heard for {} s", SILENCE_MAX.as_secs())]
    Silent,
    /// What came first is no greeting of a version that is known.
    #[error("it does not answer as a pod of this version of the link does")]
    NoGreeting,
    /// What came is no frame.
    #[error("{0}")]
    Frame(#[from] FrameError),
    /// What came means nothing at that point.
    #[error("{0}")]
    Misused(&'static str),
}

/// One side of a link. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Link {
    shared: Arc<Shared>,
}

impl Link {
    /// Greets a pod. Returns the link and what drives it, which ends with the link and has to be polled for anything to
    /// happen. The caller limits the time, and draws the nonce at random.
    ///
    /// # Errors
    /// [`LinkError`] when the other side is gone or answers otherwise than a pod.
    pub async fn host<R, W>(
        mut reader: R,
        mut writer: W,
        nonce: [u8; NONCE_BYTES],
    ) -> Result<(Self, impl Future<Output = LinkError> + Send), LinkError>
    where
        R: Incoming,
        W: Outgoing,
    {
        let mut buffer = BytesMut::new();
        let terms = Terms::HOST;
        let greeting = Greeting { terms, nonce };
        let pod = greeting
            .offer(&mut reader, &mut writer, &mut buffer)
            .await?;
        let wires = Wires {
            reader,
            writer,
            rest: buffer.freeze(),
        };
        Ok(Self::begin(true, (terms, pod), wires))
    }

    /// Waits for a host, and answers with what this pod can take. Otherwise as [`Link::host`].
    ///
    /// # Errors
    /// [`LinkError`] when the host is gone, or what comes is no greeting.
    pub async fn pod<R, W>(
        mut reader: R,
        mut writer: W,
        terms: Terms,
    ) -> Result<(Self, impl Future<Output = LinkError> + Send), LinkError>
    where
        R: Incoming,
        W: Outgoing,
    {
        let mut buffer = BytesMut::new();
        let host = Greeting::answer(terms, &mut reader, &mut writer, &mut buffer).await?;
        let wires = Wires {
            reader,
            writer,
            rest: buffer.freeze(),
        };
        Ok(Self::begin(false, (terms, host), wires))
    }

    fn begin<R, W>(
        is_host: bool,
        (ours, theirs): (Terms, Terms),
        wires: Wires<R, W>,
    ) -> (Self, impl Future<Output = LinkError> + Send)
    where
        R: Incoming,
        W: Outgoing,
    {
        let shared = Arc::new(Shared {
            is_host,
            ours,
            theirs,
            state: Mutex::default(),
            free: Mutex::default(),
            work: Notify::new(),
            arrived: Notify::new(),
        });
        let link = Self {
            shared: shared.clone(),
        };
        (link, drive(shared, wires))
    }

    /// Connections that the other side serves at once.
    pub fn channels_max(&self) -> u16 {
        self.shared.theirs.channels
    }

    /// Whether nothing can be opened any more.
    pub fn has_ended(&self) -> bool {
        self.shared.state().ended.is_some()
    }

    /// Opens one more connection.
    ///
    /// # Errors
    /// `ConnectionRefused` with the pod's reason, and `NotConnected` when the link has ended.
    pub async fn open(&self) -> io::Result<LinkStream> {
        let shared = &self.shared;
        let channel = {
            let mut state = shared.state();
            if let Some(reason) = &state.ended {
                let reason = reason.to_string();
                return Err(io::Error::new(io::ErrorKind::NotConnected, reason));
            }
            let number = state.free_number().ok_or(io::ErrorKind::QuotaExceeded)?;
            let channel = Channel::opening(number, shared.terms());
            let channel = Arc::new(Mutex::new(channel));
            state.channels.insert(number, channel.clone());
            channel
        };
        // From here on, dropping the future closes the connection.
        let stream = LinkStream::new(channel, shared.clone());
        shared.sends(&stream.channel);
        std::future::poll_fn(|context| stream.state().poll_open(context)).await?;
        Ok(stream)
    }

    /// The next connection that the other side opens. `None` once the link has ended.
    pub async fn accept(&self) -> Option<LinkStream> {
        let shared = &self.shared;
        loop {
            let arrived = shared.arrived.notified();
            {
                let mut state = shared.state();
                if let Some(channel) = state.arrived.pop_front() {
                    return Some(LinkStream::new(channel, shared.clone()));
                }
                if state.ended.is_some() {
                    return None;
                }
            }
            arrived.await;
        }
    }
}
