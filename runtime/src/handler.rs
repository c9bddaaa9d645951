//! A loaded handler: admits calls, gives each an instance, and keeps or retires it afterwards.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{Component, Linker};

use crate::block_on::block_on;
use crate::engine::{Engine, Reservation, TICK_MS};
use crate::failure::{CallError, LoadError};
use crate::instance::{Failure, Instance};
use crate::meter::micros;
use crate::metrics::{Counters, Metrics};
use crate::options::{HandlerOptions, Mode};
use crate::pool::Pool;
use crate::reply::Reply;
use crate::state::{CallData, State};
use crate::{Request, Route, bindings};
use admission::Admission;

/// Endpoints of one handler.
const ROUTES_MAX: usize = 256;

/// Time for a component to start and list its routes.
const LOAD_MS_MAX: u64 = 5_000;

/// The ticker stops a guest that is computing at its deadline, which also gives a backtrace; the
/// outer timeout, for calls that wait, allows it this much longer.
const DEADLINE_GRACE: Duration = Duration::from_millis(2 * TICK_MS);

/// Request headers that concern only the host, as `wit/http.wit` says. Every header costs a call
/// two allocations inside the guest, so these are not passed on.
const WITHHELD: [&str; 8] = [
    "accept-encoding",
    "connection",
    "content-length",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
    "x-request-id",
];

/// A component that answers requests.
pub struct Handler<T: CallData> {
    options: HandlerOptions,
    pre: bindings::HandlerPre<State<T>>,
    routes: Vec<Route>,
    pool: Pool<T>,
    admission: Admission,
    counters: Arc<Counters>,
    /// Makes the store data of an instance that waits in the pool.
    make: Box<dyn Fn() -> T + Send + Sync>,
    _permits: Reservation,
    /// Keeps the ticker running.
    _engine: Engine,
}

impl<T: CallData> Handler<T> {
    /// Link `component`, start one instance and read its routes. `make` gives the data when there
    /// is no request: for listing the routes, and as a placeholder in idle instances.
    ///
    /// # Errors
    /// An import or export is missing, the engine has too little room left, or the component fails
    /// to start.
    pub fn new(
        engine: &Engine,
        linker: &Linker<State<T>>,
        component: &Component,
        options: HandlerOptions,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<Self, LoadError> {
        let name = || options.name.clone();
        let link = |source| LoadError::Link {
            name: name(),
            source,
        };
        let permits = engine.reserve(options.in_flight_max).map_err(|left| {
            let asked = options.in_flight_max;
            LoadError::NoRoom {
                name: name(),
                asked,
                left,
            }
        })?;
        let pre = linker.instantiate_pre(component).map_err(link)?;
        let pre = bindings::HandlerPre::new(pre).map_err(|source| LoadError::Export {
            name: name(),
            source,
        })?;
        let mut handler = Self {
            pre,
            routes: Vec::new(),
            pool: Pool::new(),
            admission: Admission::new(options.admission()),
            counters: Arc::default(),
            make: Box::new(make),
            _permits: permits,
            _engine: engine.clone(),
            options,
        };
        handler.routes = handler.read_routes()?;
        Ok(handler)
    }

    /// The handler's endpoints, in the order to which `Request::route` refers.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// What it has done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.counters
            .snapshot(self.admission.taken().into(), self.pool.len() as u64)
    }

