//! The way of a job's programs to their bench: a UNIX socket that the job's jail passes connections
//! on to, and the key that opens the job's device there and nowhere else.
//!
//! ```text
//! program ── 127.0.0.1:8099 of the jail ── socket of the attempt ── Gateway, as Relayed
//! ```
//!
//! Over the socket the same endpoints are answered as over the network, but only to that one key and
//! to session tokens minted from it. A program thus gains nothing by a credential that it carried in,
//! and nobody by one that was carried out.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jail::RELAY_PORT;
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tracing::{info, warn};

use crate::http::connections::{ConnectionLimits, Connections};
use crate::http::error::ApiError;
use crate::http::flow::Flows;
use crate::http::gateway::Gateway;
use crate::http::server::{self, Client, Server, Source};
use base::config::HttpConfig;
use base::private;
use evidence::redact::{WORDS_MAX, Words};
use identity::{JOB_TOKENS_MAX, JobGrant, JobKey, JobKeyError, Secret};

/// Name of the folder in the data folder that the sockets are in.
pub const FOLDER: &str = "relays";

/// Connections of one job at once, as many as a jail passes on. Beyond that an idle one is closed
/// for a new one, or the new one if none is idle.
const CONNECTIONS_MAX: u32 = 64;

/// WebSockets of one job at once: its one device has room for a few.
const SOCKETS_MAX: usize = 16;

const _: () = assert!(JOB_TOKENS_MAX <= WORDS_MAX);

/// Nobody else passes the folder. Where slots are users, the one of the slot must be able to write to
/// the socket, of which its jail holds a descriptor from before it became that user.
const SOCKET_MODE: u32 = 0o666;

/// For the server's user alone.
const FOLDER_MODE: u32 = 0o700;

/// Why a job got no way to its bench.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    #[error("find the device that the job has: it was removed")]
    NoDevice,
    #[error(transparent)]
    Key(#[from] JobKeyError),
    #[error("listen on {}", path.display())]
    Listen {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The job that a connection belongs to, among a request's extensions.
#[derive(Debug, Clone)]
pub struct Relayed {
    kid: Arc<str>,
    job: Arc<str>,
    sockets: Arc<Semaphore>,
}

/// Makes relays.
#[derive(Debug)]
pub struct Relays {
    server: Arc<Server>,
    path: PathBuf,
    /// Socket paths must be short, folder paths need not be: sockets are made through this.
    folder: File,
    runtime: Handle,
    made: AtomicU64,
}

/// The way of one attempt of a job to its bench, for as long as this lives: then all connections are
/// cut, and what they had opened ends.
#[derive(Debug)]
pub struct Relay {
    key: JobKey,
    words: Words,
    socket: PathBuf,
    device: String,
    accepting: AbortHandle,
}

impl Relayed {
    /// Id of the one key that opens anything.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Job id.
    #[must_use]
    pub fn job(&self) -> &str {
        &self.job
    }

    /// A place for a WebSocket among those of the job.
    ///
    /// # Errors
    /// 503 when there is none.
    pub(crate) fn open_socket(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = self.sockets.clone().try_acquire_owned();
        place.map_err(|_| ApiError::overloaded(1))
    }
}

impl Relays {
    /// Relays whose requests `gateway` answers, with sockets in `folder`, which is made if need be.
    /// Sockets that an earlier server left there are removed. Within the async runtime.
    ///
    /// # Errors
    /// The folder cannot be made, emptied or kept from others.
    pub fn new(gateway: Arc<Gateway>, config: &HttpConfig, folder: &Path) -> io::Result<Self> {
        private::make_folder(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))?;
        // Jails open the socket from a folder of their own.
        let path = folder.canonicalize()?;
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            if entry.file_type()?.is_socket() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self {
            server: Arc::new(Server::new(gateway, config)),
            folder: File::open(&path)?,
            path,
            runtime: Handle::current(),
            made: AtomicU64::default(),
        })
    }

    /// A relay for an attempt that has its device, under the lease of the grant. From any thread.
    ///
    /// # Errors
    /// The device is gone, the user is no longer a member, there are too many keys of jobs, or the
    /// socket cannot be made.
    pub fn open(&self, grant: JobGrant) -> Result<Relay, RelayError> {
        let gateway = self.server.gateway();
        let device = gateway.services.devices.get(&grant.org, &grant.device);
        let device = device.ok_or(RelayError::NoDevice)?.record.name;
        let job: Arc<str> = grant.job.as_str().into();
        let words = Words::default();
        let told = words.clone();
        let tell = Box::new(move |tokens: &[&str]| told.set(tokens.iter().copied()));
        let key = gateway.services.auth.job_key_open(grant, tell)?;
        let relayed = Relayed {
            kid: key.kid().clone(),
            job,
            sockets: Arc::new(Semaphore::new(SOCKETS_MAX)),
        };
        let name = self.made.fetch_add(1, Ordering::Relaxed).to_string();
        let socket = self.path.join(&name);
        let listener = self.listen(&name);
        let listener = listener.map_err(|source| RelayError::Listen {
            path: socket.clone(),
            source,
        })?;
        info!(
            job = relayed.job(),
            kid = relayed.kid(),
            device,
            "relay open"
        );
        let accepting = accept(listener, self.server.clone(), relayed);
        Ok(Relay {
            key,
            words,
            socket,
            device,
            accepting: self.runtime.spawn(accepting).abort_handle(),
        })
    }

    fn listen(&self, name: &str) -> io::Result<UnixListener> {
        let _context = self.runtime.enter();
        let path = format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd());
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(self.path.join(name), Permissions::from_mode(SOCKET_MODE))?;
        Ok(listener)
    }
}

