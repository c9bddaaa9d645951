//! What the host offers to handlers: one file per WIT interface under `host/`, same stem as in
//! `wit/`. Each checks arguments, makes one call and maps the error; what it may touch follows
//! from who is calling.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use admission::Requester;
use runtime::{CallData, State};
use wasmtime::component::{HasSelf, Linker, ResourceTable};

use crate::services::Services;
use base::space;
use identity::Verified;
use uploads::Inbound;

mod builds;
pub mod caller;
mod captures;
mod decode;
mod devices;
mod flashing;
mod keys;
mod leases;
mod log;
mod pod;
mod recordings;
mod replay;
mod sessions;
mod store;
mod tokens;
mod trust;
mod tunnels;
mod uarts;
mod updates;
pub mod uploads;
mod users;
mod waveforms;

/// Generated from `wit/`: records, and one trait per interface that the files here implement.
#[allow(clippy::all, clippy::pedantic, reason = "generated code")]
pub mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "everything",
        imports: { default: async },
        exports: { default: async },
        with: {
            "bench:host/http-types": runtime::bindings::bench::host::http_types,
            "bench:host/captures.capture": super::captures::OpenCapture,
            "bench:host/uploads.upload": lab::blobs::Staged,
        },
    });
}

use bindings::bench::host as wit;

/// What is wrong with a cursor, as what follows its name; nothing with one that a page told.
fn cursor_rule(cursor: &str) -> Option<&'static str> {
    (!base::id::is_ulid(cursor)).then_some("must be the next_cursor of a page")
}

/// The worlds, read from the contract itself: it is the list of what each group may do.
const WORLDS: &str = include_str!("../../wit/world.wit");

type LinkFn = fn(&mut Linker<State<Call>>) -> wasmtime::Result<()>;

/// Every interface the host implements. `http-types` belongs to the runtime.
const INTERFACES: &[(&str, LinkFn)] = &[
    ("builds", |l| {
        wit::builds::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("captures", |l| {
        wit::captures::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("decode", |l| {
        wit::decode::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("devices", |l| {
        wit::devices::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("flashing", |l| {
        wit::flashing::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("keys", |l| {
        wit::keys::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("leases", |l| {
        wit::leases::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("log", |l| {
        wit::log::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("pod", |l| {
        wit::pod::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("recordings", |l| {
        wit::recordings::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("replay", |l| {
        wit::replay::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("sessions", |l| {
        wit::sessions::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("store", |l| {
        wit::store::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("tokens", |l| {
        wit::tokens::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("trust", |l| {
        wit::trust::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("tunnels", |l| {
        wit::tunnels::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("uarts", |l| {
        wit::uarts::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("updates", |l| {
        wit::updates::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("uploads", |l| {
        wit::uploads::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("users", |l| {
        wit::users::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
    ("waveforms", |l| {
        wit::waveforms::add_to_linker::<_, HasSelf<Call>>(l, |s| &mut s.data)
    }),
];

/// Who asks, and for whom the host acts.
#[derive(Debug)]
pub struct Context {
    pub services: Arc<Services>,
    /// Name of the handler group, for logs and for the store's namespace.
    pub group: Arc<str>,
    pub request_id: String,
    /// None on public routes and while a component is being loaded.
    pub caller: Option<Verified>,
    /// The lease that the request shows.
    pub lease: Option<String>,
    /// Where the request comes from.
    pub client: Option<IpAddr>,
    /// When a handler that waits should rather tell how far things are, to have answered before its
    /// deadline.
    pub answer_by: Instant,
    /// Set when something could not be done because the disk is full: whatever the handler makes of
    /// that failure, the caller is told what it was.
    pub disk_full: Arc<AtomicBool>,
}

/// One request on its way through a handler: its context, and what the guest holds of the host.
#[derive(Debug)]
pub struct Call {
    context: Context,
    table: ResourceTable,
    log_lines: u32,
    inbound: Inbound,
    requester: Option<Requester>,
}

impl Call {
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self {
            context,
            table: ResourceTable::new(),
            log_lines: 0,
            inbound: Inbound::default(),
            requester: None,
        }
    }

    /// For somebody, whose share of the group it takes.
    #[must_use]
    pub fn with_requester(mut self, requester: Requester) -> Self {
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

/// Host functions wait with the context in hand; the rest of a call cannot be shared meanwhile.
impl Deref for Call {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
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

/// Interfaces that the world `<group>-group` imports, without `http-types`. None = there is no such world.
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
/// An interface that the host does not implement.
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

/// A failure that a handler cannot act on: the cause goes to the log, the guest learns only that
/// it happened.
fn internal(call: &Context, interface: &str, error: &(dyn std::error::Error + 'static)) -> String {
    if space::is_full(error) {
        call.disk_full.store(true, Ordering::Relaxed);
        return "the disk of the server is full".to_owned();
    }
    let mut chain = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        chain.push_str(": ");
        chain.push_str(&cause.to_string());
        source = cause.source();
    }
    tracing::error!(request_id = call.request_id, handler = %call.group, interface, error = chain, "host call failed");
    "the server failed to do this; its log has the details".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_name_only_interfaces_that_exist() {
        assert_eq!(world("nobody"), None);
        for group in [
            "auth",
            "builds",
            "devices",
            "captures",
            "cloud",
            "updates",
            "waveforms",
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
    }
}
