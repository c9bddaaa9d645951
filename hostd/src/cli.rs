//! Command line: `hostd serve | run | submit | why | check | doctor | decode | assert | golden | firmware | emi | pod-sim |
//! console | connect | device | plugin | udev | key | user | org | trust | secret | backup | restore | config`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};

use crate::groups::Embedded;
use crate::serve;
use base::config::{Config, KEYS, LISTS, default_text, env_name};

pub mod assert;
pub mod backup;
pub mod check;
mod ci;
pub mod connect;
pub mod console;
pub mod decode;
pub mod device;
pub mod doctor;
pub mod emi;
pub mod firmware;
pub mod key;
pub mod org;
pub mod out;
mod patience;
pub mod plugin;
pub mod pod_sim;
mod printer;
pub mod run;
pub mod secret;
mod server;
mod signals;
pub mod submit;
mod trouble;
pub mod trust;
mod udev;
pub mod user;
pub mod why;

/// The bench server.
#[derive(Debug, Parser)]
#[command(name = "hostd", version, about, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    source: Source,
    #[command(subcommand)]
    verb: Verb,
}

/// Where the configuration comes from.
#[derive(Debug, Args)]
struct Source {
    /// Configuration file (TOML)
    #[arg(long, global = true, env = "HOSTD_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder that holds everything hostd keeps
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve the API until told to stop
    Serve(Serve),
    /// Run a pipeline on this machine, without a server
    ///
    /// Its benches run on simulated devices, or on those that --device names.
    ///
    /// Exit code: 0 success, 1 failure, 2 the pipeline or the command line is wrong, 3 this machine is at fault, 4
    /// cancelled.
    Run(run::Run),
    /// Submit a pipeline and its sources to a server
    ///
    /// The API key is taken from the environment variable HOSTD_KEY, and nowhere else.
    ///
    /// Exit code: 0 success (without --wait: queued), 1 failure, 2 the pipeline, the command line or the key is wrong, 3
    /// the server, the bench or the way to it is at fault, 4 cancelled.
    Submit(submit::Submit),
    /// Say what a job waits for, device by device, or how it ended
    ///
    /// The API key is taken from the environment variable HOSTD_KEY, and nowhere else.
    ///
    /// Exit code: 0 the answer is printed, whatever it is, 2 there is no such job, or the command line or the key is
    /// wrong, 3 the server or the way to it is at fault.
    Why(why::Why),
    /// Check pipelines; without a file, look through the data folder of a stopped server for damage
    ///
    /// Exit code: 0 all is well, 2 a pipeline is wrong or cannot be read, 1 damage.
    Check(check::Check),
    /// Say whether jobs can run isolated on this machine, and what to do if not
    Doctor(doctor::Doctor),
    /// Decode a logic capture (.sr) and print what was on the wire
    ///
    /// The lines are those of sigrok-cli with one exception, on purpose: on I²C a START or STOP ends
    /// whatever was being collected, as the bus specification has it. sigrok 0.5.3 overlooks both in
    /// the middle of an address or where it waits for an acknowledgement, and glues bits of two
    /// exchanges together. On well-formed traffic the lines are the same.
    ///
    /// With --find, a search in captures of all kinds that are read; docs/captures.md has the queries.
    ///
    /// Exit code of a search: 0 something is found, 1 nothing is, 2 the query, the file or the command line is wrong.
    Decode(decode::Decode),
    /// Say whether a capture shows what rules ask for
    ///
    /// docs/assertions.md has the rules.
    ///
    /// Exit code: 0 every rule holds, 1 one does not, 2 a rule cannot be judged on this capture, or the rules, a file or the
    /// command line are wrong, 3 a result cannot be written, 5 it took longer than a minute.
    Assert(assert::Assert),
    /// Make a golden file of a good capture, for rules to compare others with
    ///
    /// Exit code: 0 it is written, 2 the capture or the command line is wrong, 3 it cannot be written.
    Golden(assert::Golden),
    /// Look at firmware files, without a device
    #[command(subcommand)]
    Firmware(firmware::FirmwareCommand),
    /// Look for known mistakes in a circuit board that make it radiate, or sensitive
    #[command(subcommand)]
    Emi(emi::EmiCommand),
    /// Serve a simulated pod over TCP until told to stop
    PodSim(pod_sim::PodSim),
    /// Talk to the target of a device through its UART
    Console(console::Console),
    /// Let stock tools reach a device: OpenOCD, GDB, serial terminals
    ///
    /// Takes the lease of the device, listens on ports of this machine, and ends with the lease. The API key is taken
    /// from the environment variable HOSTD_KEY, and nowhere else.
    ///
    /// Exit code: 0 the command of --exec succeeded (otherwise its code), 2 the command line, the key or the device is
    /// wrong, 3 the server or the way to it is at fault, 4 Ctrl-C, 5 the lease was not to be had or is over, 6 the device
    /// is away.
    Connect(connect::Connect),
    /// List, remove and admit devices, and look for pods and parts of benches
    #[command(subcommand, visible_alias = "devices")]
    Device(device::DeviceCommand),
    /// Print the udev rule for pods on USB, so that the server needs no root
    Udev(udev::Udev),
    /// Install plugins into the running server, grant them what they may do, and make packages of them
    #[command(subcommand, visible_alias = "plugins")]
    Plugin(plugin::PluginCommand),
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Manage users
    #[command(subcommand)]
    User(user::UserCommand),
    /// Manage organisations
    #[command(subcommand)]
    Org(org::OrgCommand),
    /// Manage trust rules for CI runs
    #[command(subcommand)]
    Trust(trust::TrustCommand),
    /// Manage secrets of organisations for their jobs
    #[command(subcommand)]
    Secret(secret::SecretCommand),
    /// Copy the data folder, also while the server runs
    Backup(backup::Backup),
    /// Make an empty data folder what it was when a backup was taken
    Restore(backup::Restore),
    /// Check or explain the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
}

