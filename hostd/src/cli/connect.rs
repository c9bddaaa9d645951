//! `hostd connect`: stock tools on this machine, a device of a server, and the device's lease for as long as that lasts.
//!
//! ```text
//!   OpenOCD ── --dap ──┐                      ┌── tunnel to the pod's debug probe
//!   GDB ────── --gdb ──┤ one client each      │
//!                      ├── hostd connect ─────┤      the server, under the lease
//!   terminal ─ --uart ─┤                      │
//!   pyserial ─ --rfc2217                      └── the device's UART
//! ```
//!
//! Whatever ends it ends all listeners and connections at once: Ctrl-C, the lease, the server, the device.

mod address;
mod bench;
mod child;
mod debugger;
mod keeper;
mod line;
mod over;
mod ports;
mod probe;
mod stream;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use pipeline::parse_time;
use tokio::task::JoinSet;

use super::patience::tell;
use super::server::{Failed, KEY, Server, URL_DEFAULT};
use address::Address;
use bench::{Bench, Held};
use over::{Ending, Over};
use ports::{Port, Ports, Shared};

/// Time for what is under way to end by itself.
const END_WAIT: Duration = Duration::from_secs(2);

/// Let stock tools reach a device.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("bridges").required(true).multiple(true))]
pub struct Connect {
    /// Name or id of the device
    #[arg(env = "HOSTD_DEVICE")]
    device: String,
    /// Address of the server, such as `https://bench.example`
    #[arg(long, env = "HOSTD_URL", value_name = "URL", default_value = URL_DEFAULT)]
    url: String,
    /// PEM file of the certificate authorities to trust, in place of the public ones
    #[arg(long, env = "HOSTD_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Serve GDB on this port, of 127.0.0.1 if no address is given; port 0 picks a free one
    #[arg(long, value_name = "[ADDR:]PORT", group = "bridges")]
    gdb: Option<Address>,
    /// Serve the debug probe, as OpenOCD's `cmsis-dap backend tcp` wants it
    #[arg(long, value_name = "[ADDR:]PORT", group = "bridges")]
    dap: Option<Address>,
    /// Serve the target's UART as raw bytes
    #[arg(long, value_name = "[ADDR:]PORT", group = "bridges")]
    uart: Option<Address>,
    /// Serve the target's UART as a serial port over Telnet (RFC 2217)
    #[arg(long, value_name = "[ADDR:]PORT", group = "bridges")]
    rfc2217: Option<Address>,
    /// Bits per second of the UART, as the device is wired if left out; clients of --rfc2217 set their own
    #[arg(long, value_name = "RATE")]
    baud: Option<u32>,
    /// Logic-analyzer channel that listens to the target; as the device is wired if left out
    #[arg(long, value_name = "LA")]
    rx: Option<u8>,
    /// Channel that talks to it
    #[arg(long, value_name = "LA")]
    tx: Option<u8>,
    /// Channel of SWCLK
    #[arg(long, value_name = "LA")]
    swclk: Option<u8>,
    /// Channel of SWDIO
    #[arg(long, value_name = "LA")]
    swdio: Option<u8>,
    /// Rail that powers the target, switched on at the beginning; 0 leaves the power alone
    #[arg(long, value_name = "RAIL")]
    efuse: Option<u8>,
    /// Chip or series for --gdb, such as STM32F030C8 or target/stm32f0x.cfg; as the device is wired if left out
    #[arg(long, value_name = "NAME")]
    chip: Option<String>,
    /// Use a lease that is held already, and do not give it back; its target's power is left alone
    #[arg(long, value_name = "ID", conflicts_with = "wait")]
    lease: Option<String>,
    /// Wait in line so long for a device that somebody else has, such as 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    wait: Option<Duration>,
    /// Run a command with the bridges up, and end as it ends; its environment has their addresses
    #[arg(long, requires = "command")]
    exec: bool,
    /// The command of --exec
    #[arg(last = true, value_name = "COMMAND", requires = "exec")]
    command: Vec<String>,
}