    /// Answer one request. `data` lives until the call is over and is then dropped. Dropping the
    /// future cancels the call. Needs a tokio runtime with time.
    ///
    /// # Errors
    /// See [`CallError`]; all of them are logged here.
    pub async fn call(&self, mut request: Request, data: T) -> Result<Reply, CallError> {
        let withheld = |name: &String| WITHHELD.contains(&name.as_str());
        request.headers.retain(|(name, _)| !withheld(name));
        let requester = data.requester();
        let Ok(_place) = self.admission.enter(requester.as_ref()).await else {
            return Err(self.report(&request, CallError::overloaded(&self.options).into()));
        };
        let ending = Ending {
            counters: Some(&self.counters),
        };
        let started = Instant::now();
        let deadline = started + Duration::from_millis(self.options.deadline_ms);
        let outer = tokio::time::Instant::from_std(deadline + DEADLINE_GRACE);
        let run = pin!(self.run(&request, data, deadline));
        let outcome = tokio::time::timeout_at(outer, run).await;
        ending.reached();
        self.counters.called(micros(started.elapsed()));
        let late = |_| Err(CallError::deadline(&self.options).into());
        outcome
            .unwrap_or_else(late)
            .map_err(|failure| self.report(&request, failure))
    }

    async fn run(&self, request: &Request, data: T, deadline: Instant) -> Result<Reply, Failure> {
        let idle = match self.options.mode {
            Mode::Pooled { .. } => self.pool.take(),
            Mode::Fresh => None,
        };
        let Some(mut instance) = idle else {
            let mut instance = self.instantiate(data, deadline).await?;
            let reply = instance.handle(request, &self.options, deadline).await?;
            self.keep(instance, None);
            return Ok(reply);
        };
        let placeholder = instance.swap(data);
        let reply = instance.handle(request, &self.options, deadline).await?;
        self.keep(instance, Some(placeholder));
        Ok(reply)
    }

    async fn instantiate(&self, data: T, deadline: Instant) -> Result<Instance<T>, Failure> {
        Instance::new(&self.pre, &self.options, &self.counters, deadline, data).await
    }

    /// Return the instance to the pool, unless it must be retired.
    fn keep(&self, mut instance: Instance<T>, placeholder: Option<T>) {
        let Mode::Pooled { calls_max } = self.options.mode else {
            return;
        };
        let spent = instance.calls() >= calls_max
            || instance.memory_bytes() > self.options.memory_kept_bytes_max
            || instance.leaked();
        if !spent {
            // The call's data ends with the call, not when the instance is next used.
            drop(instance.swap(placeholder.unwrap_or_else(&self.make)));
            self.pool.put(instance);
        }
    }

    fn read_routes(&self) -> Result<Vec<Route>, LoadError> {
        let failed = |error| LoadError::Routes {
            name: self.options.name.clone(),
            source: error,
        };
        let deadline = Instant::now() + Duration::from_millis(LOAD_MS_MAX);
        let reading = async {
            let mut instance = self.instantiate((self.make)(), deadline).await?;
            let routes = instance.routes(&self.options).await?;
            self.keep(instance, None);
            Ok::<_, Failure>(routes)
        };
        let routes = block_on(reading, deadline)
            .ok_or_else(|| failed(CallError::Deadline { ms: LOAD_MS_MAX }))?
            .map_err(|failure| failed(failure.error))?;
        if routes.len() > ROUTES_MAX {
            return Err(LoadError::TooManyRoutes {
                name: self.options.name.clone(),
                routes: routes.len(),
                routes_max: ROUTES_MAX,
            });
        }
        Ok(routes)
    }

    fn report(&self, request: &Request, failure: Failure) -> CallError {
        self.counters.failed(&failure.error);
        let handler = self.options.name.as_str();
        let request_id = request.id.as_str();
        let error = failure.error.chain();
        if matches!(failure.error, CallError::Overloaded { .. }) {
            tracing::warn!(handler, request_id, error, "handler call refused");
        } else {
            let backtrace = failure.backtrace.as_deref().unwrap_or("none");
            tracing::error!(handler, request_id, error, backtrace, "handler call failed");
        }
        failure.error
    }
}

impl<T: CallData> fmt::Debug for Handler<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("options", &self.options)
            .field("routes", &self.routes.len())
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}

/// Distinguishes a call that ended from one whose future was dropped.
struct Ending<'a> {
    counters: Option<&'a Counters>,
}

impl Ending<'_> {
    fn reached(mut self) {
        self.counters = None;
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if let Some(counters) = self.counters {
            counters.cancelled();
        }
    }
}
