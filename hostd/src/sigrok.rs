//! Decoders of libsigrokdecode for captures of a server: a few at once, and fewer of one organisation.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use admission::{Admission, Limits as Places, OwnedPermit, Requester};
use base::config::CapturesConfig;
use decode::foreign::{Ends, EngineTrouble, Foreign, ForeignDecoding, ForeignError, Input, Setup};
use decode::{Annotation, Decoder};
use lab::decoders::{Engine, EngineError};
use sigrok::{Limits, Sigrok, SigrokError, Stack};
use tokio::runtime::Handle;

/// Children at once, and most of them for one organisation.
const CHILDREN_MAX: u32 = 3;
const CHILDREN_PER_ORG_MAX: u32 = 2;

/// Those that may wait for a place, and how long.
const WAITING_MAX: u32 = 16;
const WAIT_MAX: Duration = Duration::from_secs(3);

/// `sigrok-cli`, and the places for its children.
#[derive(Clone)]
pub(crate) struct Shelf {
    sigrok: Arc<Sigrok>,
    places: Arc<Admission>,
    handle: Handle,
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf")
            .field("sigrok", &self.sigrok)
            .finish_non_exhaustive()
    }
}

impl Shelf {
    /// As the configuration says. Those who use it may wait on the runtime of the caller.
    pub(crate) fn new(config: &CapturesConfig) -> Self {
        let limits = Limits {
            wall: Duration::from_secs(config.sigrok_s_max.into()),
            memory_bytes: u64::from(config.sigrok_mib_max) << 20,
            ..Limits::default()
        };
        Self {
            sigrok: Arc::new(Sigrok::new(config.sigrok.clone(), limits)),
            places: Arc::new(Admission::new(Places {
                permits_max: CHILDREN_MAX,
                per_user_max: CHILDREN_PER_ORG_MAX,
                per_org_max: CHILDREN_PER_ORG_MAX,
                queued_max: WAITING_MAX,
                wait_max: WAIT_MAX,
            })),
            handle: Handle::current(),
        }
    }

    /// A place for a child. Blocks while there is none.
    fn place(&self, org: &str) -> Result<OwnedPermit, EngineError> {
        let requester = Requester {
            org: org.into(),
            user: org.into(),
        };
        let entered = self.places.enter_owned(Some(&requester));
        self.handle.block_on(entered).map_err(|_| {
            let busy = format!(
                "{CHILDREN_MAX} of sigrok-cli run at once, {CHILDREN_PER_ORG_MAX} for one organisation; retry shortly"
            );
            (EngineTrouble::Busy, busy)
        })
    }

    fn stack(&self, org: &str, text: &str) -> Result<Stack, EngineError> {
        // No child runs for what is known.
        if let Some(stack) = Stack::kept(&self.sigrok, text) {
            return Ok(stack);
        }
        let _place = self.place(org)?;
        Stack::find(&self.sigrok, text).map_err(of_sigrok)
    }
}

fn of_sigrok(error: SigrokError) -> EngineError {
    let told = error.to_string();
    match ForeignError::from(error) {
        ForeignError::Engine(trouble, told) => (trouble, told),
        _ => (EngineTrouble::Failed, told),
    }
}

impl Engine for Shelf {
    fn list(&self, org: &str) -> Result<Vec<Arc<Decoder>>, EngineError> {
        let listed = match self.sigrok.kept_list() {
            Some(listed) => listed,
            None => {
                let _place = self.place(org)?;
                self.sigrok.list().map_err(of_sigrok)?
            }
        };
        let named = listed.into_iter().map(|one| Decoder {
            id: one.id,
            name: one.name,
            channels: Vec::new(),
            options: Vec::new(),
            classes: Vec::new(),
            rows: Vec::new(),
            byte_streams: Vec::new(),
        });
        Ok(named.map(Arc::new).collect())
    }

    fn describe(&self, org: &str, stack: &str) -> Result<Arc<Decoder>, EngineError> {
        let stack = self.stack(org, stack)?;
        let all: Vec<&str> = stack
            .channels()
            .iter()
            .map(|role| role.id.as_str())
            .collect();
        Ok(Arc::new(stack.decoder(&all)))
    }

    fn find(
        &self,
        org: &str,
        stack: &str,
        named: &[&str],
    ) -> Result<Arc<dyn Foreign>, EngineError> {
        let foreign = self.stack(org, stack)?.foreign(named).map_err(of_sigrok)?;
        Ok(Arc::new(Placed {
            foreign,
            shelf: self.clone(),
            org: org.into(),
        }))
    }
}

/// A decoder whose children need places.
#[derive(Debug)]
struct Placed {
    foreign: Arc<dyn Foreign>,
    shelf: Shelf,
    org: Arc<str>,
}

impl Foreign for Placed {
    fn decoder(&self) -> &Arc<Decoder> {
        self.foreign.decoder()
    }

    fn input(&self) -> Input {
        self.foreign.input()
    }

    fn ends(&self) -> Ends {
        self.foreign.ends()
    }

    fn title(&self) -> &str {
        self.foreign.title()
    }

    fn begin(&self, setup: &Setup<'_>) -> Result<Box<dyn ForeignDecoding>, ForeignError> {
        let place = self.shelf.place(&self.org);
        let place = place.map_err(|(trouble, told)| ForeignError::Engine(trouble, told))?;
        Ok(Box::new(InPlace {
            decoding: self.foreign.begin(setup)?,
            _place: place,
        }))
    }
}

/// The child goes before its place.
struct InPlace {
    decoding: Box<dyn ForeignDecoding>,
    _place: OwnedPermit,
}

impl ForeignDecoding for InPlace {
    fn changes(&mut self, data: &[u32]) -> Result<Vec<Annotation>, ForeignError> {
        self.decoding.changes(data)
    }

    fn samples(&mut self, start: u64, data: &[u8]) -> Result<Vec<Annotation>, ForeignError> {
        self.decoding.samples(start, data)
    }

    fn finish(&mut self, end: u64) -> Result<Vec<Annotation>, ForeignError> {
        self.decoding.finish(end)
    }

    fn rest(&mut self) -> Result<Option<Vec<Annotation>>, ForeignError> {
        self.decoding.rest()
    }
}
