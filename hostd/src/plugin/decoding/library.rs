//! The decoders of all plugins, for those who decode captures in an organisation.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use admission::{Admission, Limits, OwnedPermit, Requester};
use decode::foreign::{Foreign, ForeignDecoding, ForeignError, Input, Setup};
use decode::{Annotation, Decoder};
use lab::decoders::{Library, Unavailable};
use plugins::id::PluginId;
use plugins::rights::{Behind, Caller, Rights};
use tokio::runtime::Handle;

use super::{Known, Running};
use crate::host::Context;
use crate::plugin::call::PluginCall;
use crate::plugin::{Loaded, Plugins};

/// Captures that all plugins decode at once, and most of them for one organisation.
const DECODINGS_MAX: u32 = 6;
const DECODINGS_PER_ORG_MAX: u32 = 4;

/// Decodings that may wait for a place, and how long.
const WAITING_MAX: u32 = 32;
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Places for decodings of all plugins of a server.
#[derive(Debug)]
pub(in crate::plugin) struct Places(Arc<Admission>);

impl Default for Places {
    fn default() -> Self {
        Self(Arc::new(Admission::new(Limits {
            permits_max: DECODINGS_MAX,
            per_user_max: DECODINGS_PER_ORG_MAX,
            per_org_max: DECODINGS_PER_ORG_MAX,
            queued_max: WAITING_MAX,
            wait_max: WAIT_MAX,
        })))
    }
}

/// What is found below a server's plugins.
#[derive(Debug)]
pub(in crate::plugin) struct Shelf {
    plugins: Weak<Plugins>,
    handle: Handle,
}

impl Shelf {
    /// Of these plugins, whose calls run on the runtime of the caller.
    pub(in crate::plugin) fn new(plugins: Weak<Plugins>) -> Self {
        Self {
            plugins,
            handle: Handle::current(),
        }
    }

    fn used(&self, plugins: &Arc<Plugins>, loaded: &Arc<Loaded>, org: &str, known: &Known) -> Used {
        let facts = loaded.facts();
        Used {
            plugins: plugins.clone(),
            handle: self.handle.clone(),
            loaded: loaded.clone(),
            org: org.into(),
            known: known.clone(),
            title: format!("plugin {} {}", facts.id, facts.version),
        }
    }
}

impl Library for Shelf {
    fn find(&self, org: &str, id: &str) -> Result<Arc<dyn Foreign>, Unavailable> {
        let plugins = self.plugins.upgrade().ok_or(Unavailable::Unknown)?;
        let (plugin, decoder) = id.split_once('/').ok_or(Unavailable::Unknown)?;
        let Some(loaded) = plugins.loaded(plugin) else {
            return Err(match plugins.why_absent(plugin) {
                Some(why) => Unavailable::Absent(why),
                None => Unavailable::Unknown,
            });
        };
        let known = loaded.decoders().map(super::Decoders::known);
        let mut known = known.unwrap_or_default().iter();
        let known = known.find(|known| known.id == decoder);
        let known = known.ok_or(Unavailable::Unknown)?;
        let rights = rights(&plugins, &loaded.facts().id, org);
        rights
            .may_serve()
            .map_err(|denied| Unavailable::NotGranted(denied.to_string()))?;
        Ok(Arc::new(self.used(&plugins, &loaded, org, known)))
    }

    fn all(&self, org: &str) -> Vec<Arc<dyn Foreign>> {
        let Some(plugins) = self.plugins.upgrade() else {
            return Vec::new();
        };
        let mut all: Vec<Arc<dyn Foreign>> = Vec::new();
        for loaded in plugins.all() {
            let Some(decoders) = loaded.decoders() else {
                continue;
            };
            if rights(&plugins, &loaded.facts().id, org)
                .may_serve()
                .is_err()
            {
                continue;
            }
            for known in decoders.known() {
                all.push(Arc::new(self.used(&plugins, &loaded, org, known)));
            }
        }
        all
    }
}

/// What a decoder may do: nothing that needs a scope or a device, whoever asks for it.
fn rights(plugins: &Plugins, id: &PluginId, org: &str) -> Rights {
    let granted = plugins.installed.granted(id, org);
    let caller = Caller {
        org: org.to_owned(),
        scopes: BTreeSet::new(),
        devices: Some(BTreeSet::new()),
    };
    Rights::new(id, org, granted, Behind::Caller(caller))
}

