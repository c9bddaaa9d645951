//! A loaded component of any world: admits calls, gives each an instance, and keeps or retires it
//! afterwards.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{Component, Linker};

use crate::block_on::block_on;
use crate::engine::{Engine, Reservation, TICK_MS};
use crate::exports::{Exports, Invoke};
use crate::failure::{CallError, Failure, LoadError};
use crate::instance::Instance;
use crate::meter::micros;
use crate::metrics::{Counters, Metrics};
use crate::options::{GuestOptions, Mode};
use crate::pool::Pool;
use crate::session::Session;
use crate::state::{CallData, State};
use crate::threads::Threads;
use admission::Admission;

/// Time for a component to start and answer its first call.
const LOAD_MS_MAX: u64 = 5_000;

/// The ticker stops a guest that is computing at its deadline, which also gives a backtrace; the
/// outer timeout, for calls that wait, allows it this much longer.
const DEADLINE_GRACE: Duration = Duration::from_millis(2 * TICK_MS);

/// A component whose exports `X` can be called.
pub struct Guest<T: CallData, X: Exports<T>> {
    options: GuestOptions,
    pre: X::Pre,
    pool: Pool<T, X>,
    admission: Arc<Admission>,
    counters: Arc<Counters>,
    /// Makes the store data of an instance that waits in the pool.
    make: Box<dyn Fn() -> T + Send + Sync>,
    _permits: Reservation,
    /// Keeps the ticker running.
    engine: Engine,
}

