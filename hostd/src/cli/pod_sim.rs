//! `hostd pod-sim`: one simulated pod on a TCP port, for software that expects a real one.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use pod_sim::{
    Board, Ending, FAULT_FORMS, Fault, Playback, SLOW_SWD_DELAY, SimConfig, SimPod, TargetConfig,
    TargetPart, parse_time,
};
use pods::protocol::LA_CHANNELS;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use usb_sim::Attached;

mod console;
mod dialling;
mod play;

use console::Terminal;
use dialling::Dialling;
use play::Play;

/// Network connections that a pod serves at once.
pub const CONNECTIONS_MAX: usize = 5;

/// How long one more connection waits for a permit before it is closed: a client that has just
/// closed a connection finds the next one open, a client that keeps six learns so at once.
pub(crate) const PERMIT_WAIT: Duration = Duration::from_millis(500);

/// Pause after a failed accept, since the cause (no more file descriptors) does not go away at
/// once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// First byte of a client's first command. Anything else is SCPI, which real pods speak on the same
/// port and simulated ones do not.
const COMMAND_START: u8 = b'{';

/// What stands below the options.
fn faults_help() -> String {
    format!("Faults:\n{FAULT_FORMS}")
}

/// Arguments of the verb.
#[derive(Debug, Args)]
#[command(after_help = faults_help())]
pub struct PodSim {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// Address and port to offer TLS on as well, with a certificate that follows from the seed;
    /// port 0 picks a free one
    #[arg(long, value_name = "ADDR")]
    tls: Option<String>,
    /// Board: v2, v3 or digital
    #[arg(long, value_name = "BOARD", default_value = "v3", value_parser = board)]
    board: Board,
    /// Where the pod's identity and noise come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Play channels of a recording on logic-analyzer channels, over and over: bus.sr:SCL=1,SDA=2
    #[arg(long, value_name = "FILE.sr:CHANNEL=LA,...")]
    play: Option<Play>,
    /// Play it once only; then its last levels hold
    #[arg(long, requires = "play")]
    play_once: bool,
    /// Begin to play so long after the start, such as 2s; until then its first levels hold
    #[arg(long, value_name = "TIME", requires = "play", value_parser = parse_time)]
    play_after: Option<Duration>,
    /// Wire two logic-analyzer channels together (repeatable): 3=4
    #[arg(long, value_name = "LA=LA", value_parser = jumper)]
    jumper: Vec<(u8, u8)>,
    /// Wire this logic-analyzer channel to the pod's reset line
    #[arg(long, value_name = "LA", value_parser = channel)]
    nrst_la: Option<u8>,
    /// Wire a NOR flash to these logic-analyzer channels: SCK,MOSI,MISO,CS
    #[arg(long, value_name = "SCK,MOSI,MISO,CS", value_parser = four_channels)]
    spi: Option<[u8; 4]>,
    /// Put a simulated microcontroller on the bench: "demo" runs the application that comes with it, "blank"
    /// has an erased flash, "locked" the demo under read protection, a PART runs its demo, anything else is an
    /// ELF file
    #[arg(long, value_name = "demo|blank|locked|PART|FILE.elf", num_args = 0..=1, default_missing_value = "demo")]
    target: Option<String>,
    /// Which microcontroller it is: STM32F030R8 (64 KiB of flash), STM32F030RC (256 KiB), or STM32F446RE
    /// (Cortex-M4, 512 KiB)
    #[arg(long, requires = "target", value_name = "NAME", value_parser = part)]
    target_part: Option<TargetPart>,
    /// A half word of its flash that stays erased whatever is programmed: 0x08000400
    #[arg(long, requires = "target", value_name = "ADDRESS", value_parser = address)]
    target_worn: Option<u32>,
    /// The target's debug port answers only 2.1 s after power-on, as boards do whose own probe is first
    #[arg(long, requires = "target")]
    slow_swd: bool,
    /// Let something go wrong (repeatable): unplug@5s:2s; the forms are below
    #[arg(long, value_name = "FAULT")]
    fault: Vec<Fault>,
    /// Offer the text console of the pod's USB port on a pseudo-terminal, and make LINK point to it
    #[arg(long, value_name = "LINK", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "an option whose value is optional")]
    usb_console: Option<Option<PathBuf>>,
    /// Plug the pod into this machine's virtual USB controller as well, for every program to find; takes root and the
    /// kernel module vhci-hcd
    #[arg(long)]
    usb: bool,
    #[command(flatten)]
    dialling: Dialling,
    /// Write {"address","tls","console"} to this file once connections are accepted
    #[arg(long, value_name = "PATH")]
    ready_file: Option<PathBuf>,
}

fn board(name: &str) -> Result<Board, String> {
    Board::from_name(name).ok_or_else(|| "the boards are v2, v3 and digital".to_owned())
}

