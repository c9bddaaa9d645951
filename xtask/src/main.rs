//! `cargo xtask`: the one place that knows how this project is built, checked and started. CI, the
//! README and people all call these commands, so what works for one works for all.

mod apt;
mod args;
mod attack;
mod bench;
mod boards;
mod cache;
mod cgroup2;
mod check;
mod ci;
mod clients;
mod component;
mod deny;
mod docs;
mod excerpts;
mod firmware;
mod fuzz;
mod handlers;
mod host;
mod machine;
mod metadata;
mod plugins;
mod progress;
mod server;
mod tables;
mod test;
mod tidy;
mod times;
mod tool;
mod toolchain;
mod usb;
mod web;
mod wit;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use args::{Request, Task};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(code) = times::shim::run(&words) {
        return ExitCode::from(code);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = Request::parse(&words)
        .map_err(anyhow::Error::from)
        .and_then(|r| run(&r));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress::failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(request: &Request) -> Result<()> {
    if request.task.is_for_the_loop() {
        tool::compile_incrementally();
    }
    if request.task.compiles() {
        cache::restore();
    }
    let outcome = carry_out(request);
    // After a failure too: third-party crates were compiled all the same.
    if request.task.compiles() {
        cache::save();
    }
    outcome
}

fn carry_out(request: &Request) -> Result<()> {
    let options = &request.options;
    match &request.task {
        Task::Help => {
            progress::text(args::HELP);
            Ok(())
        }
        Task::Run => server::run(options),
        Task::Build => server::build(options).map(drop),
        Task::Test(tests) => test::run(tests, options),
        Task::Check(package) => check::run(package.as_deref()),
        Task::Ci => ci::run(options),
        Task::CiChecked => ci::run_checked(options),
        Task::Handlers => handlers::build(options),
        Task::Plugins(name) if name.as_deref() == Some("bindings") => plugins::bindings::write(),
        Task::Plugins(language) => plugins::run(language.as_deref(), options),
        Task::Docs => docs::run(),
        Task::EmiBoards => boards::run(),
        Task::Tables => tables::run(),
        Task::Firmware => firmware::build(),
        Task::Tidy => tidy::run(),
        Task::Web(work) => web::run(*work, options),
        Task::WitPublish => wit::publish(),
        Task::Clients(tier) => clients::run(tier.as_deref(), options),
        Task::Bench(name) => bench::run(name, options),
        Task::Cgroup2 => cgroup2::run(),
        Task::Fuzz(package) => fuzz::run(package.as_deref()),
        Task::TestUsb { filter, short } => usb::run(filter.as_deref(), *short),
        Task::Attack(attack) => attack::run(attack, options),
    }
}