#[derive(Debug, Args)]
struct Serve {
    /// Make a demo organisation, a key and a simulated device, and print what to try next
    #[arg(long)]
    demo: bool,
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Load handler components (*.wasm) from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    handlers: Option<PathBuf>,
    /// Log format: text or json
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// Log level or filter
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Write {"url","api_key","devices"} to this file once requests are answered
    #[arg(long, value_name = "PATH")]
    ready_file: Option<PathBuf>,
    /// Serve the web application of this folder, which is being edited, instead of the built-in one
    #[arg(long, value_name = "DIR")]
    web: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Read the configuration, say what is wrong with it, and print the result
    Check,
    /// List every key with its environment variable, default and meaning
    Keys,
}

impl Cli {
    /// Do what the command line says.
    ///
    /// # Errors
    /// A sentence fragment that fits "failed to …", with its causes.
    pub fn run(self, handlers: &'static [Embedded]) -> anyhow::Result<ExitCode> {
        let mut out = out::Out::new();
        match self.verb {
            Verb::Run(verb) => return verb.run(handlers, || self.source.load(&[])),
            Verb::Submit(verb) => return verb.run(),
            Verb::Why(verb) => return verb.run(),
            Verb::Connect(verb) => return verb.run(),
            Verb::Check(verb) => return verb.run(|| self.source.load(&[]), &mut out),
            Verb::Doctor(verb) => return verb.run(&mut out),
            Verb::Emi(verb) => return verb.run(&mut out),
            Verb::Assert(verb) => return verb.run(&mut out),
            Verb::Golden(verb) => return verb.run(&mut out),
            Verb::Serve(verb) => {
                let config = self.source.load(&verb.flags())?;
                serve::run(
                    config,
                    &serve::Options {
                        demo: verb.demo,
                        ready_file: verb.ready_file,
                        web: verb.web,
                    },
                    handlers,
                )
            }
            Verb::Decode(verb) => return verb.run(&mut out),
            Verb::Firmware(verb) => verb.run(&mut out),
            Verb::PodSim(verb) => verb.run(&mut out),
            Verb::Console(verb) => verb.run(&mut out),
            Verb::Device(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::Plugin(verb) => verb.run(|| self.source.load(&[]), &mut out),
            Verb::Udev(verb) => verb.run(&mut out),
            Verb::Key(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::User(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::Org(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::Trust(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::Secret(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::Backup(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::Restore(verb) => verb.run(&self.source.load(&[])?, &mut out),
            Verb::Config(ConfigCommand::Check) => {
                use std::io::Write;
                let config = self.source.load(&[])?;
                check_files(&config).context("use the configuration")?;
                let text = toml::to_string_pretty(&config).context("print the configuration")?;
                write!(out, "{text}").context("print the configuration")
            }
            Verb::Config(ConfigCommand::Keys) => print_keys(&mut out).context("print the keys"),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Source {
    fn load(&self, flags: &[(&'static str, String)]) -> anyhow::Result<Config> {
        let mut flags = flags.to_vec();
        if let Some(dir) = &self.data_dir {
            flags.push(("data_dir", dir.display().to_string()));
        }
        let config = Config::load(self.config.as_deref(), std::env::vars(), &flags);
        let config = config.context("read the configuration")?;
        config
            .check_addresses(crate::drivers::check)
            .and_then(|()| config.check_names(lab::devices::check_name))
            .context("read the configuration")?;
        Ok(config)
    }
}

impl Serve {
    fn flags(&self) -> Vec<(&'static str, String)> {
        let path = |p: &PathBuf| p.display().to_string();
        [
            ("http.listen", self.listen.clone()),
            ("handlers.dir", self.handlers.as_ref().map(path)),
            ("log.format", self.log_format.clone()),
            ("log.level", self.log_level.clone()),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }
}

/// What a server reads at its start besides the configuration.
fn check_files(config: &Config) -> anyhow::Result<()> {
    notify::check(&config.webhooks, &config.commit_status)?;
    crate::plugin::trusted(&config.plugins).map(drop)
}

fn print_keys(out: &mut impl std::io::Write) -> std::io::Result<()> {
    // The defaults of two keys are longer, and stand out.
    const DEFAULT_WIDTH: usize = 20;
    let longest = |text: fn(&str) -> usize| KEYS.iter().map(|(key, _)| text(key)).max();
    let wide = longest(str::len).unwrap_or(0);
    let wider = longest(|key| env_name(key).len()).unwrap_or(0);
    for (key, meaning) in KEYS {
        let (variable, default) = (env_name(key), default_text(key));
        writeln!(
            out,
            "{key:<wide$} {variable:<wider$} {default:<DEFAULT_WIDTH$} {meaning}"
        )?;
    }
    for (list, meaning) in LISTS {
        writeln!(
            out,
            "{list:<wide$} {:<wider$} {:<DEFAULT_WIDTH$} {meaning}",
            "", ""
        )?;
    }
    Ok(())
}