fn part(name: &str) -> Result<TargetPart, String> {
    TargetPart::named(name).ok_or_else(|| {
        let names: Vec<&str> = TargetPart::names().collect();
        format!("the microcontrollers are {}", names.join(", "))
    })
}

fn address(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x").ok_or("it must be 0x…")?;
    u32::from_str_radix(digits, 16).map_err(|_| "it must be an address of 32 bits".to_owned())
}

fn channel(text: &str) -> Result<u8, String> {
    let number = text.strip_prefix("LA").unwrap_or(text).parse();
    match number {
        Ok(la) if (1..=LA_CHANNELS).contains(&la) => Ok(la),
        _ => Err(format!("the channels are 1 to {LA_CHANNELS}")),
    }
}

fn jumper(text: &str) -> Result<(u8, u8), String> {
    let (one, other) = text.split_once('=').ok_or("it must be LA=LA")?;
    let (one, other) = (channel(one)?, channel(other)?);
    if one == other {
        return Err("a jumper joins two different channels".to_owned());
    }
    Ok((one, other))
}

fn four_channels(text: &str) -> Result<[u8; 4], String> {
    let channels = text
        .split(',')
        .map(channel)
        .collect::<Result<Vec<_>, _>>()?;
    let wired = <[u8; 4]>::try_from(channels).map_err(|_| "it must be SCK,MOSI,MISO,CS")?;
    let distinct: BTreeSet<u8> = wired.into_iter().collect();
    if distinct.len() < wired.len() {
        return Err("each of the four is a channel of its own".to_owned());
    }
    Ok(wired)
}

impl PodSim {
    /// Serve until SIGINT or SIGTERM.
    ///
    /// # Errors
    /// An address that cannot be listened on, or a recording that cannot be played.
    pub fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let config = SimConfig {
            seed: self.seed,
            board: self.board,
            playback: self.playback()?,
            jumpers: self.jumper.clone(),
            nrst_la: self.nrst_la,
            spi_flash: self.spi,
            target: self.target()?,
            faults: self.fault.clone(),
            ..SimConfig::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("start the async runtime")?;
        runtime.block_on(self.serve(config, out))
    }

    async fn serve(&self, config: SimConfig, out: &mut impl Write) -> anyhow::Result<()> {
        let stop = crate::serve::stop_signal().context("listen for signals")?;
        let listener = listen(&self.listen).await?;
        let address = listener.local_addr().context("read the listen address")?;
        let tls = match &self.tls {
            Some(tls) => Some(listen(tls).await?),
            None => None,
        };
        let tls_address = tls.as_ref().map(TcpListener::local_addr).transpose();
        let tls_address = tls_address.context("read the listen address of TLS")?;
        let tls_port = tls_address.map_or(config.tls_port, |address| address.port());
        let pod = SimPod::new(SimConfig { tls_port, ..config });
        let trust = self.dialling.trust()?;
        if let Some(dial) = self.dialling.dial()? {
            pod.set_dial(dial);
        }
        let console = self.open_console()?;
        let console_path = console.as_ref().map(|console| console.path().to_owned());
        // Whatever started this process may not read what it prints.
        let _ = writeln!(out, "listening on {address}").and_then(|()| out.flush());
        if let Some(address) = tls_address {
            let _ = writeln!(out, "TLS on {address}").and_then(|()| out.flush());
        }
        if let Some(path) = &console_path {
            let _ = writeln!(out, "console on {}", path.display()).and_then(|()| out.flush());
        }
        let plugged = self
            .usb
            .then(|| Attached::new(pod.plug()))
            .transpose()
            .context("plug the pod into USB")?;
        if let Some(plugged) = &plugged {
            let port = plugged.port();
            let _ = writeln!(out, "on port {port} of the virtual USB controller")
                .and_then(|()| out.flush());
        }
        if let Some(path) = &self.ready_file {
            write_ready_file(path, address, tls_address, console_path.as_deref())
                .with_context(|| format!("write {}", path.display()))?;
        }
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let (mut connections, mut secured) = (JoinSet::new(), JoinSet::new());
        if let Some(console) = console {
            let pod = pod.clone();
            connections.spawn(async move { pod.console(console).await });
        }
        tokio::select! {
            () = accept(&listener, &pod, Door::Plain, &permits, &mut connections) => {}
            () = accept_tls(tls.as_ref(), &pod, &permits, &mut secured) => {}
            () = pod.dial(&trust) => {}
            () = stop => {}
        }
        // Clients see their connection end, as when a real pod is unplugged.
        drop(plugged);
        pod.set_plugged(false);
        connections.shutdown().await;
        secured.shutdown().await;
        Ok(())
    }
}

