//! The ports of this machine, and their clients: one each, and one of those that need the probe.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow};
use bridge::serial::Codec;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::super::patience::tell;
use super::super::server::Failed;
use super::address::Address;
use super::bench::{Bench, Wiring};
use super::line::{self, Position};
use super::over::Ending;
use super::stream::Ended;
use super::{debugger, probe};

/// Pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Time for who has a place to leave it: a tool that was just ended lets go of a pod a moment later.
const LEAVE_WAIT: Duration = Duration::from_secs(2);

/// Time for a client that is sent away to read why, and bytes of it that are read at once meanwhile.
pub(super) const DISMISS_WAIT: Duration = Duration::from_secs(1);
pub(super) const DISMISS_BYTES: usize = 1024;

/// Connections of one port that are served, leave, or wait for that.
const CLIENTS_MAX: usize = 8;

/// What a port speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Port {
    Dap,
    Gdb,
    Uart,
    Rfc2217,
}

/// What all clients share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) bench: Arc<Bench>,
    pub(super) lease: Arc<str>,
    pub(super) wiring: Arc<Wiring>,
    pub(super) ending: Ending,
    /// Somebody suspects that the server is gone.
    pub(super) doubt: Arc<Notify>,
    probe: Arc<Probe>,
}

/// The probe is one, and so is who uses it.
struct Probe {
    seat: Arc<Semaphore>,
    /// Who has it, or had it last.
    user: Mutex<Port>,
}

/// Ports that are listened on.
pub(super) struct Ports(Vec<(Port, TcpListener, SocketAddr)>);

impl Port {
    /// The option that asks for it, without dashes.
    fn name(self) -> &'static str {
        match self {
            Self::Dap => "dap",
            Self::Gdb => "gdb",
            Self::Uart => "uart",
            Self::Rfc2217 => "rfc2217",
        }
    }

    /// What to type for it.
    fn advice(self, at: SocketAddr) -> String {
        let (host, port) = (at.ip(), at.port());
        match self {
            Self::Dap => format!(
                "openocd -c 'adapter driver cmsis-dap' -c 'cmsis-dap backend tcp' -c 'cmsis-dap tcp host {host}' \
                 -c 'cmsis-dap tcp port {port}' -c 'transport select swd' -f target/CHIP.cfg"
            ),
            Self::Gdb => {
                format!(
                    "gdb-multiarch -ex 'set remotetimeout 30' -ex 'target extended-remote {at}'"
                )
            }
            Self::Uart => format!("nc {host} {port}; in pyserial socket://{at}"),
            Self::Rfc2217 => format!("pyserial-miniterm rfc2217://{at}"),
        }
    }

    /// The variable in which a command finds it.
    fn variable(self) -> &'static str {
        match self {
            Self::Dap => "HOSTD_DAP",
            Self::Gdb => "HOSTD_GDB",
            Self::Uart => "HOSTD_UART",
            Self::Rfc2217 => "HOSTD_RFC2217",
        }
    }

    /// What tells a client why it is not served, where the protocol has something for that.
    pub(super) fn refusal(self, why: &str) -> Option<Vec<u8>> {
        match self {
            Self::Uart | Self::Rfc2217 => Some(format!("hostd: {why}\r\n").into_bytes()),
            Self::Gdb => Some(bridge::gdb::refusal(&format!("hostd: {why}"))),
            Self::Dap => None,
        }
    }
}

impl Shared {
    pub(super) fn new(bench: Arc<Bench>, lease: String, wiring: Wiring, ending: Ending) -> Self {
        Self {
            bench,
            lease: lease.into(),
            wiring: Arc::new(wiring),
            ending,
            doubt: Arc::default(),
            probe: Arc::new(Probe {
                seat: Arc::new(Semaphore::new(1)),
                user: Mutex::new(Port::Dap),
            }),
        }
    }

