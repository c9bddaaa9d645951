//! What the host offers to handlers: one file per WIT interface under `host/`, same stem as in
//! `wit/`. Each checks arguments, makes one call and maps the error; the caller's rights decide
//! what it may touch.
//!
//! Each interface is implemented for its own `View`, which borrows from the call what the interface
//! needs. Its `link` says what that is; nothing else of the server is within reach.

use std::sync::Arc;

use admission::Requester;
use runtime::{CallData, State};
use wasmtime::component::{Linker, ResourceTable};

use crate::services::Services;
pub(crate) use context::internal;
use uploads::Inbound;

pub use context::Context;

mod assertions;
mod badges;
mod builds;
pub mod caller;
mod captures;
mod context;
mod decode;
pub(crate) mod devices;
pub(crate) mod door;
mod emi;
mod events;
mod flashing;
mod jobs;
mod keys;
mod leases;
mod log;
mod measurements;
mod measures;
mod plugins;
pub(crate) mod pod;
mod recordings;
mod replay;
mod searches;
mod secrets;
mod sessions;
mod store;
mod tokens;
mod trust;
mod tunnels;
mod uarts;
mod updates;
pub mod uploads;
mod users;
pub(crate) mod waiting;
mod waveforms;
mod webhooks;

/// Generated from `wit/`: records, and one trait per interface that the files here implement.
#[allow(clippy::all, clippy::pedantic, reason = "generated code")]
pub mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "everything",
        imports: { default: async },
        exports: { default: async },
        with: {
            "hostd:host/http-types": runtime::bindings::hostd::host::http_types,
            "hostd:host/captures.capture": super::captures::OpenCapture,
            "hostd:host/uploads.upload": lab::blobs::Staged,
        },
    });
}

use bindings::hostd::host as wit;

/// What is wrong with a cursor, as a phrase to follow its name; none for a cursor from an earlier
/// page.
fn cursor_rule(cursor: &str) -> Option<&'static str> {
    (!base::id::is_ulid(cursor)).then_some("must be the next_cursor of a page")
}

/// The worlds, read from the contract itself, which lists what each group may do.
const WORLDS: &str = include_str!("../../wit/world.wit");

type CallLinker = Linker<State<Call>>;

type LinkFn = fn(&mut CallLinker) -> wasmtime::Result<()>;

/// Every interface the host implements. `http-types` belongs to the runtime.
const INTERFACES: &[(&str, LinkFn)] = &[
    ("assertions", assertions::link),
    ("badges", badges::link),
    ("builds", builds::link),
    ("captures", captures::link),
    ("decode", decode::link),
    ("devices", devices::link),
    ("emi", emi::link),
    ("events", events::link),
    ("flashing", flashing::link),
    ("jobs", jobs::link),
    ("keys", keys::link),
    ("leases", leases::link),
    ("log", log::link),
    ("measurements", measurements::link),
    ("measures", measures::link),
    ("plugins", plugins::link),
    ("pod", pod::link),
    ("recordings", recordings::link),
    ("replay", replay::link),
    ("searches", searches::link),
    ("secrets", secrets::link),
    ("sessions", sessions::link),
    ("store", store::link),
    ("tokens", tokens::link),
    ("trust", trust::link),
    ("tunnels", tunnels::link),
    ("uarts", uarts::link),
    ("updates", updates::link),
    ("uploads", uploads::link),
    ("users", users::link),
    ("waveforms", waveforms::link),
    ("webhooks", webhooks::link),
];

/// One request on its way through a handler: its context, and the host objects that the guest
/// holds.
#[derive(Debug)]
pub struct Call {
    services: Arc<Services>,
    context: Context,
    table: ResourceTable,
    log_lines: u32,
    inbound: Inbound,
    requester: Option<Requester>,
}

impl Call {
    #[must_use]
    pub fn new(services: Arc<Services>, context: Context) -> Self {
        Self {
            services,
            context,
            table: ResourceTable::new(),
            log_lines: 0,
            inbound: Inbound::default(),
            requester: None,
        }
    }

    /// For this requester, in whose share of the group it counts.
    #[must_use]
    pub(crate) fn with_requester(mut self, requester: Requester) -> Self {
        self.requester = Some(requester);
        self
    }

    /// With a body that the handler may receive.
    #[must_use]
    pub fn with_body(mut self, inbound: Inbound) -> Self {
        self.inbound = inbound;
        self
    }
}

impl CallData for Call {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    fn requester(&self) -> Option<Requester> {
        self.requester.clone()
    }
}

/// Interfaces that the world `<group>-group` imports, without `http-types`. None if there is no such
/// world.
#[must_use]
pub fn world(group: &str) -> Option<Vec<&'static str>> {
    let open = format!("world {group}-group {{");
    let mut lines = WORLDS.lines().map(str::trim);
    lines.find(|line| *line == open)?;
    Some(
        lines
            .take_while(|line| *line != "}")
            .filter_map(|line| line.strip_prefix("import ")?.strip_suffix(';'))
            .filter(|name| *name != "http-types")
            .collect(),
    )
}

/// Give `linker` the named interfaces and no others.
///
/// # Errors
/// The host does not implement one of them.
pub fn link(linker: &mut Linker<State<Call>>, interfaces: &[&str]) -> wasmtime::Result<()> {
    for name in interfaces {
        let (_, add) = INTERFACES
            .iter()
            .find(|(known, _)| known == name)
            .ok_or_else(|| wasmtime::format_err!("the host has no interface {name}"))?;
        add(linker)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_name_only_interfaces_that_exist() {
        assert_eq!(world("nobody"), None);
        for group in [
            "auth",
            "badges",
            "builds",
            "devices",
            "emi",
            "events",
            "captures",
            "cloud",
            "jobs",
            "plugins",
            "secrets",
            "updates",
            "waveforms",
            "webhooks",
        ] {
            let interfaces = world(group).unwrap();
            assert!(!interfaces.is_empty());
            for name in &interfaces {
                assert!(INTERFACES.iter().any(|(known, _)| known == name), "{name}");
            }
        }
    }

    #[test]
    fn authority_is_what_the_world_says() {
        assert!(!world("captures").unwrap().contains(&"keys"));
        assert!(!world("auth").unwrap().contains(&"pod"));
        assert!(!world("jobs").unwrap().contains(&"secrets"));
        // Who installs code reaches no device and no secret by it.
        assert_eq!(world("plugins").unwrap(), ["log", "plugins", "uploads"]);
        // What reads files of strangers reaches nothing of the bench.
        assert_eq!(world("emi").unwrap(), ["emi", "log", "uploads"]);
        // What happens is streamed by the host: the group itself sees none of it.
        assert_eq!(world("events").unwrap(), ["events", "log"]);
        // What anybody can ask for reaches nothing else.
        assert_eq!(world("badges").unwrap(), ["badges", "log"]);
    }
}
