//! The socket `admin.sock` in the data folder, for requests that only the server's own user may
//! make. Only the server has the database open, so it must take the backup itself and carry out orders about keys and
//! people; and plugins are installed where they run.
//!
//! A request is one line of JSON; the answer is lines of JSON, the last with `done`, `told`, `end` or `error`.

use std::fs::{self, File, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tracing::{info, warn};

use base::private::{self, ROOT};

use crate::backup::{self, BackupError, Report};
use crate::operator::{Desk, Order};
use crate::plugin::Plugins;
use crate::plugin::command::{Command, Told};
use crate::services::Services;

/// Name of the socket in the data folder.
pub const NAME: &str = "admin.sock";

/// Concurrent connections. A request for a second backup is told that one is under way.
const CONNECTIONS_MAX: usize = 4;

/// Longest line of a request, in bytes: a path, what a plugin is granted and its configuration, or the value of a secret.
const LINE_BYTES_MAX: u64 = 512 << 10;

/// The longest secret fits, with each byte escaped as JSON has it (`\u0001`), beside its name and refs.
const _: () = assert!((*vault::VALUE_BYTES.end() as u64) * 6 + (64 << 10) < LINE_BYTES_MAX);

/// Longest answer to an order, in bytes: a hundred thousand rows of a list.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Longest piece of an answer that is sent as one line, in bytes, before it is JSON.
const PIECE_BYTES_MAX: usize = 32 << 10;

/// All lines of an answer together, in bytes: those of the longest, each byte escaped.
const LINES_BYTES_MAX: u64 = (ANSWER_BYTES_MAX as u64) * 8;

/// Timeout for a client that connects and sends no request, or reads no answer.
const CLIENT_WAIT: Duration = Duration::from_secs(5);

/// Interval between lines that say that work goes on.
const SIGN_EVERY: Duration = Duration::from_secs(5);

/// How long a client waits for a server that sends nothing.
const SERVER_WAIT: Duration = Duration::from_secs(60);

/// A request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    /// A backup to this folder.
    Backup(PathBuf),
    Plugin(Box<Command>),
    Order(Box<Order>),
}

/// A line of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Working,
    Done(Report),
    Told(Told),
    /// A piece of what an order prints; more lines follow.
    Text(String),
    End,
    Error(String),
}

/// The socket of a running server.
#[derive(Debug)]
pub struct Admin {
    services: Arc<Services>,
    plugins: Arc<Plugins>,
    data: PathBuf,
    stop: AtomicBool,
    /// Held while a backup is taken.
    backup: Arc<Semaphore>,
}

impl Admin {
    /// Listen in the data folder, whose database this process holds. The server works without the
    /// socket, so a failure is only logged.
    #[must_use]
    pub fn listen(data: &Path, services: Arc<Services>, plugins: Arc<Plugins>) -> Arc<Self> {
        let admin = Arc::new(Self {
            services,
            plugins,
            data: data.to_owned(),
            stop: AtomicBool::new(false),
            backup: Arc::new(Semaphore::new(1)),
        });
        match bind(data) {
            Ok(listener) => drop(tokio::spawn(serve(admin.clone(), listener))),
            Err(error) => warn!(
                %error,
                "failed to listen on {NAME}; backups and orders about keys and people need a stop"
            ),
        }
        admin
    }

    /// Make work in progress end early.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = fs::remove_file(self.data.join(NAME));
    }

    async fn answer(self: &Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let own = fs::metadata(&self.data)?.uid();
        let peer = stream.peer_cred()?.uid();
        if peer != own && peer != ROOT {
            warn!(peer, "another user asked on {NAME}");
            return Ok(());
        }
        let (reader, mut writer) = stream.into_split();
        let mut text = String::new();
        let mut reader = tokio::io::BufReader::new(reader.take(LINE_BYTES_MAX));
        tokio::time::timeout(CLIENT_WAIT, reader.read_line(&mut text)).await??;
        let lines = match serde_json::from_str(&text) {
            Ok(request) => {
                let (admin, mut signs) = (self.clone(), tokio::time::interval(SIGN_EVERY));
                // On a task of its own, so that it finishes even if the client goes away.
                let mut task = tokio::spawn(async move { admin.carry_out(request).await });
                loop {
                    tokio::select! {
                        done = &mut task => {
                            break done.unwrap_or_else(|e| vec![Line::Error(e.to_string())]);
                        }
                        _ = signs.tick() => send(&mut writer, &Line::Working).await?,
                    }
                }
            }
            Err(error) => vec![Line::Error(format!("read the request: {error}"))],
        };
        for line in &lines {
            send(&mut writer, line).await?;
        }
        Ok(())
    }

    async fn carry_out(self: Arc<Self>, request: Request) -> Vec<Line> {
        match request {
            Request::Backup(target) => vec![self.backup(target).await],
            Request::Plugin(command) => vec![match self.plugins.carry_out(*command).await {
                Ok(told) => Line::Told(told),
                Err(error) => Line::Error(format!("{error:#}")),
            }],
            Request::Order(order) => {
                info!(about = order.kind(), "carrying out an order on {NAME}");
                match order.carry_out(&Desk::of(&self.services)).await {
                    Ok(text) => pieces(&text),
                    Err(error) => vec![Line::Error(format!("{error:#}"))],
                }
            }
        }
    }

    async fn backup(self: Arc<Self>, target: PathBuf) -> Line {
        let Ok(_one) = self.backup.clone().try_acquire_owned() else {
            return Line::Error("begin: another backup is in progress".into());
        };
        // While pinning, no blob may be in its folder without its record.
        let turn = self.services.builds.blobs().turn().await;
        let pin = self.services.space.pins.pin();
        drop(turn);
        let admin = self.clone();
        let taken = tokio::task::spawn_blocking(move || {
            let snapshot = admin.services.store.snapshot()?;
            let taken = backup::take(&admin.data, &snapshot, &target, &admin.stop);
            drop((snapshot, pin));
            taken
        });
        match taken.await {
            Ok(Ok(report)) => {
                info!(files = report.files, bytes = report.bytes, "backup taken");
                Line::Done(report)
            }
            Ok(Err(error)) => {
                let text = told(&error);
                warn!(error = text, "failed to take a backup");
                Line::Error(text)
            }
            Err(error) => Line::Error(error.to_string()),
        }
    }
}