    /// The probe, as long as the permit lives.
    async fn claim(&self, port: Port) -> Result<OwnedSemaphorePermit, Failed> {
        let claimed = tokio::time::timeout(LEAVE_WAIT, self.probe.seat.clone().acquire_owned());
        let claimed = claimed.await;
        let mut user = self
            .probe
            .user
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Ok(Ok(permit)) = claimed {
            *user = port;
            return Ok(permit);
        }
        let user = user.name();
        Err(Failed::Here(anyhow!(
            "use the debug probe: a client of --{user} has it; one of the two at a time"
        )))
    }
}

impl Ports {
    /// # Errors
    /// A port is taken, or an address is not of this machine.
    pub(super) async fn listen(wanted: &[(Port, Address)]) -> anyhow::Result<Self> {
        let mut ports = Vec::new();
        for (port, address) in wanted {
            let listen = || format!("listen on {address} for --{}", port.name());
            let listener = TcpListener::bind(address.0).await.with_context(listen)?;
            let at = listener.local_addr().with_context(listen)?;
            ports.push((*port, listener, at));
        }
        Ok(Self(ports))
    }

    /// What is where, and how it is used.
    pub(super) fn table(&self) -> String {
        let mut table = String::new();
        for (port, _, at) in &self.0 {
            let address = at.to_string();
            // A string takes everything.
            let _ = writeln!(
                table,
                "  {:<8} {address:<21} {}",
                port.name(),
                port.advice(reachable(*at))
            );
        }
        table.push_str("Ctrl-C ends it.");
        table
    }

    /// The environment of a command.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let all = self.0.iter();
        all.map(|(port, _, at)| (port.variable(), reachable(*at).to_string()))
            .collect()
    }

    /// Serves all clients until everything is over; then they are cut off.
    pub(super) async fn serve(self, shared: Shared) {
        let mut all = JoinSet::new();
        for (port, listener, _) in self.0 {
            all.spawn(accept(port, listener, shared.clone()));
        }
        shared.ending.over().await;
        all.shutdown().await;
    }
}

