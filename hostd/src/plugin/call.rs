//! One call of a plugin: for whom it is made, and what it may do.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use admission::Requester;
use evidence::redact::Secrets;
use runtime::CallData;
use virtual_wasi::http::{ErrorCode, Outgoing, Response, Sending};
use virtual_wasi::{Output, Wasi, WasiData};
use wasmtime::component::ResourceTable;

use plugins::rights::Rights;

use super::bindings::imports::hostd::plugin as offers;
use super::facts::Facts;
use super::logs::Level;
use super::proxy;
use super::sight::Sight;
use crate::host::Context;
use crate::services::Services;

mod acting;

pub(super) use acting::{Acting, code};

/// Lives as long as the call.
#[derive(Debug)]
pub(super) struct PluginCall {
    pub(super) services: Arc<Services>,
    pub(super) facts: Arc<Facts>,
    pub(super) rights: Rights,
    /// JSON object.
    pub(super) config: Arc<str>,
    pub(super) context: Context,
    pub(super) table: ResourceTable,
    pub(super) log_lines: u32,
    pub(super) notices_sent: u32,
    pub(super) requests_made: Arc<AtomicU32>,
    /// Who waits for the answer to the request of `wasi:http` that this is.
    pub(super) asked: Option<proxy::Waiting>,
    /// Captures that the plugin has open.
    pub(super) open_captures: u32,
    /// Secrets that the plugin has read, by name.
    pub(super) secrets_read: BTreeMap<String, String>,
    /// The same, ready to be blotted out.
    pub(super) secrets: Option<Secrets>,
    requester: Option<Requester>,
    /// From here on it waited for its place.
    made: Instant,
    wasi: Wasi,
}

impl PluginCall {
    /// A call of the plugin that `facts` describe, with these rights.
    pub(super) fn new(
        services: Arc<Services>,
        facts: Arc<Facts>,
        (rights, config): (Rights, Arc<str>),
        context: Context,
        requester: Option<Requester>,
    ) -> Self {
        Self {
            services,
            facts,
            rights,
            config,
            context,
            table: ResourceTable::new(),
            log_lines: 0,
            notices_sent: 0,
            requests_made: Arc::default(),
            asked: None,
            open_captures: 0,
            secrets_read: BTreeMap::new(),
            secrets: None,
            requester,
            made: Instant::now(),
            wasi: Wasi::new(environment()),
        }
    }

    pub(super) fn acting(&self) -> Acting<'_> {
        Acting::new(&self.facts.id, &self.rights)
    }

    pub(super) fn sight(&self) -> Sight<'_> {
        Sight {
            acting: self.acting(),
            context: &self.context,
            services: &self.services,
        }
    }
}

impl CallData for PluginCall {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    fn keeps_handles(&self) -> bool {
        self.wasi.keeps_messages()
    }

    fn requester(&self) -> Option<Requester> {
        self.requester.clone()
    }

    /// The deadline counts from here, and so does the time in which to answer.
    fn begin(&mut self) {
        self.context.answer_by += self.made.elapsed();
    }

    fn inherit(&mut self, previous: &mut Self) {
        self.wasi.inherit(previous);
    }
}

impl WasiData for PluginCall {
    fn wasi(&mut self) -> &mut Wasi {
        &mut self.wasi
    }

    fn line(&mut self, output: Output, line: &str) {
        let level = match output {
            Output::Stdout => Level::Info,
            Output::Stderr => Level::Warn,
        };
        let mut line = line.to_owned();
        if let Some(secrets) = &self.secrets {
            secrets.redact(&mut line);
        }
        self.facts.logs.write(level, &self.context.request_id, line);
    }

    fn answer(&mut self, answer: Result<Response, ErrorCode>) -> wasmtime::Result<()> {
        let Some(waiting) = self.asked.take() else {
            wasmtime::bail!("answer a request: nobody asked");
        };
        proxy::told(waiting, answer)
    }

    fn send(&mut self, outgoing: Outgoing) -> Result<Sending, ErrorCode> {
        proxy::errand::begin(self, outgoing)
    }
}

/// What guests see of an environment. Go's collector traps when it runs while the host hands over an argument; the
/// limit of memory replaces such an instance instead.
fn environment() -> Arc<[(String, String)]> {
    static SHARED: LazyLock<Arc<[(String, String)]>> =
        LazyLock::new(|| Arc::new([("GOGC".to_owned(), "off".to_owned())]));
    SHARED.clone()
}