impl Connect {
    /// Serve until something ends it.
    ///
    /// # Errors
    /// The async runtime does not start.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("start the async runtime")?;
        let over = runtime.block_on(self.connect());
        // A thread that waits for a server that says nothing is left behind.
        runtime.shutdown_timeout(END_WAIT);
        Ok(over.tell())
    }

    async fn connect(self) -> Over {
        let ending = Ending::default();
        match self.hold(&ending).await {
            Ok(over) | Err(over) => over,
        }
    }

    /// Takes the device and serves until that is over.
    async fn hold(self, ending: &Ending) -> Result<Over, Over> {
        let stop = crate::serve::stop_signal().context("listen for signals");
        let stop = stop.map_err(|error| Over::Server(format!("{error:#}")))?;
        let on_signal = ending.clone();
        tokio::spawn(async move {
            stop.await;
            on_signal.end(Over::Stopped);
        });
        // Before anything is taken from others.
        let ports = Ports::listen(&self.wanted()).await.map_err(Over::asked)?;
        let key = env::var(KEY).with_context(|| format!("read the API key from {KEY}"));
        let server = key.and_then(|key| Server::new(&self.url, &key, self.ca.as_deref()));
        let server = server.map_err(Over::asked)?;
        let device = self.device.clone();
        let bench = ending
            .unless(blocking(move || Bench::find(server, &device)))
            .await?;
        let bench = Arc::new(bench.map_err(over)?);
        let wiring = {
            let bench = bench.clone();
            ending.unless(blocking(move || bench.wiring())).await?
        };
        let wiring = self.wired(wiring.map_err(over)?)?;
        let held = match &self.lease {
            Some(lease) => Held::borrow(&bench, lease, ending).await?,
            None => Held::take(&bench, self.wait, ending).await?,
        };
        let over = self.serve(&bench, &held, wiring, ports, ending).await;
        held.give_back(&bench, &over).await;
        Ok(over)
    }

    async fn serve(
        &self,
        bench: &Arc<Bench>,
        held: &Held,
        wiring: bench::Wiring,
        ports: Ports,
        ending: &Ending,
    ) -> Over {
        let prepared = {
            let (bench, lease, wiring) = (bench.clone(), held.lease().to_owned(), wiring.clone());
            blocking(move || bench.prepare(&lease, &wiring))
        };
        match ending.unless(prepared).await {
            Ok(Ok(())) => {}
            Ok(Err(failed)) => return over(failed),
            Err(over) => return over,
        }
        let shared = Shared::new(
            bench.clone(),
            held.lease().to_owned(),
            wiring,
            ending.clone(),
        );
        tell(&format!("{} is yours.\n{}", bench.name(), ports.table()));
        let variables = ports.variables();
        let mut work = JoinSet::new();
        work.spawn(keeper::keep(shared.clone()));
        work.spawn(ports.serve(shared));
        let over = match self.exec {
            true => child::run(&self.command, &variables, ending).await,
            false => ending.over().await,
        };
        ending.end(over.clone());
        work.shutdown().await;
        over
    }

    fn wanted(&self) -> Vec<(Port, Address)> {
        let all = [
            (Port::Dap, &self.dap),
            (Port::Gdb, &self.gdb),
            (Port::Uart, &self.uart),
            (Port::Rfc2217, &self.rfc2217),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(port, address)| Some((port, address.clone()?)))
            .collect()
    }

    /// What was asked for, and the device's own wiring where nothing was.
    fn wired(&self, wiring: bench::Wiring) -> Result<bench::Wiring, Over> {
        let chip = self.chip.clone().or(wiring.chip);
        if self.gdb.is_some() {
            let chip = chip.as_deref().ok_or_else(|| {
                Over::asked(anyhow!(
                    "know the target's chip: name it with --chip, or in the device's wiring (swd_target)"
                ))
            })?;
            flash::check_chip(chip).map_err(|error| Over::asked(anyhow!("serve GDB: {error}")))?;
        }
        let efuse = match (self.efuse, &self.lease) {
            (Some(0), _) | (None, Some(_)) => None,
            (Some(rail), _) => Some(rail),
            (None, None) => wiring.efuse,
        };
        Ok(bench::Wiring {
            chip,
            efuse,
            baud: self.baud,
            uart_rx: self.rx,
            uart_tx: self.tx,
            swclk: self.swclk.unwrap_or(wiring.swclk),
            swdio: self.swdio.unwrap_or(wiring.swdio),
            la_mv: wiring.la_mv,
        })
    }
}

/// A call that blocks, on a thread of its own.
async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, Failed> + Send + 'static,
) -> Result<T, Failed> {
    let done = tokio::task::spawn_blocking(call).await;
    done.unwrap_or_else(|panic| Err(Failed::Lost(anyhow!("go on: {panic}"))))
}

/// What a request that failed means for everything.
fn over(failed: Failed) -> Over {
    match failed {
        Failed::Stopped => Over::Stopped,
        Failed::Here(error) => Over::asked(error),
        Failed::Lost(error) => Over::Server(format!("{error:#}")),
        Failed::Refused(refusal) => match refusal.code() {
            "lease_held" | "lease_lost" => Over::Lease(refusal.to_string()),
            "device_offline" => Over::Device(refusal.to_string()),
            _ if refusal.is_asked() => Over::asked(anyhow!("{refusal}")),
            _ => Over::Server(refusal.to_string()),
        },
    }
}
