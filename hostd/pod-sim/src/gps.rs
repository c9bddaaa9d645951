//! The emulated GPS receiver: NMEA sentences as UART bits on a channel. What it has sent, and where
//! it is, is computed from the time; nothing runs while nobody looks.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

mod fix;
mod line;
mod nmea;
mod session;
mod sky;
mod utc;

use super::args::Args;
use super::pins::{Owner, Pins, bit};
use super::refuse::Refuse;
use super::wave::Wave;
use fix::Fix;
use line::Line;
use nmea::Sentence;
use session::{Session, Settings};
use sky::Sky;

const BAUD: std::ops::RangeInclusive<i64> = 300..=921_600;
const DEFAULT_BAUD: u32 = 9_600;
const RATE_HZ: std::ops::RangeInclusive<i64> = 1..=10;
const DEFAULT_RATE_HZ: u64 = 1;

const SENTENCES_FORM: &str = "a list out of RMC,VTG,GGA,GSA,GSV,GLL";

/// Maximum number of ended sessions kept for captures; the oldest are forgotten.
const SESSIONS_MAX: usize = 64;

/// The receiver.
pub(crate) struct Gps {
    sky: Arc<Sky>,
    /// While it is stopped: the fix that it starts with.
    fix: Fix,
    /// Oldest first; only the last one may be running.
    sessions: VecDeque<Arc<Session>>,
}

impl Gps {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            sky: Arc::new(Sky::new(seed)),
            fix: Fix::power_on(),
            sessions: VecDeque::new(),
        }
    }

    fn running(&self) -> Option<&Arc<Session>> {
        self.sessions.back().filter(|session| session.is_running())
    }

    fn running_mut(&mut self) -> Option<&mut Session> {
        let last = self.sessions.back_mut();
        last.filter(|session| session.is_running())
            .map(Arc::make_mut)
    }

    /// Its current fix.
    fn fix(&self, now_ns: u64) -> Fix {
        self.running()
            .map_or(self.fix, |session| session.present(now_ns))
    }

    /// Stops sending, in the middle of a bit if necessary; the fix stays. The caller frees the
    /// channel.
    fn end(&mut self, now_ns: u64) {
        self.fix = self.fix(now_ns);
        if let Some(session) = self.running_mut() {
            session.end(now_ns);
        }
    }

    /// Stops and forgets its fix.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        self.end(now_ns);
        self.fix = Fix::power_on();
    }

    pub(crate) fn prune(&mut self, before_ns: u64) {
        self.sessions
            .retain(|session| !session.has_ended(before_ns));
        while self.sessions.len() > SESSIONS_MAX {
            self.sessions.pop_front();
        }
        if let Some(session) = self.running_mut() {
            session.prune(before_ns);
        }
    }

    /// What is sent on these channels from `from_ns` to `to_ns`, and afterwards.
    pub(crate) fn waves(
        &self,
        from_ns: u64,
        to_ns: u64,
        channels: u16,
    ) -> impl Iterator<Item = Box<dyn Wave>> {
        let sessions = self.sessions.iter().filter(move |session| {
            let heard = bit(session.settings.tx) & channels != 0;
            heard && session.start_ns <= to_ns && !session.has_ended(from_ns)
        });
        sessions.map(move |session| Box::new(Line::new(session.clone(), from_ns)) as Box<dyn Wave>)
    }

    fn report(&self, now_ns: u64) -> Value {
        let mut report = json!({"active": false});
        if let Some(session) = self.running() {
            let Settings {
                tx,
                baud,
                rate_hz,
                sentences,
            } = &session.settings;
            let names: Vec<_> = sentences.iter().map(|sentence| sentence.name()).collect();
            let counts = session.counts(now_ns);
            report = json!({"active": true, "tx": tx, "baud": baud, "rate_hz": rate_hz,
                "sentences": names.join(","), "epochs": counts.epochs,
                "overruns": counts.overruns, "bytes": counts.bytes});
        }
        let fix = self.fix(now_ns);
        let fields = [
            ("latitude_deg", json!(fix.latitude_deg)),
            ("longitude_deg", json!(fix.longitude_deg)),
            ("altitude_m", json!(fix.altitude_m)),
            ("speed_kmh", json!(fix.speed_kmh)),
            ("course_deg", json!(fix.course_deg)),
            ("satellites", json!(fix.satellites)),
            ("hdop", json!(fix.hdop)),
            ("fix", json!(fix.quality.digit())),
            ("utc", json!(fix.utc_us / 1_000_000)),
        ];
        for (name, value) in fields {
            report[name] = value;
        }
        report
    }
}

/// `gps_start`: sends on a channel, replacing a running session.
pub(crate) fn start(
    gps: &mut Gps,
    pins: &mut Pins,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    pins.need_bank()?;
    let tx = args.la("tx")?.ok_or(Refuse::Missing { field: "tx" })?;
    let baud = args.uint("baud", BAUD)?.unwrap_or(DEFAULT_BAUD);
    let rate_hz = args.uint("rate_hz", RATE_HZ)?.unwrap_or(DEFAULT_RATE_HZ);
    let settings = Settings {
        tx,
        baud,
        rate_hz,
        sentences: sentences(args)?,
    };
    let (fix, _) = gps.fix(now_ns).with(args)?;
    let session = Session::new(settings, fix, gps.sky.clone(), now_ns);
    let needed = session.bits_per_s();
    if needed > u64::from(baud) {
        return Err(Refuse::GpsRate { needed, baud });
    }
    if pins.owner(tx) != Owner::GpsTx {
        pins.check_claim(tx, Owner::GpsTx, now_ns)?;
    }
    gps.end(now_ns);
    pins.free(&[Owner::GpsTx], now_ns);
    pins.claim_all(&[(tx, Owner::GpsTx)], now_ns)?;
    gps.sessions.push_back(Arc::new(session));
    Ok(gps.report(now_ns))
}

/// `gps_set`: changes the fix, from the next epoch on or for the next start.
pub(crate) fn set(gps: &mut Gps, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let before = match gps.running() {
        Some(session) => session.upcoming(now_ns),
        None => gps.fix,
    };
    let (fix, any) = before.with(args)?;
    if !any {
        return Err(Refuse::Missing { field: "a value" });
    }
    match gps.running_mut() {
        Some(session) => session.change(fix, now_ns),
        None => gps.fix = fix,
    }
    Ok(gps.report(now_ns))
}

/// `gps_status`.
pub(crate) fn status(gps: &Gps, now_ns: u64) -> Value {
    gps.report(now_ns)
}

/// `gps_stop`: stops and frees the channel.
pub(crate) fn stop(gps: &mut Gps, pins: &mut Pins, now_ns: u64) -> Value {
    gps.end(now_ns);
    pins.free(&[Owner::GpsTx], now_ns);
    Value::Null
}

/// The requested sentences, in the order in which they are sent; all if the field is absent.
fn sentences(args: &Args<'_>) -> Result<Vec<Sentence>, Refuse> {
    let Some(text) = args.text("sentences")? else {
        return Ok(Sentence::ALL.to_vec());
    };
    let words = text.split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    let named = |word: &str| Sentence::ALL.into_iter().find(|it| it.name() == word);
    let asked = words.map(named).collect::<Option<Vec<_>>>();
    let mut asked = asked.filter(|asked| !asked.is_empty()).ok_or(Refuse::Bad {
        field: "sentences",
        want: SENTENCES_FORM,
    })?;
    asked.sort_unstable();
    asked.dedup();
    Ok(asked)
}

#[cfg(test)]
mod tests;