/// A decoder in the organisation in which it is used, and in the version that it had when it was looked for.
#[derive(Debug, Clone)]
struct Used {
    plugins: Arc<Plugins>,
    handle: Handle,
    loaded: Arc<Loaded>,
    org: Arc<str>,
    known: Known,
    title: String,
}

impl Foreign for Used {
    fn decoder(&self) -> &Arc<Decoder> {
        &self.known.decoder
    }

    fn input(&self) -> Input {
        self.known.input
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn begin(&self, setup: &Setup<'_>) -> Result<Box<dyn ForeignDecoding>, ForeignError> {
        let (place, running) = self.handle.block_on(self.start(setup))?;
        Ok(Box::new(Placed {
            running,
            used: self.clone(),
            _place: place,
        }))
    }
}

impl Used {
    /// What it may do now: an administrator may have switched the plugin off or revoked its grant since it was looked for,
    /// also while it decodes. Another version in its place does not end what this one has begun.
    fn allowed(&self) -> Result<Rights, ForeignError> {
        let id = &self.loaded.facts().id;
        if self.plugins.loaded(id.as_str()).is_none() {
            let why = self.plugins.why_absent(id.as_str());
            let why = why.unwrap_or_else(|| format!("the plugin {id} is not installed any more"));
            return Err(ForeignError::Gone(why));
        }
        let rights = rights(&self.plugins, id, &self.org);
        match rights.may_serve() {
            Ok(()) => Ok(rights),
            Err(denied) => Err(ForeignError::Gone(denied.to_string())),
        }
    }

    async fn start(
        &self,
        setup: &Setup<'_>,
    ) -> Result<(OwnedPermit, Running<PluginCall>), ForeignError> {
        let requester = Requester {
            org: self.org.clone(),
            user: self.org.clone(),
        };
        let places = self.plugins.decodings.0.clone();
        let place = places.enter_owned(Some(&requester)).await;
        let place = place.map_err(|_| {
            ForeignError::Busy(format!(
                "plugins decode {DECODINGS_MAX} captures at once, {DECODINGS_PER_ORG_MAX} of one organisation; retry shortly"
            ))
        })?;
        let config = self.plugins.config(&self.loaded, &self.org).await;
        let config = config.map_err(|_| {
            ForeignError::Busy("its configuration could not be read; retry shortly".to_owned())
        })?;
        let rights = self.allowed()?;
        let facts = self.loaded.facts();
        let request_id = base::id::request_id();
        let context = Context {
            group: facts.id.as_str().into(),
            request_id: request_id.clone(),
            caller: None,
            lease: None,
            client: None,
            origin: None,
            answer_by: Instant::now() + self.loaded.patience(),
            disk_full: Arc::default(),
        };
        let call = PluginCall::new(
            self.plugins.services.clone(),
            facts.clone(),
            (rights, config),
            context,
            Some(requester),
        );
        let Some(decoders) = self.loaded.decoders() else {
            unreachable!("it was found among them");
        };
        let running = Running::begin(
            self.handle.clone(),
            decoders.guest(),
            (&request_id, call),
            &self.known,
            setup,
        );
        Ok((place, running.await?))
    }
}

/// A decoding that has a place. The instance goes before the place.
struct Placed {
    running: Running<PluginCall>,
    used: Used,
    _place: OwnedPermit,
}

impl Placed {
    /// The same, if there may be one more call, with what that call may do and how long it may wait for something.
    fn ready(&mut self) -> Result<&mut Running<PluginCall>, ForeignError> {
        let rights = self.used.allowed()?;
        if let Some(call) = self.running.data() {
            call.rights = rights;
            call.context.answer_by = Instant::now() + self.used.loaded.patience();
        }
        Ok(&mut self.running)
    }
}

impl ForeignDecoding for Placed {
    fn changes(&mut self, data: &[u32]) -> Result<Vec<Annotation>, ForeignError> {
        self.ready()?.changes(data)
    }

    fn samples(&mut self, start: u64, data: &[u8]) -> Result<Vec<Annotation>, ForeignError> {
        self.ready()?.samples(start, data)
    }

    fn finish(&mut self, end: u64) -> Result<Vec<Annotation>, ForeignError> {
        self.ready()?.finish(end)
    }
}