/// The address by which this machine itself reaches a port.
fn reachable(mut at: SocketAddr) -> SocketAddr {
    if at.ip().is_unspecified() {
        at.set_ip(match at.ip() {
            IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    at
}

/// One client after the other; who comes meanwhile is sent away.
async fn accept(port: Port, listener: TcpListener, shared: Shared) {
    let seat = Arc::new(Semaphore::new(1));
    let position = Position::default();
    let mut clients = JoinSet::new();
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tell(&format!("{}: failed to accept a client: {error}", port.name()));
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            Some(_) = clients.join_next() => continue,
        };
        if clients.len() >= CLIENTS_MAX {
            if let Some(words) = sent_away(port, peer) {
                // Whether it arrives does not matter.
                let _ = stream.try_write(&words);
            }
            continue;
        }
        let (seat, shared, position) = (seat.clone(), shared.clone(), position.clone());
        clients.spawn(async move {
            let seat = tokio::time::timeout(LEAVE_WAIT, seat.acquire_owned()).await;
            let Ok(Ok(_seat)) = seat else {
                if let Some(words) = sent_away(port, peer) {
                    dismiss(stream, &words).await;
                }
                return;
            };
            let sentence = match attend(port, stream, &shared, &position).await {
                Ok(Ended(why)) if why.is_empty() => return,
                Ok(Ended(why)) => why,
                Err(failed) => format!("failed to {failed}"),
            };
            tell(&format!(
                "{}: the client at {peer}: {sentence}",
                port.name()
            ));
        });
    }
}

/// Says here that a client is sent away; returns what says it to the client.
fn sent_away(port: Port, peer: SocketAddr) -> Option<Vec<u8>> {
    let sentence = "there is a client already, and room for no other";
    tell(&format!("{}: sent away {peer}: {sentence}", port.name()));
    port.refusal(sentence)
}

/// Sends its last words to a client, and waits a moment until it has read them: closed at once, with bytes that were not read
/// here, the connection would take them along.
async fn dismiss(mut stream: TcpStream, words: &[u8]) {
    let said = async {
        stream.write_all(words).await?;
        stream.shutdown().await?;
        let mut heard = [0; DISMISS_BYTES];
        while stream.read(&mut heard).await? > 0 {}
        io::Result::Ok(())
    };
    // Whether they arrive does not matter.
    let _ = tokio::time::timeout(DISMISS_WAIT, said).await;
}

/// Serves one client to its end.
async fn attend(
    port: Port,
    stream: TcpStream,
    shared: &Shared,
    position: &Position,
) -> Result<Ended, Failed> {
    let nodelay = stream.set_nodelay(true).context("serve a client");
    nodelay.map_err(Failed::Here)?;
    match port {
        Port::Dap => {
            let _claim = shared.claim(port).await?;
            let (near, far) = probe::open(shared).await?;
            let (served, ended) = tokio::join!(bridge::dap::serve(stream, near), far.carry(shared));
            Ok(match served {
                Err(error) if !is_gone(&error) => Ended(error.to_string()),
                _ => ended,
            })
        }
        Port::Gdb => match begin_to_debug(shared).await {
            Ok((_claim, near, far)) => debugger::serve(stream, near, far, shared).await,
            Err(failed) => {
                if let Some(words) = port.refusal(&format!("failed to {failed}")) {
                    dismiss(stream, &words).await;
                }
                Err(failed)
            }
        },
        Port::Uart | Port::Rfc2217 => {
            let (line, far) = line::open(shared, position).await?;
            let codec = match port {
                Port::Rfc2217 => {
                    let signature = format!("hostd {}", shared.bench.name());
                    Codec::rfc2217(line.baud, line.parity, &signature)
                }
                _ => Codec::raw(),
            };
            let (served, ended) = tokio::join!(
                bridge::serial::serve(stream, line, codec),
                far.carry(shared)
            );
            Ok(match served {
                Ok(served) if served.lost_bytes > 0 => {
                    let count = served.lost_bytes;
                    Ended(format!("it was too slow for {count} bytes of the target"))
                }
                _ => ended,
            })
        }
    }
}

/// The probe for GDB, and a session with it.
async fn begin_to_debug(
    shared: &Shared,
) -> Result<(OwnedSemaphorePermit, DuplexStream, probe::Far), Failed> {
    let claim = shared.claim(Port::Gdb).await?;
    let (near, far) = probe::open(shared).await?;
    Ok((claim, near, far))
}

/// Clients may go as they like.
fn is_gone(error: &bridge::dap::DapError) -> bool {
    matches!(error, bridge::dap::DapError::Io(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_table_says_what_to_type() {
        let any: Address = "0.0.0.0:0".parse().unwrap();
        let here: Address = "0".parse().unwrap();
        let ports = Ports::listen(&[(Port::Dap, any), (Port::Rfc2217, here)])
            .await
            .unwrap();
        let (dap, serial) = (ports.0[0].2.port(), ports.0[1].2.port());
        let table = ports.table();
        for part in [
            format!("  dap      0.0.0.0:{dap}"),
            format!("-c 'cmsis-dap tcp host 127.0.0.1' -c 'cmsis-dap tcp port {dap}'"),
            format!("rfc2217://127.0.0.1:{serial}\n"),
        ] {
            assert!(table.contains(&part), "{part}: {table}");
        }
        let variables = [
            ("HOSTD_DAP", format!("127.0.0.1:{dap}")),
            ("HOSTD_RFC2217", format!("127.0.0.1:{serial}")),
        ];
        assert_eq!(ports.variables(), variables);
        let taken: Address = serial.to_string().parse().unwrap();
        let error = Ports::listen(&[(Port::Gdb, taken)]).await.err().unwrap();
        let sentence = format!("listen on 127.0.0.1:{serial} for --gdb");
        assert!(format!("{error:#}").starts_with(&sentence), "{error:#}");
    }
}
