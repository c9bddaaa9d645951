//! The device on its server: who it is, how it is wired, its lease, and tokens for streams.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use base::id;
use serde_json::{Value, json};
use ureq::SendBody;

use super::super::patience::tell;
use super::super::server::{self, Failed, Server};
use super::over::{Ending, Over};
use super::{blocking, over};

/// Life of a lease that is not renewed, after which a device is free whatever became of this process.
pub(super) const LEASE_S: u32 = 60;

/// Life of a session token, the longest there is.
const TOKEN_S: u64 = 86_400;

/// Life that a token has at least when a stream is opened with it.
const TOKEN_LEFT_MIN: Duration = Duration::from_secs(TOKEN_S / 2);

/// Random characters of a lease's id.
const LEASE_ID_CHARS: usize = 32;

/// Pause before a device is asked for again, if the server names none.
const PAUSE: Duration = Duration::from_secs(2);

/// Longest pause, whatever the server says: who has the device may give it back before they said they would.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Time for the server to take the lease back.
const RELEASE_WAIT: Duration = Duration::from_secs(10);

/// Time for the server to hear that this one no longer waits.
const LEAVE_WAIT: Duration = Duration::from_secs(4);

/// The header that shows a lease.
pub(super) const LEASE_HEADER: &str = "x-bench-lease";

/// A device on its server.
pub(super) struct Bench {
    server: Server,
    id: String,
    name: String,
    token: Mutex<Option<Token>>,
}

struct Token {
    text: String,
    expires: Instant,
}

/// How the device is used: what was asked for, or how it is wired.
#[derive(Debug, Clone)]
pub(super) struct Wiring {
    pub(super) chip: Option<String>,
    /// The rail to switch on.
    pub(super) efuse: Option<u8>,
    pub(super) baud: Option<u32>,
    pub(super) uart_rx: Option<u8>,
    pub(super) uart_tx: Option<u8>,
    pub(super) swclk: u8,
    pub(super) swdio: u8,
    pub(super) la_mv: u32,
}

/// A lease that holds the device.
pub(super) struct Held {
    lease: String,
    /// It was taken here, and is given back here.
    is_own: bool,
}

