//! Pods that dial in: each is reached through the session that it has opened itself, by proving its key.
//!
//! A server makes one [`Dialled`]. Whoever accepts connections proves a pod's key ([`verify`]) and hands what it then
//! says to [`Dialled::serve`]; devices reach their pods through [`Driver`], by addresses such as `dial:` and the key. A
//! pod has one session: a newer one, proven as well, takes the place of the older.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pod_protocol::connection::{Arriving, BoxedStream, Connecting, Transport};
use pod_protocol::dial::{SCHEME, TUNNELS_MAX, login};
use pod_protocol::driver::AddressError;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

mod channel;
mod drive;
mod key;
mod pace;
mod session;
mod stream;
#[cfg(test)]
mod tests;

pub use drive::{Heard, Said};
pub use key::verify;

use session::Session;

/// Bytes of a tunnel that may wait for whoever reads it. A pod cannot be asked to pause one of its tunnels, so one that
/// needs more is closed.
pub(crate) const TUNNEL_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long stopping waits for sessions to close.
const STOP_WAIT: Duration = Duration::from_secs(3);

const ADDRESS_FORM: &str = "<public key, 43 characters>";

type Key = [u8; login::KEY_BYTES];

/// The pods that dial in, by key.
#[derive(Default)]
pub struct Dialled {
    state: Mutex<State>,
    /// Connections that are not closed yet.
    open: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    pods: HashMap<Key, Expected>,
    is_stopped: bool,
}

/// A pod that is expected.
struct Expected {
    session: Option<Arc<Session>>,
    /// Why there is none.
    absent: String,
    /// Sessions so far.
    arrivals: watch::Sender<u64>,
    /// Transports to it: without one there is no device.
    transports: usize,
    lease: Option<Lease>,
}

/// Who holds a pod, and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// A label of at most 40 ASCII characters.
    pub holder: String,
    /// When it ends.
    pub until: Instant,
}

impl Expected {
    fn new() -> Self {
        Self {
            session: None,
            absent: "the pod has not dialled in since the server started".to_owned(),
            arrivals: watch::Sender::new(0),
            transports: 0,
            lease: None,
        }
    }
}

impl std::fmt::Debug for Dialled {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Dialled")
            .field("open", &*self.open.borrow())
            .finish_non_exhaustive()
    }
}

impl Dialled {
    /// Nobody so far.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Ends all sessions, lets no more begin, and waits a little until they are closed.
    pub async fn stop(&self) {
        {
            let mut state = self.state();
            state.is_stopped = true;
            for pod in state.pods.values() {
                if let Some(session) = &pod.session {
                    session.end("the server stops");
                }
            }
        }
        let mut open = self.open.subscribe();
        // What is left is cut with the process.
        let _ = timeout(STOP_WAIT, open.wait_for(|open| *open == 0)).await;
    }

    /// Tells a pod who holds it, now and whenever it dials in; only to pods that want to know.
    pub fn tell_lease(&self, public_key: &str, lease: Option<Lease>) {
        let mut state = self.state();
        let pod = login::key(public_key).and_then(|key| state.pods.get_mut(&key));
        let Some(pod) = pod else {
            return;
        };
        pod.lease = lease;
        if let Some(session) = &pod.session {
            session.tell_lease(pod.lease.as_ref());
        }
    }

    /// Puts a session in its pod's place.
    fn enter(&self, key: Key) -> Result<Arc<Session>, &'static str> {
        let mut state = self.state();
        if state.is_stopped {
            return Err("the server stops");
        }
        let pod = state.pods.get_mut(&key).filter(|pod| pod.transports > 0);
        let pod = pod.ok_or("there is no device for the pod")?;
        let session = Arc::new(Session::default());
        if let Some(older) = pod.session.replace(session.clone()) {
            older.end("a newer session of the pod has taken its place");
        }
        session.tell_lease(pod.lease.as_ref());
        pod.arrivals.send_modify(|arrivals| *arrivals += 1);
        Ok(session)
    }

    /// A session is over.
    fn leave(&self, key: &Key, session: &Arc<Session>) {
        let reason = session.end("the session was dropped");
        let mut state = self.state();
        if let Some(pod) = state.pods.get_mut(key)
            && pod
                .session
                .as_ref()
                .is_some_and(|current| Arc::ptr_eq(current, session))
        {
            pod.session = None;
            pod.absent =
                format!("the pod's link has ended ({reason}), and it has not dialled in again");
        }
    }

    fn session(&self, key: &Key) -> io::Result<Arc<Session>> {
        let state = self.state();
        let pod = state.pods.get(key);
        let found = pod.and_then(|pod| pod.session.clone());
        found.ok_or_else(|| {
            let why = pod.map_or_else(String::new, |pod| pod.absent.clone());
            io::Error::new(io::ErrorKind::NotConnected, why)
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change leaves a valid state, so a panic elsewhere does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A pod, reached through its session.
struct DialTransport {
    dialled: Arc<Dialled>,
    key: Key,
    /// The pod's sessions when a connection was last asked for.
    seen: AtomicU64,
}

impl DialTransport {
    fn new(dialled: Arc<Dialled>, key: Key) -> Self {
        let mut state = dialled.state();
        state
            .pods
            .entry(key)
            .or_insert_with(Expected::new)
            .transports += 1;
        drop(state);
        Self {
            dialled,
            key,
            seen: AtomicU64::new(0),
        }
    }

    fn session(&self) -> io::Result<Arc<Session>> {
        self.seen
            .store(*self.arrivals().borrow(), Ordering::Relaxed);
        self.dialled.session(&self.key)
    }

    fn arrivals(&self) -> watch::Receiver<u64> {
        let mut state = self.dialled.state();
        let pod = state.pods.entry(self.key).or_insert_with(Expected::new);
        pod.arrivals.subscribe()
    }
}

impl Drop for DialTransport {
    fn drop(&mut self) {
        let mut state = self.dialled.state();
        let Entry::Occupied(mut pod) = state.pods.entry(self.key) else {
            return;
        };
        pod.get_mut().transports -= 1;
        if pod.get().transports == 0
            && let Some(session) = pod.remove().session
        {
            session.end("its device was removed");
        }
    }
}

impl Transport for DialTransport {
    fn kind(&self) -> &'static str {
        SCHEME
    }

    /// The tunnels, and the one for single commands that is none.
    fn connections_max(&self) -> usize {
        TUNNELS_MAX + 1
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let stream = self.session()?.tunnel().await?;
            Ok(Box::new(stream) as BoxedStream)
        })
    }

    fn connect_commands(&self) -> Connecting<'_> {
        Box::pin(async move {
            let stream = self.session()?.commands()?;
            Ok(Box::new(stream) as BoxedStream)
        })
    }

    fn arrival(&self) -> Arriving<'_> {
        let mut arrivals = self.arrivals();
        let seen = self.seen.load(Ordering::Relaxed);
        Box::pin(async move {
            // The sender lives as long as this transport.
            let _ = arrivals.wait_for(|arrivals| *arrivals != seen).await;
        })
    }
}

/// `dial:` and a public key.
pub struct Driver(pub Arc<Dialled>);

impl pod_protocol::driver::Driver for Driver {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn address_form(&self) -> &'static str {
        ADDRESS_FORM
    }

    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError> {
        let key = login::key(address).filter(key::is_usable);
        let key = key.ok_or_else(|| AddressError::Malformed {
            address: address.to_owned(),
            form: ADDRESS_FORM,
        })?;
        Ok(Arc::new(DialTransport::new(self.0.clone(), key)))
    }
}