impl Relay {
    /// The socket, for `jail::Spec::relay`.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The variables by which published clients inside find the bench. One has the key.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let values = [
            (
                "BENCHPOD_API_BASE",
                format!("http://127.0.0.1:{RELAY_PORT}"),
            ),
            ("BENCHPOD_API_KEY", self.secret().expose().to_owned()),
            ("BENCHPOD_CONNECTION", format!("embeddedci:{}", self.device)),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The key, to be blotted out of what the job says.
    #[must_use]
    pub fn secret(&self) -> &Secret {
        self.key.secret()
    }

    /// The session tokens that were minted from the key, likewise.
    #[must_use]
    pub fn words(&self) -> &Words {
        &self.words
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // The connections are that task's, and WebSockets end with the key.
        self.accepting.abort();
        info!(kid = &**self.key.kid(), "relay closed");
        if let Err(error) = fs::remove_file(&self.socket) {
            warn!(%error, socket = %self.socket.display(), "failed to remove a job's socket");
        }
    }
}

/// Serve all that connect, until this is dropped.
async fn accept(listener: UnixListener, server: Arc<Server>, relayed: Relayed) {
    let limits = ConnectionLimits {
        total_max: CONNECTIONS_MAX,
        per_address_max: CONNECTIONS_MAX,
        reserve_max: 0,
    };
    let counters = &server.gateway().native.metrics.connections;
    let connections = Connections::new(limits, counters.clone());
    let mut serving = JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    server::wait_for_room(&error, &connections).await;
                    continue;
                }
            },
            Some(_) = serving.join_next() => continue,
        };
        let flows = Arc::new(Flows::default());
        let Some(seat) = connections.admit(None, flows.clone()) else {
            continue;
        };
        let client = Client {
            stream,
            source: Source::Relay(relayed.clone()),
            flows,
            seat,
        };
        let (connection, over) = server.connection(client);
        serving.spawn(server::attend(connection, over));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_serves_what_a_jail_passes_on() {
        assert_eq!(CONNECTIONS_MAX as usize, jail::RELAY_CONNECTIONS_MAX);
    }

    #[test]
    fn a_job_has_so_many_web_sockets_and_no_more() {
        let relayed = Relayed {
            kid: "kid".into(),
            job: "job".into(),
            sockets: Arc::new(Semaphore::new(SOCKETS_MAX)),
        };
        let again = relayed.clone();
        let mut open: Vec<_> = (0..SOCKETS_MAX)
            .map(|_| relayed.open_socket().unwrap())
            .collect();
        let refused = again.open_socket().unwrap_err();
        assert_eq!(
            (refused.status().as_u16(), refused.code()),
            (503, "overloaded")
        );
        open.pop();
        assert!(again.open_socket().is_ok());
    }
}
