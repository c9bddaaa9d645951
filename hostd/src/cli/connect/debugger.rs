//! A GDB and the core that it looks at: the debug library on one side, the remote protocol on the other.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use bridge::gdb::{self, DebugError, Flash, Register, Wire};
use flash::{DapLink, DebugFailure, Debugger, LinkError, Stop, Wish};
use pods::protocol::dap_frame::{self, DapFrames};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::super::patience::tell;
use super::super::server::Failed;
use super::ports::{DISMISS_BYTES, DISMISS_WAIT, Port, Shared};
use super::probe;
use super::stream::Ended;

/// Time for one exchange with the probe, over a network.
const EXCHANGE_WAIT: Duration = Duration::from_secs(15);

/// Time for GDB to take an answer.
const WRITE_WAIT: Duration = Duration::from_secs(30);

/// Bytes read from the tunnel at once.
const READ_BYTES: usize = 4 << 10;

/// Serves one GDB to its end, with a session with the probe that has begun.
///
/// # Errors
/// There is no debug session with the target.
pub(super) async fn serve(
    stream: tokio::net::TcpStream,
    near: DuplexStream,
    far: probe::Far,
    shared: &Shared,
) -> Result<Ended, Failed> {
    let stream = stream.into_std().and_then(|stream| {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(WRITE_WAIT))?;
        Ok(stream)
    });
    let stream = stream.context("serve GDB").map_err(Failed::Here)?;
    let stop = Stop::new();
    let cut = Cut {
        stream: stream
            .try_clone()
            .context("serve GDB")
            .map_err(Failed::Here)?,
        stop: stop.clone(),
    };
    let link = Link {
        stream: near,
        frames: DapFrames::default(),
        runtime: Handle::current(),
    };
    let wish = Wish::new(shared.wiring.chip.clone().unwrap_or_default());
    let debug = tokio::task::spawn_blocking(move || debug(stream, link, &wish, &stop));
    let debug = async {
        let debugged = debug
            .await
            .unwrap_or_else(|panic| Err(anyhow!("serve GDB: {panic}")));
        drop(cut);
        debugged
    };
    let (debugged, ended) = tokio::join!(debug, far.carry(shared));
    match debugged {
        Ok(()) => Ok(ended),
        // What became of the tunnel says more.
        Err(_) if !ended.0.is_empty() => Ok(ended),
        Err(error) => Err(Failed::Lost(error)),
    }
}

/// The whole session, on a thread of its own.
fn debug(mut stream: TcpStream, link: Link, wish: &Wish, stop: &Stop) -> anyhow::Result<()> {
    let mut target = match attach(link, wish, stop) {
        Ok(target) => target,
        Err(error) => {
            // Whether it arrives does not matter.
            let _ = dismiss(&mut stream, &format!("failed to {error:#}"));
            return Err(error);
        }
    };
    gdb::serve(&mut Client(stream), &mut target).context("debug")?;
    Ok(())
}

fn attach(link: Link, wish: &Wish, stop: &Stop) -> anyhow::Result<Target> {
    let mut debugger = Debugger::attach(link, wish, stop).context("begin to debug")?;
    tell(&format!("gdb: debugging {}", debugger.chip()));
    let parts = debugger.flash().iter();
    let flash = parts.map(|(range, sector_bytes)| Flash {
        range: range.clone(),
        sector_bytes: *sector_bytes,
    });
    Ok(Target {
        flash: flash.collect(),
        has_fpu: debugger.has_fpu().context("look at the core")?,
        watchpoints: debugger.watchpoints().context("look at the core")?,
        debugger,
    })
}

/// Says to GDB why it is not served, and waits a moment until it has read that.
fn dismiss(stream: &mut TcpStream, why: &str) -> io::Result<()> {
    let Some(words) = Port::Gdb.refusal(why) else {
        return Ok(());
    };
    stream.write_all(&words)?;
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(DISMISS_WAIT))?;
    let until = Instant::now() + DISMISS_WAIT;
    let mut heard = [0; DISMISS_BYTES];
    while stream.read(&mut heard)? > 0 && Instant::now() < until {}
    Ok(())
}

/// Ends the thread when the client is no longer served.
struct Cut {
    stream: TcpStream,
    stop: Stop,
}