/// What an order prints, as the lines of the answer.
fn pieces(text: &str) -> Vec<Line> {
    if text.len() > ANSWER_BYTES_MAX {
        let (bytes, bytes_max) = (text.len(), ANSWER_BYTES_MAX);
        return vec![Line::Error(format!(
            "answer with {bytes} bytes, which is more than {bytes_max}; stop the server and try again, or use the API"
        ))];
    }
    let (mut lines, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES_MAX));
        lines.push(Line::Text(piece.to_owned()));
        rest = more;
    }
    lines.push(Line::End);
    lines
}

fn told(error: &BackupError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

async fn send(writer: &mut (impl AsyncWriteExt + Unpin), line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    tokio::time::timeout(CLIENT_WAIT, writer.write_all(text.as_bytes())).await?
}

async fn serve(admin: Arc<Admin>, listener: UnixListener) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let permit = permits.clone().acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors; some may be free for the next connection.
            tokio::time::sleep(CLIENT_WAIT).await;
            continue;
        };
        let admin = admin.clone();
        tokio::spawn(async move {
            if let Err(error) = admin.answer(stream).await {
                info!(%error, "gave up on a client of {NAME}");
            }
            drop(permit);
        });
    }
}

/// The socket's path through the open folder: socket paths must be short, folder paths need not be.
fn address(folder: &File) -> PathBuf {
    format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd()).into()
}

fn bind(data: &Path) -> io::Result<UnixListener> {
    let folder = File::open(data)?;
    let path = data.join(NAME);
    // Left by a server that has ended, since the database is ours.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(address(&folder))?;
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Make the server on the data folder `data` take a backup to `target`; none if no server runs.
///
/// # Errors
/// The server's error, in its words, or it stops responding.
pub fn backup(data: &Path, target: &Path) -> anyhow::Result<Option<Report>> {
    match ask(data, &Request::Backup(target.to_owned()))? {
        None => Ok(None),
        Some((_, Line::Done(report))) => Ok(Some(report)),
        Some(_) => bail!("read the server's answer: it is none of a backup"),
    }
}

/// Have the server on the data folder `data` carry out a command about plugins; none if no server runs.
///
/// # Errors
/// The server's error, in its words, or it stops responding.
pub fn plugin(data: &Path, command: Command) -> anyhow::Result<Option<Told>> {
    match ask(data, &Request::Plugin(Box::new(command)))? {
        None => Ok(None),
        Some((_, Line::Told(told))) => Ok(Some(told)),
        Some(_) => bail!("read the server's answer: it is none about plugins"),
    }
}

/// Have the server on the data folder `data` carry out an order, and return what it prints; none if no server runs, or if
/// it ended before it had read the order.
///
/// # Errors
/// The server's error, in its words, or it stops responding.
pub(crate) fn order(data: &Path, order: &Order) -> anyhow::Result<Option<String>> {
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Asked<'a> {
        Order(&'a Order),
    }
    match ask(data, &Asked::Order(order))? {
        None => Ok(None),
        Some((text, Line::End)) => Ok(Some(text)),
        Some(_) => bail!("read the server's answer: it is none to an order"),
    }
}

/// A connection to the server on this data folder; none if there is none, or if the folder belongs to another user, whose
/// socket could be that of any program.
fn connect(data: &Path) -> Option<std::os::unix::net::UnixStream> {
    let folder = File::open(data).ok()?;
    let is_trusted = private::is_trusted(&folder).unwrap_or(false);
    let path = is_trusted.then(|| address(&folder))?;
    std::os::unix::net::UnixStream::connect(path).ok()
}

/// The text of the answer and its last line; none if no server runs.
fn ask(data: &Path, request: &impl Serialize) -> anyhow::Result<Option<(String, Line)>> {
    let Some(mut stream) = connect(data) else {
        return Ok(None);
    };
    stream.set_read_timeout(Some(SERVER_WAIT))?;
    let request = serde_json::to_string(request)?;
    // A server that was killed can be connected to for a moment, while a process that it had started holds its socket. A
    // connection is reset if what was sent was not read.
    let is_gone = |error: &io::Error| {
        let kinds = [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe];
        kinds.contains(&error.kind())
    };
    match writeln!(stream, "{request}") {
        Err(error) if is_gone(&error) => return Ok(None),
        asked => asked.context("ask the server")?,
    }
    let mut text = String::new();
    let mut has_answered = false;
    for line in BufReader::new(stream.take(LINES_BYTES_MAX)).lines() {
        let line = match line {
            Err(error) if is_gone(&error) && !has_answered => return Ok(None),
            line => line.context("wait for the server")?,
        };
        has_answered = true;
        match serde_json::from_str(&line).context("read the server's answer")? {
            Line::Working => {}
            Line::Text(piece) => text.push_str(&piece),
            Line::Error(error) => bail!("{error}"),
            last => return Ok(Some((text, last))),
        }
    }
    bail!(
        "wait for the server: it ended before it answered; look whether it did what you asked for, then try again"
    )
}

#[cfg(test)]
mod tests;