impl PodSim {
    fn playback(&self) -> anyhow::Result<Option<Playback>> {
        let Some(play) = &self.play else {
            return Ok(None);
        };
        let playback = play
            .load()?
            .starting_after(self.play_after.unwrap_or_default());
        Ok(Some(if self.play_once {
            playback.once()
        } else {
            playback
        }))
    }

    fn target(&self) -> anyhow::Result<Option<TargetConfig>> {
        let Some(asked) = self.target.as_deref() else {
            return Ok(None);
        };
        let named = TargetPart::named(asked);
        let blank = TargetConfig::blank();
        let part = self.target_part.or(named).unwrap_or(blank.part);
        let target = match asked {
            "demo" => TargetConfig::demo(),
            "blank" => blank,
            "locked" => TargetConfig::locked(),
            _ if named.is_some() => TargetConfig::demo(),
            path => {
                let elf = std::fs::read(path).with_context(|| format!("read {path}"))?;
                TargetConfig::flashed(part, &elf)
                    .with_context(|| format!("put {path} on the target"))?
            }
        };
        let mut target = TargetConfig { part, ..target };
        target.worn = self.target_worn;
        if self.slow_swd {
            target.swd_delay = SLOW_SWD_DELAY;
        }
        Ok(Some(target))
    }

    fn open_console(&self) -> anyhow::Result<Option<Terminal>> {
        let Some(link) = &self.usb_console else {
            return Ok(None);
        };
        let console = Terminal::open(link.as_deref()).context("open the USB console")?;
        Ok(Some(console))
    }
}

async fn listen(address: &str) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    listener.with_context(|| format!("listen on {address}"))
}

/// What a listener speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Plain,
    Tls,
}

/// Accepts TLS connections forever, if there is a listener for them.
async fn accept_tls(
    listener: Option<&TcpListener>,
    pod: &Arc<SimPod>,
    permits: &Arc<Semaphore>,
    connections: &mut JoinSet<()>,
) {
    match listener {
        Some(listener) => accept(listener, pod, Door::Tls, permits, connections).await,
        None => std::future::pending().await,
    }
}

/// Accepts connections forever.
async fn accept(
    listener: &TcpListener,
    pod: &Arc<SimPod>,
    door: Door,
    permits: &Arc<Semaphore>,
    connections: &mut JoinSet<()>,
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let Ok(permit) = timeout(PERMIT_WAIT, permits.clone().acquire_owned()).await else {
            continue;
        };
        let pod = pod.clone();
        connections.spawn(async move {
            serve(&pod, stream, door).await;
            drop(permit);
        });
    }
}

/// Serves a connection and ends it the way the pod asks.
async fn serve(pod: &SimPod, mut stream: TcpStream, door: Door) {
    // A reply is one small segment that the client waits for.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let ending = match door {
        Door::Plain if !speaks_commands(&stream).await => return,
        Door::Plain => pod.serve(&mut stream).await,
        Door::Tls => pod.serve_tls(&mut stream).await,
    };
    if ending == Ending::Reset {
        // Without it the connection closes normally, which is the best that remains.
        let _ = stream.set_zero_linger();
    }
}

/// Whether the client's first byte begins a command. Consumes nothing from the stream.
async fn speaks_commands(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1) if first[0] == COMMAND_START)
}

/// Write `{"address"}`, with `tls` and `console` if there are any, in one step, so that a reader
/// never sees half of it.
fn write_ready_file(
    path: &Path,
    address: SocketAddr,
    tls: Option<SocketAddr>,
    console: Option<&Path>,
) -> std::io::Result<()> {
    let mut part = path.to_owned().into_os_string();
    part.push(".part");
    let mut content = serde_json::json!({"address": address.to_string()});
    if let Some(tls) = tls {
        content["tls"] = tls.to_string().into();
    }
    if let Some(console) = console {
        content["console"] = console.to_string_lossy().into();
    }
    std::fs::write(&part, format!("{content}\n"))?;
    std::fs::rename(&part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_between_channels_that_exist() {
        assert_eq!(channel("14"), Ok(14));
        assert_eq!(channel("LA1"), Ok(1));
        for bad in ["0", "15", "-1", "x", ""] {
            assert!(channel(bad).is_err(), "{bad}");
        }
        assert_eq!(jumper("3=LA4"), Ok((3, 4)));
        for bad in ["3", "3=", "3=3", "3=15", "=4"] {
            assert!(jumper(bad).is_err(), "{bad}");
        }
        assert_eq!(four_channels("5,6,7,LA8"), Ok([5, 6, 7, 8]));
        for bad in ["5,6,7", "5,6,7,8,9", "5,6,7,7", "5,6,7,15"] {
            assert!(four_channels(bad).is_err(), "{bad}");
        }
    }
}