impl Drop for Cut {
    fn drop(&mut self) {
        self.stop.cancel();
        // Closed already is fine.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// GDB's connection.
struct Client(TcpStream);

impl Wire for Client {
    fn read(&mut self, into: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        self.0.set_read_timeout(Some(wait))?;
        match self.0.read(into) {
            Ok(count) => Ok(Some(count)),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error),
            },
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

/// The tunnel, for a thread that blocks.
struct Link {
    stream: DuplexStream,
    frames: DapFrames,
    runtime: Handle,
}

impl Link {
    async fn send_and_hear(
        stream: &mut DuplexStream,
        frames: &mut DapFrames,
        packets: &[Vec<u8>],
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        for packet in packets {
            stream.write_all(&dap_frame::encode(packet)?).await?;
        }
        let mut answers = Vec::with_capacity(packets.len());
        let mut bytes = vec![0; READ_BYTES];
        while answers.len() < packets.len() {
            if let Some(answer) = frames.next_packet()? {
                answers.push(answer);
                continue;
            }
            match timeout(EXCHANGE_WAIT, stream.read(&mut bytes)).await? {
                Ok(count @ 1..) => frames.push(&bytes[..count]),
                Ok(0) => return Err(anyhow!("the tunnel to the probe has ended")),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(answers)
    }
}

impl DapLink for Link {
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        let mut answers = self.exchange_all(&[packet.to_vec()])?;
        let none = || LinkError::lost("the probe did not answer");
        answers.pop().ok_or_else(none)
    }

    fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LinkError> {
        let exchanged = Self::send_and_hear(&mut self.stream, &mut self.frames, packets);
        self.runtime.block_on(exchanged).map_err(LinkError::lost)
    }
}

/// The library's session, as the protocol asks for it.
struct Target {
    debugger: Debugger,
    flash: Vec<Flash>,
    has_fpu: bool,
    watchpoints: usize,
}

/// A watchpoint in the words of the protocol.
fn hit_watchpoint(hit: flash::Watchpoint) -> gdb::Watchpoint {
    gdb::Watchpoint {
        address: hit.address,
        bytes: hit.bytes,
        access: match hit.access {
            flash::Access::Read => gdb::Access::Read,
            flash::Access::Write => gdb::Access::Write,
            flash::Access::Any => gdb::Access::Any,
        },
    }
}

/// A watchpoint in the words of the library.
fn watchpoint(asked: gdb::Watchpoint) -> flash::Watchpoint {
    flash::Watchpoint {
        address: asked.address,
        bytes: asked.bytes,
        access: match asked.access {
            gdb::Access::Read => flash::Access::Read,
            gdb::Access::Write => flash::Access::Write,
            gdb::Access::Any => flash::Access::Any,
        },
    }
}

fn told(failure: DebugFailure) -> DebugError {
    match failure {
        DebugFailure::Refused(why) => DebugError::Refused(why),
        DebugFailure::Lost(why) => DebugError::Lost(why),
    }
}

impl gdb::Debugger for Target {
    fn flash(&self) -> &[Flash] {
        &self.flash
    }

    fn has_fpu(&self) -> bool {
        self.has_fpu
    }

    fn halt(&mut self) -> Result<(), DebugError> {
        self.debugger.halt().map_err(told)
    }

    fn run(&mut self) -> Result<(), DebugError> {
        self.debugger.run().map_err(told)
    }

    fn step(&mut self) -> Result<(), DebugError> {
        self.debugger.step().map_err(told)
    }

    fn is_halted(&mut self) -> Result<bool, DebugError> {
        self.debugger.is_halted().map_err(told)
    }

    fn reset(&mut self, halt: bool) -> Result<(), DebugError> {
        self.debugger.reset(halt).map_err(told)
    }

    fn register(&mut self, register: Register) -> Result<u32, DebugError> {
        self.debugger.register(register.0).map_err(told)
    }

    fn set_register(&mut self, register: Register, value: u32) -> Result<(), DebugError> {
        self.debugger.set_register(register.0, value).map_err(told)
    }

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), DebugError> {
        self.debugger.read(address, into).map_err(told)
    }

    fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), DebugError> {
        self.debugger.write(address, bytes).map_err(told)
    }

    fn set_breakpoint(&mut self, address: u32) -> Result<(), DebugError> {
        self.debugger.set_breakpoint(address).map_err(told)
    }

    fn clear_breakpoint(&mut self, address: u32) -> Result<(), DebugError> {
        self.debugger.clear_breakpoint(address).map_err(told)
    }

    fn watchpoints(&self) -> usize {
        self.watchpoints
    }

    fn set_watchpoint(&mut self, asked: gdb::Watchpoint) -> Result<(), DebugError> {
        let set = self.debugger.set_watchpoint(watchpoint(asked));
        set.map_err(told)
    }

    fn clear_watchpoint(&mut self, asked: gdb::Watchpoint) -> Result<(), DebugError> {
        let cleared = self.debugger.clear_watchpoint(watchpoint(asked));
        cleared.map_err(told)
    }

    fn take_hit(&mut self) -> Result<Option<gdb::Watchpoint>, DebugError> {
        let hit = self.debugger.take_hit().map_err(told)?;
        Ok(hit.map(hit_watchpoint))
    }

    fn program(&mut self, segments: &[(u32, Vec<u8>)]) -> Result<(), DebugError> {
        self.debugger.program(segments).map_err(told)
    }
}
