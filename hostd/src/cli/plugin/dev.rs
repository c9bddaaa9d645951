//! `hostd plugin dev`: builds a plugin, installs it and follows its log, and again whenever a file changes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::Context;
use base::config::Config;
use clap::Args;
use plugins::manifest::{self, Manifest};

use crate::cli::signals;
use crate::plugin::command::{Command, Told};

mod build;
mod watch;

use watch::Seen;

/// Pause between two looks at the files and at the log.
const LOOK_EVERY: Duration = Duration::from_millis(300);

#[derive(Debug, Args)]
pub struct Dev {
    /// Folder with plugin.toml
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Shell command that builds the component; otherwise dev.build of plugin.toml
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
}

impl Dev {
    pub(super) fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let folder = std::path::absolute(&self.folder).context("find the folder")?;
        let stop = Arc::new(AtomicBool::new(false));
        let heard = stop.clone();
        signals::listen(move || heard.store(true, Ordering::Relaxed))?;
        let mut bench = Bench {
            config,
            folder,
            command: self.build.as_deref(),
            stop,
            id: None,
            next_line: 0,
            log_error: None,
        };
        bench.run(out)
    }
}

/// A folder that is watched, and the server that its plugin is installed in.
struct Bench<'a> {
    config: &'a Config,
    folder: PathBuf,
    command: Option<&'a str>,
    stop: Arc<AtomicBool>,
    /// The plugin that was installed, whose log is followed.
    id: Option<String>,
    /// Number of its first line that was not shown.
    next_line: u64,
    /// Why its log could not be had, when that was last told.
    log_error: Option<String>,
}

impl Bench<'_> {
    fn run(&mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        // Whether the last build began since files had changed during the one before. A build that writes files which
        // are watched must not go on for ever.
        let mut was_again = false;
        while !self.stops() {
            let before = watch::look(&self.folder)?;
            if let Err(error) = self.round(out) {
                writeln!(out, "failed to {error:#}")?;
            }
            let after = watch::look(&self.folder)?;
            if after != before && !was_again {
                was_again = true;
                continue;
            }
            was_again = false;
            writeln!(out, "waiting for changes; Ctrl-C ends this")?;
            out.flush()?;
            self.follow(&after, out)?;
        }
        Ok(())
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Build and install, once.
    fn round(&mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        let path = self.folder.join(manifest::FILE);
        let text = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        let manifest = Manifest::parse(&text).context("read the manifest")?;
        let command = self.command.map(str::to_owned).or(manifest.build);
        let command = command.context(
            "build it: plugin.toml has no dev.build; write the command there, or name one with --build",
        )?;
        writeln!(out, "building {} {}", manifest.id, manifest.version)?;
        out.flush()?;
        if !build::run(&command, &self.folder, &self.stop)? {
            return Ok(());
        }
        self.skip_old_lines(manifest.id.as_str());
        let package = self.folder.clone();
        let Some(told) = self.ask(Command::Install { package })? else {
            return Ok(());
        };
        self.id = Some(manifest.id.as_str().to_owned());
        super::shown::print(&told, out)
    }

    /// Lines of earlier days are not shown.
    fn skip_old_lines(&mut self, id: &str) {
        if self.id.as_deref() == Some(id) {
            return;
        }
        self.next_line = 0;
        let known = self.ask(Command::Logs {
            id: id.to_owned(),
            from: 0,
        });
        // A plugin that was never installed has no log.
        if let Ok(Some(Told::Lines(lines))) = known {
            self.next_line = lines.last().map_or(0, |line| line.number + 1);
        }
    }

    /// Show the log until a file differs from what was `seen`, or until the end.
    fn follow(&mut self, seen: &Seen, out: &mut dyn Write) -> anyhow::Result<()> {
        while !self.stops() {
            if let Err(error) = self.show_log(out) {
                let error = format!("{error:#}");
                if self.log_error.as_ref() != Some(&error) {
                    writeln!(out, "failed to follow the log: {error}")?;
                    self.log_error = Some(error);
                }
            }
            out.flush()?;
            std::thread::sleep(LOOK_EVERY);
            if watch::look(&self.folder)? != *seen {
                return Ok(());
            }
        }
        Ok(())
    }

    fn show_log(&mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(id) = self.id.clone() else {
            return Ok(());
        };
        let from = self.next_line;
        let Some(told) = self.ask(Command::Logs { id, from })? else {
            return Ok(());
        };
        self.log_error = None;
        if let Told::Lines(lines) = &told {
            self.next_line = lines.last().map_or(from, |line| line.number + 1);
        }
        super::shown::print(&told, out)
    }

    /// Have the server carry out a command; none if the end comes first, in which case the server goes on alone.
    fn ask(&self, command: Command) -> anyhow::Result<Option<Told>> {
        let (answer, answered) = mpsc::sync_channel(1);
        let config = self.config.clone();
        std::thread::spawn(move || {
            // After the end nobody waits for it.
            let _ = answer.send(super::ask(&config, command));
        });
        loop {
            match answered.recv_timeout(LOOK_EVERY) {
                Ok(told) => return told.map(Some),
                Err(RecvTimeoutError::Timeout) if !self.stops() => {}
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    anyhow::bail!("ask the server: the thread that asked it is gone")
                }
            }
        }
    }
}

/// The folder of this program, in which a build finds it as `hostd`.
fn own_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.parent().map(Path::to_owned)
}