impl<T: CallData, X: Exports<T>> Guest<T, X> {
    /// Link `component`. `make` gives the data when there is no call: for the first one, and as a
    /// placeholder in idle instances.
    ///
    /// # Errors
    /// An import or export is missing, or the engine has too little room left.
    pub fn new(
        engine: &Engine,
        linker: &Linker<State<T>>,
        component: &Component,
        options: GuestOptions,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<Self, LoadError> {
        let title = || options.title();
        let asked = options.in_flight_max;
        let no_room = |left| LoadError::NoRoom {
            title: title(),
            asked,
            left,
        };
        let permits = engine.reserve(asked).map_err(no_room)?;
        let linked = linker.instantiate_pre(component);
        let linked = linked.map_err(|source| LoadError::Link {
            title: title(),
            source,
        })?;
        let pre = X::find(linked).map_err(|source| LoadError::Export {
            title: title(),
            world: X::WORLD,
            source,
        })?;
        Ok(Self {
            pre,
            pool: Pool::new(),
            admission: Arc::new(Admission::new(options.admission())),
            counters: Arc::default(),
            make: Box::new(make),
            _permits: permits,
            engine: engine.clone(),
            options,
        })
    }

    /// Start one instance and make its first call, to prove that the guest works; a pooled guest
    /// keeps it. For loading: no place is needed while nobody else can call. Blocks, at most five
    /// seconds, inside an async runtime or outside.
    ///
    /// # Errors
    /// The guest fails or takes too long.
    pub fn start<I: Invoke<T, X>>(&mut self, call: I) -> Result<I::Answer, CallError> {
        let deadline = Instant::now() + Duration::from_millis(LOAD_MS_MAX);
        let first = async {
            let mut instance = self.instantiate((self.make)(), deadline).await?;
            let answer = instance.call(call, &self.options, deadline).await?;
            self.keep(instance, None);
            Ok::<_, Failure>(answer)
        };
        block_on(first, deadline)
            .unwrap_or_else(|| Err(CallError::Deadline { ms: LOAD_MS_MAX }.into()))
            .map_err(|failure| failure.error)
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// What it is given.
    #[must_use]
    pub fn options(&self) -> &GuestOptions {
        &self.options
    }

    /// What it has done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.counters
            .snapshot(self.admission.taken().into(), self.pool.len() as u64)
    }

    /// Make one call; `id` names it in the log. `data` lives until the call is over and is then
    /// dropped. Dropping the future cancels the call. Needs a tokio runtime with time.
    ///
    /// # Errors
    /// See [`CallError`]; all of them are logged here.
    pub async fn call<I: Invoke<T, X>>(
        &self,
        id: &str,
        data: T,
        call: I,
    ) -> Result<I::Answer, CallError> {
        self.call_then(id, data, call, |answer, _| Ok(answer)).await
    }

    /// As [`Guest::call`], and `accept` the answer while its handles are still in the table of the
    /// call's data. An answer that is not accepted ends the instance.
    ///
    /// # Errors
    /// As [`Guest::call`], and what `accept` returns.
    pub async fn call_then<I: Invoke<T, X>, O: Send>(
        &self,
        id: &str,
        data: T,
        call: I,
        accept: impl FnOnce(I::Answer, &mut T) -> Result<O, CallError> + Send,
    ) -> Result<O, CallError> {
        let requester = data.requester();
        let Ok(_place) = self.admission.enter(requester.as_ref()).await else {
            return Err(self.report(id, CallError::overloaded(&self.options).into()));
        };
        self.admitted(id, data, call, accept).await
    }

    /// As [`Guest::call_then`], on a thread that has a lower priority than the caller's: a guest that computes then takes
    /// a processor from nobody but its like. For guests that others wrote.
    ///
    /// # Errors
    /// As there.
    pub async fn call_apart<I, O>(
        self: &Arc<Self>,
        id: &str,
        data: T,
        call: I,
        accept: impl FnOnce(I::Answer, &mut T) -> Result<O, CallError> + Send + 'static,
    ) -> Result<O, CallError>
    where
        I: Invoke<T, X> + 'static,
        O: Send + 'static,
    {
        let requester = data.requester();
        let Ok(place) = self.admission.enter_owned(requester.as_ref()).await else {
            return Err(self.report(id, CallError::overloaded(&self.options).into()));
        };
        let (guest, own) = (self.clone(), id.to_owned());
        let work = async move {
            let _place = place;
            guest.admitted(&own, data, call, accept).await
        };
        let outcome = self.threads().run(work).await;
        outcome.unwrap_or_else(|| Err(self.report(id, CallError::overloaded(&self.options).into())))
    }

    /// A call that has a place.
    async fn admitted<I: Invoke<T, X>, O: Send>(
        &self,
        id: &str,
        mut data: T,
        call: I,
        accept: impl FnOnce(I::Answer, &mut T) -> Result<O, CallError> + Send,
    ) -> Result<O, CallError> {
        data.begin();
        let started = Instant::now();
        let deadline = started + Duration::from_millis(self.options.deadline_ms);
        let run = pin!(async {
            let idle = match self.options.mode {
                Mode::Pooled { .. } => self.pool.take(),
                Mode::Fresh => None,
            };
            let (mut instance, placeholder) = match idle {
                Some(mut instance) => {
                    let placeholder = instance.swap(data);
                    (instance, Some(placeholder))
                }
                None => (self.instantiate(data, deadline).await?, None),
            };
            instance.used();
            let answer = instance.call(call, &self.options, deadline).await?;
            let accepted = accept(answer, instance.data())?;
            self.keep(instance, placeholder);
            Ok(accepted)
        });
        self.bounded(id, started, deadline, run).await
    }

    /// A fresh instance and a place for it, for calls that follow one another and share what the
    /// guest keeps between them. It starts on a thread of lower priority, as calls of [`Guest::call_apart`]. `id` names
    /// them in the log.
    ///
    /// # Errors
    /// All places are taken, or the guest does not start; logged here.
    pub async fn session(
        self: &Arc<Self>,
        id: &str,
        mut data: T,
    ) -> Result<Session<T, X>, CallError> {
        let requester = data.requester();
        let Ok(place) = self.admission.enter_owned(requester.as_ref()).await else {
            return Err(self.report(id, CallError::overloaded(&self.options).into()));
        };
        // An idle instance stands for a free place, and this place is taken now.
        drop(self.pool.take());
        data.begin();
        let started = Instant::now();
        let deadline = started + Duration::from_millis(self.options.deadline_ms);
        let outer = tokio::time::Instant::from_std(deadline + DEADLINE_GRACE);
        let guest = self.clone();
        // What a component computes when it starts has no higher priority than its calls.
        let work = async move {
            let instance = pin!(guest.instantiate(data, deadline));
            let made = tokio::time::timeout_at(outer, instance).await;
            let late = |_| Err(CallError::deadline(&guest.options).into());
            made.unwrap_or_else(late).map(|instance| (instance, place))
        };
        let made = self.threads().run(work).await;
        let none = || Err(CallError::overloaded(&self.options).into());
        let (instance, place) = made
            .unwrap_or_else(none)
            .map_err(|failure| self.report(id, failure))?;
        Ok(Session::new(self.clone(), id, instance, place))
    }

    /// Where calls run that are made apart.
    pub(crate) fn threads(&self) -> &Threads {
        self.engine.threads()
    }

    /// Drive a call to its end or its deadline, count it and report its failure. It comes pinned
    /// for the reason that `Meter::watch` gives.
    pub(crate) async fn bounded<O>(
        &self,
        id: &str,
        started: Instant,
        deadline: Instant,
        run: Pin<&mut impl Future<Output = Result<O, Failure>>>,
    ) -> Result<O, CallError> {
        let ending = Ending {
            counters: Some(&self.counters),
        };
        let outer = tokio::time::Instant::from_std(deadline + DEADLINE_GRACE);
        let outcome = tokio::time::timeout_at(outer, run).await;
        ending.reached();
        self.counters.called(micros(started.elapsed()));
        let late = |_| Err(CallError::deadline(&self.options).into());
        outcome
            .unwrap_or_else(late)
            .map_err(|failure| self.report(id, failure))
    }

    async fn instantiate(&self, data: T, deadline: Instant) -> Result<Instance<T, X>, Failure> {
        let (pre, engine, options) = (&self.pre, &self.engine, &self.options);
        Instance::new(pre, engine, options, &self.counters, deadline, data).await
    }

    /// Return the instance to the pool, unless it must be retired.
    fn keep(&self, mut instance: Instance<T, X>, placeholder: Option<T>) {
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

    pub(crate) fn report(&self, request_id: &str, failure: Failure) -> CallError {
        self.counters.failed(&failure.error);
        let handler = self.options.name.as_str();
        let version = self.options.version.as_deref();
        let error = failure.error.chain();
        if matches!(failure.error, CallError::Overloaded { .. }) {
            tracing::warn!(handler, version, request_id, error, "handler call refused");
        } else {
            let backtrace = failure.backtrace.as_deref().unwrap_or("none");
            tracing::error!(
                handler,
                version,
                request_id,
                error,
                backtrace,
                "handler call failed"
            );
        }
        failure.error
    }
}

impl<T: CallData, X: Exports<T>> fmt::Debug for Guest<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest")
            .field("options", &self.options)
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