impl Bench {
    /// Finds a device by its name or id.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or there is no such device.
    pub(super) fn find(server: Server, device: &str) -> Result<Self, Failed> {
        let listed = server::json(server.send("GET", "/bench/devices", &[], SendBody::none())?)?;
        let all = listed["devices"].as_array().cloned().unwrap_or_default();
        let is = |found: &&Value| found["name"] == device || found["id"] == device;
        let Some(found) = all.iter().find(is) else {
            let names: Vec<&str> = all.iter().filter_map(|one| one["name"].as_str()).collect();
            let there = match names.is_empty() {
                true => "there is none".to_owned(),
                false => format!("there are {}", names.join(", ")),
            };
            return Err(Failed::Here(anyhow!("find the device `{device}`: {there}")));
        };
        let text = |member: &str| found[member].as_str().unwrap_or_default().to_owned();
        let (id, name) = (text("id"), text("name"));
        Ok(Self {
            server,
            id,
            name,
            token: Mutex::default(),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// # Errors
    /// As [`Server::send`].
    pub(super) fn wiring(&self) -> Result<Wiring, Failed> {
        let path = format!("/bench/devices/{}/wiring/profile", self.id);
        let told = server::json(self.server.send("GET", &path, &[], SendBody::none())?)?;
        let profile = &told["profile"];
        let channel = |member: &str| {
            let number = profile[member].as_u64();
            number.and_then(|number| u8::try_from(number).ok())
        };
        let wired = |member: &str| {
            let missing = || Failed::Here(anyhow!("know the device's wiring: it has no {member}"));
            channel(member).ok_or_else(missing)
        };
        let chip = profile["swd_target"]
            .as_str()
            .filter(|chip| !chip.is_empty());
        Ok(Wiring {
            chip: chip.map(str::to_owned),
            efuse: channel("efuse"),
            baud: None,
            uart_rx: None,
            uart_tx: None,
            swclk: wired("swd_swclk")?,
            swdio: wired("swd_swdio")?,
            la_mv: profile["la_mv"]
                .as_u64()
                .and_then(|mv| u32::try_from(mv).ok())
                .unwrap_or(3300),
        })
    }

    /// Whether the device is there.
    ///
    /// # Errors
    /// As [`Server::send`].
    pub(super) fn is_online(&self) -> Result<bool, Failed> {
        let path = format!("/bench/devices/{}", self.id);
        let record = server::json(self.server.send("GET", &path, &[], SendBody::none())?)?;
        Ok(record["online"] != false)
    }

    /// The server, asked with a session token for this device alone.
    ///
    /// # Errors
    /// As [`Server::send`].
    pub(super) fn session(&self) -> Result<Server, Failed> {
        let known = self.token().as_ref().and_then(|token| {
            let left = token.expires.saturating_duration_since(Instant::now());
            (left >= TOKEN_LEFT_MIN).then(|| token.text.clone())
        });
        let text = match known {
            Some(text) => text,
            None => self.mint()?,
        };
        let server = self.server.with_authorization(&format!("Bearer {text}"));
        server.map_err(Failed::Here)
    }

    fn mint(&self) -> Result<String, Failed> {
        let asked = Instant::now();
        let body = json!({"devices": [self.name], "ttl_seconds": TOKEN_S});
        let minted = self.server.post_json("/auth/token", &[], &body)?;
        let Some(text) = minted["token"].as_str() else {
            let error = anyhow!("understand the server's token");
            return Err(Failed::Here(error));
        };
        let life = minted["expires_in"].as_u64().unwrap_or(TOKEN_S);
        *self.token() = Some(Token {
            text: text.to_owned(),
            expires: asked + Duration::from_secs(life.min(TOKEN_S)),
        });
        Ok(text.to_owned())
    }

    fn token(&self) -> MutexGuard<'_, Option<Token>> {
        // It is replaced as a whole.
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews or releases a lease; the last word of the path says which.
    fn lease(&self, verb: &str, lease: &str) -> Result<Value, Failed> {
        let body = json!({"lease_id": lease, "run_label": label(), "ttl_seconds": LEASE_S});
        self.post_lease(verb, &body)
    }

    /// Takes the device, or a place in line for it, if `waits`.
    fn take(&self, lease: &str, waits: bool) -> Result<Value, Failed> {
        let body = json!({
            "lease_id": lease,
            "run_label": label(),
            "ttl_seconds": LEASE_S,
            "queue": waits,
        });
        self.post_lease("", &body)
    }

    fn post_lease(&self, verb: &str, body: &Value) -> Result<Value, Failed> {
        let headers = [("x-bench-device", self.name.as_str())];
        let path = format!("/cloud/devices/lease{verb}");
        self.session()?.post_json(&path, &headers, body)
    }

    /// # Errors
    /// The lease is over, or as [`Server::send`].
    pub(super) fn renew(&self, lease: &str) -> Result<(), Failed> {
        self.lease("/renew", lease).map(drop)
    }

    /// Selects the level of the pod's channels, if there is none, and switches the target's power on.
    ///
    /// # Errors
    /// The pod refuses, or as [`Server::send`].
    pub(super) fn prepare(&self, lease: &str, wiring: &Wiring) -> Result<(), Failed> {
        let level = self.command(lease, &json!({"cmd": "la_voltage"}))?;
        if level["mv"].as_u64().unwrap_or(0) == 0 {
            self.command(lease, &json!({"cmd": "la_voltage", "mv": wiring.la_mv}))?;
        }
        if let Some(efuse) = wiring.efuse {
            let on = json!({"cmd": "target_power", "efuse": efuse, "state": 1});
            self.command(lease, &on)?;
        }
        Ok(())
    }

    fn command(&self, lease: &str, command: &Value) -> Result<Value, Failed> {
        let headers = [
            ("x-bench-device", self.name.as_str()),
            (LEASE_HEADER, lease),
        ];
        let told = self
            .session()?
            .post_json("/cloud/devices/command", &headers, command)?;
        if told["status"] == "ok" {
            return Ok(told["data"].clone());
        }
        let why = told["error"].as_str().unwrap_or("no reason given");
        let command = command["cmd"].as_str().unwrap_or_default();
        Err(Failed::Lost(anyhow!("have the pod do `{command}`: {why}")))
    }
}

impl Held {
    pub(super) fn lease(&self) -> &str {
        &self.lease
    }

    /// Takes the device, and waits in line for it if that is wanted.
    ///
    /// # Errors
    /// Somebody else has it, or the request fails.
    pub(super) async fn take(
        bench: &Arc<Bench>,
        wait: Option<Duration>,
        ending: &Ending,
    ) -> Result<Self, Over> {
        let held = Self {
            lease: format!("connect-{}", id::base62(LEASE_ID_CHARS)),
            is_own: true,
        };
        match held.ask(bench, wait, ending).await {
            Ok(()) => Ok(held),
            Err(over) => {
                if matches!(over, Over::Lease(_) | Over::Server(_) | Over::Stopped) {
                    held.leave(bench).await;
                }
                Err(over)
            }
        }
    }

    /// Asks for the device until it is had, or the wait is over.
    async fn ask(
        &self,
        bench: &Arc<Bench>,
        wait: Option<Duration>,
        ending: &Ending,
    ) -> Result<(), Over> {
        let until = Instant::now() + wait.unwrap_or_default();
        let mut told = String::new();
        loop {
            let asked = {
                let (bench, lease) = (bench.clone(), self.lease.clone());
                blocking(move || bench.take(&lease, wait.is_some()))
            };
            let mut asked = std::pin::pin!(asked);
            let answer = match ending.unless(&mut asked).await {
                Ok(answer) => answer,
                Err(over) => {
                    // What it comes to is given up afterwards.
                    let _ = tokio::time::timeout(LEAVE_WAIT, asked).await;
                    return Err(over);
                }
            };
            let refusal = match answer {
                Ok(_) => return Ok(()),
                Err(Failed::Refused(refusal)) if refusal.code() == "lease_held" => refusal,
                Err(failed) => return Err(over(failed)),
            };
            let pause = refusal.retry_after.unwrap_or(PAUSE).clamp(PAUSE, PAUSE_MAX);
            let left = until.saturating_duration_since(Instant::now());
            let whose = whose(&refusal.body);
            if left.is_zero() {
                let advice = match wait {
                    Some(_) => "",
                    None => "; --wait 10m waits in line for it",
                };
                let name = bench.name();
                return Err(Over::Lease(format!("take {name}: {whose}{advice}")));
            }
            if told != whose {
                tell(&format!("waiting for {}: {whose}", bench.name()));
                told = whose;
            }
            ending.unless(tokio::time::sleep(pause.min(left))).await?;
        }
    }

    /// Gives up the place in line, and the device, should the last request have got it after all.
    /// What the server does not hear of expires.
    async fn leave(&self, bench: &Arc<Bench>) {
        let left = {
            let (bench, lease) = (bench.clone(), self.lease.clone());
            blocking(move || bench.lease("/release", &lease))
        };
        let _ = tokio::time::timeout(LEAVE_WAIT, left).await;
    }

    /// Uses a lease that is held already.
    ///
    /// # Errors
    /// It is not, or the request fails.
    pub(super) async fn borrow(
        bench: &Arc<Bench>,
        lease: &str,
        ending: &Ending,
    ) -> Result<Self, Over> {
        let renewed = {
            let (bench, lease) = (bench.clone(), lease.to_owned());
            blocking(move || bench.renew(&lease))
        };
        ending.unless(renewed).await?.map_err(over)?;
        Ok(Self {
            lease: lease.to_owned(),
            is_own: false,
        })
    }

    /// Gives back what was taken here. What cannot be given back expires.
    pub(super) async fn give_back(&self, bench: &Arc<Bench>, why: &Over) {
        if !self.is_own || matches!(why, Over::LeaseEnded(_)) {
            return;
        }
        let released = {
            let (bench, lease) = (bench.clone(), self.lease.clone());
            blocking(move || bench.lease("/release", &lease))
        };
        let name = bench.name();
        let sentence = match tokio::time::timeout(RELEASE_WAIT, released).await {
            Ok(Ok(_)) => format!("{name} is given back"),
            Ok(Err(failed)) => {
                format!(
                    "failed to give {name} back, which expires in {LEASE_S} s: failed to {failed}"
                )
            }
            Err(_) => format!("failed to give {name} back in time, which expires in {LEASE_S} s"),
        };
        tell(&sentence);
    }
}

/// Who has a device, as a refusal tells it.
fn whose(body: &Value) -> String {
    let text = |member: &str| body[member].as_str();
    let place = body["queue_place"].as_u64();
    let mut sentence = match (text("holder"), text("expires_at")) {
        (Some(holder), Some(until)) => format!("`{holder}` has it until {until}, or longer"),
        _ => text("error").unwrap_or("somebody else has it").to_owned(),
    };
    if let Some(place) = place {
        sentence = format!("{sentence} (place {place} in line)");
    }
    sentence
}

/// What others see of who has the device.
fn label() -> String {
    let user = std::env::var("USER").unwrap_or_default();
    match user.is_empty() {
        true => "hostd connect".to_owned(),
        false => format!("hostd connect ({user})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_a_device_is_named() {
        let held = json!({"error": "no", "holder": "run 7", "expires_at": "2026-01-02T03:06:05Z", "queue_place": 2});
        let sentence = "`run 7` has it until 2026-01-02T03:06:05Z, or longer (place 2 in line)";
        assert_eq!(whose(&held), sentence);
        let safe = json!({"error": "the device is being made safe", "holder": null});
        assert_eq!(whose(&safe), "the device is being made safe");
        assert_eq!(whose(&Value::Null), "somebody else has it");
    }
}
