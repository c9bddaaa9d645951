//! One flash: its task, and what others see of it.

use std::sync::Arc;
use std::time::Duration;

use ::flash::{FlashError, Image, Progress, Report, Stop};
use pods::pod::{BlockingDap, DapRequest, DapSession};
use pods::{Pod, PodError, Session};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};
use tracing::{debug, info, warn};

use super::link::{Left, Link};
use super::outcome::{Ended, Failure, Outcome};
use super::state::{Course, State};
use super::{ATTENDED_WAIT, Firmware, Request, UNATTENDED_WAIT};
use crate::leases::Visit;
use crate::uart::During;
use base::clock::Clock;

/// Time for one exchange with the probe. The longest one is a packet of transfers that the target
/// stalls.
const EXCHANGE_WAIT: Duration = Duration::from_secs(5);

/// How long the pod may wait for a target that has just been switched on.
const POWER_UP_WAIT: Duration = Duration::from_secs(5);

/// A flash as others see it.
#[derive(Debug)]
pub(super) struct Job {
    /// The constant part; its course is the initial one.
    asked: State,
    course: watch::Sender<Course>,
    cancelled: watch::Sender<bool>,
}

impl Job {
    pub(super) fn new(
        id: String,
        device: &str,
        request: &Request,
        firmware: &Firmware,
        created_ms: u64,
    ) -> Self {
        let course = Course::new();
        let asked = State {
            id,
            device: device.to_owned(),
            target: request.target.clone(),
            name: firmware.name.clone(),
            size_bytes: firmware.size_bytes,
            sha256: firmware.sha256.clone(),
            build: firmware.build.clone(),
            created_ms,
            course: course.clone(),
        };
        Self {
            asked,
            course: watch::Sender::new(course),
            cancelled: watch::Sender::new(false),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.asked.id
    }

    pub(super) fn device(&self) -> &str {
        &self.asked.device
    }

    pub(super) fn state(&self) -> State {
        State {
            course: self.course.borrow().clone(),
            ..self.asked.clone()
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.course.borrow().outcome.is_none()
    }

    pub(super) fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    pub(super) fn watch(&self) -> watch::Receiver<Course> {
        self.course.subscribe()
    }

    /// Resolves when it has ended.
    pub(super) async fn ended(&self) -> State {
        let mut course = self.course.subscribe();
        // The sender lives as long as this.
        let _ = course.wait_for(|course| course.outcome.is_some()).await;
        self.state()
    }

    fn note(&self, progress: Progress) {
        self.course.send_modify(|course| course.note(progress));
    }

    fn end(&self, outcome: Outcome, at_ms: u64) {
        self.course.send_modify(|course| course.end(outcome, at_ms));
    }
}

/// Everything that carrying out a request needs.
pub(super) struct Task {
    pub(super) job: Arc<Job>,
    pub(super) pod: Pod,
    pub(super) visit: Visit,
    pub(super) request: Request,
    pub(super) clock: Clock,
    /// Notifies clients of the device's UART.
    pub(super) during: During,
    pub(super) stopping: watch::Receiver<bool>,
}

/// The flashing thread's result.
type Told = (Result<Report, FlashError>, Vec<String>);

impl Task {
    /// Carry it out with `image`, over a `flash` session with the pod.
    pub(super) async fn run(mut self, session: Session, image: Image) {
        let began = Instant::now();
        let deadline = began
            + if self.request.attended {
                ATTENDED_WAIT
            } else {
                UNATTENDED_WAIT
            };
        let mut told_to_end = self.job.cancelled.subscribe();
        let prepared = tokio::select! {
            biased;
            ended = until_told(&mut self.visit, &mut told_to_end, &mut self.stopping) => {
                Err(Failure::of_end(ended))
            }
            prepared = timeout_at(deadline, prepare(&self.pod, &self.request, session)) => {
                match prepared {
                    Ok(Ok(dap)) => Ok(dap),
                    Ok(Err(error)) => Err(Failure::of_pod(&error)),
                    Err(_) => Err(Failure::of_deadline()),
                }
            }
        };
        let outcome = match prepared {
            Ok(dap) => self.program(dap, image, began, deadline).await,
            Err(failure) => Outcome::of_failure(failure, Vec::new(), began.elapsed()),
        };
        let error = outcome.failure.as_ref().map(|f| f.sentence.as_str());
        info!(
            flash = self.job.id(),
            device = self.job.device(),
            phase = outcome.phase().name(),
            error,
            duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            "flash ended"
        );
        let Self {
            job,
            visit,
            clock,
            during,
            ..
        } = self;
        // Anyone who learns of the end may use the device.
        drop(visit);
        during.end(outcome.phase().stage());
        job.end(outcome, clock.now_ms());
    }

    async fn program(
        &mut self,
        dap: DapSession,
        image: Image,
        began: Instant,
        deadline: Instant,
    ) -> Outcome {
        let (dap, cancel) = dap.blocking(EXCHANGE_WAIT, deadline);
        let left = Left::default();
        let stop = Stop::at(deadline.into_std());
        let thread = self.start_thread(dap, image, &left, &stop);
        let mut told = match thread {
            Ok(told) => told,
            Err(error) => {
                warn!(%error, "failed to start a thread that flashes");
                let took = began.elapsed();
                return Outcome::of_failure(Failure::of_panic(), Vec::new(), took);
            }
        };
        let mut told_to_end = self.job.cancelled.subscribe();
        let mut ended = None;
        let result = tokio::select! {
            biased;
            result = &mut told => result,
            why = until_told(&mut self.visit, &mut told_to_end, &mut self.stopping) => {
                ended = Some(why);
                stop.cancel();
                cancel.cancel();
                // No exchange is under way any more, so this returns at once.
                told.await
            }
        };
        if let Some(dap) = left.take()
            && let Err(error) = dap.into_session().close().await
        {
            debug!(%error, "a flash ended before the pod had let go");
        }
        let took = began.elapsed();
        match result {
            Ok((Ok(report), lines)) => Outcome::of_report(report, lines, took),
            Ok((Err(error), lines)) => {
                Outcome::of_failure(Failure::of_flash(&error, ended), lines, took)
            }
            Err(_) => Outcome::of_failure(Failure::of_panic(), Vec::new(), took),
        }
    }

    fn start_thread(
        &self,
        dap: BlockingDap,
        image: Image,
        left: &Left,
        stop: &Stop,
    ) -> std::io::Result<oneshot::Receiver<Told>> {
        let (tell, told) = oneshot::channel();
        let (job, link, stop) = (self.job.clone(), Link::new(dap, left.clone()), stop.clone());
        let request = ::flash::Request {
            load_address: self.request.load_address,
            verify: self.request.verify,
            reset: self.request.reset,
            force: self.request.force,
            connect_under_reset: self.request.connect_under_reset,
            ..::flash::Request::new(self.request.target.clone(), image)
        };
        let flash = move || {
            let mut lines = Vec::new();
            let mut last = None;
            let result = ::flash::run(link, &request, &stop, &mut |progress: Progress| {
                if last.replace(progress.phase) != Some(progress.phase) {
                    lines.push(line(progress));
                }
                job.note(progress);
            });
            // Nobody waits for it if the server is gone.
            let _ = tell.send((result, lines));
        };
        std::thread::Builder::new()
            .name("flash".to_owned())
            .spawn(flash)?;
        Ok(told)
    }
}

fn line(progress: Progress) -> String {
    match progress.total {
        0 => progress.phase.to_string(),
        total => format!("{} {total} bytes", progress.phase),
    }
}

/// Prepare the pod: channel level, power, debug probe.
async fn prepare(pod: &Pod, request: &Request, session: Session) -> Result<DapSession, PodError> {
    if pod.la_voltage().await?.mv == 0 {
        pod.set_la_voltage(request.la_mv).await?;
    }
    let mut dap = DapRequest::new(request.swclk, request.swdio);
    if let Some(efuse) = request.efuse {
        pod.target_power(efuse, true, None).await?;
        dap.wait = Some(POWER_UP_WAIT);
    }
    DapSession::start(session, &dap).await
}

/// Resolves when the flash has to end before it is done.
async fn until_told(
    visit: &mut Visit,
    cancelled: &mut watch::Receiver<bool>,
    stopping: &mut watch::Receiver<bool>,
) -> Ended {
    tokio::select! {
        biased;
        () = set(cancelled) => Ended::Cancelled,
        () = visit.over() => Ended::LeaseLost,
        () = set(stopping) => Ended::Stopping,
    }
}

/// Resolves when a flag is set; never if nobody can set it any more.
async fn set(flag: &mut watch::Receiver<bool>) {
    if flag.wait_for(|set| *set).await.is_err() {
        std::future::pending::<()>().await;
    }
}
