//! Every command that a bench knows, in one chain: its verb, and the part that answers it.

use std::sync::Arc;

use acquire::Request;
use serde_json::{Value, json};

use crate::args::Args;
use crate::bench::Parts;
use crate::plain;
use crate::presence::{Lack, Part};
use crate::refuse::Refuse;
use crate::sampling::{self, Capture, Dual, Sampler};
use crate::{probe, uart};

/// How a command goes on.
pub(crate) enum Next {
    Reply(Value),
    Uart(uart::Opened),
    Probe(probe::Opened),
    Capture(Capture),
}

/// Runs a command, or tells how it goes on.
pub(crate) async fn dispatch(parts: &Parts, args: &Args<'_>) -> Result<Next, Refuse> {
    let verb = args.text("cmd")?.ok_or(Refuse::MissingCommand)?;
    let data = match verb {
        "ping" => json!("pong"),
        "status" => parts.status(),
        "identity_public" => parts.identity(),
        "la_voltage" => plain::la_voltage(args)?,
        "la_pins" => plain::la_pins(parts),
        "uart_proxy_start" => {
            let uart = has(parts.uart.as_ref(), Part::Uart)?;
            return uart.start(args).await.map(Next::Uart);
        }
        "uart_break" => {
            has(parts.uart.as_ref(), Part::Uart)?
                .send_break(args)
                .await?
        }
        "dap_start" => {
            let probe = has(parts.probe.as_ref(), Part::Probe)?;
            return probe.start(args).await.map(Next::Probe);
        }
        "nrst" => has(parts.probe.as_ref(), Part::Probe)?.nrst(args).await?,
        "target_power" => {
            let power = has(parts.power.as_ref(), Part::Power)?;
            power.target_power(args).await?
        }
        "target_status" => has(parts.power.as_ref(), Part::Power)?.target_status()?,
        "power_status" => {
            has(parts.power.as_ref(), Part::Power)?
                .power_status()
                .await?
        }
        "analog_path" => plain::analog_path(has(parts.analog.as_ref(), Part::Analog)?, args)?,
        "la_capture" => {
            return capture(has(parts.logic.as_ref(), Part::Logic)?, args, sampling::la);
        }
        "capture" | "stream" => {
            return capture(
                has(parts.analog.as_ref(), Part::Analog)?,
                args,
                sampling::adc,
            );
        }
        "capture_dual" => {
            let kind = Dual::of(args)?;
            let sampler = match kind {
                Dual::Adc => has(parts.analog.as_ref(), Part::Analog)?,
                Dual::La => has(parts.logic.as_ref(), Part::Logic)?,
                Dual::Both => parts.of_both()?,
            };
            return capture(sampler, args, |of, args| sampling::dual(of, args, &kind));
        }
        _ => return Err(Refuse::UnknownCommand),
    };
    Ok(Next::Reply(data))
}

fn capture(
    sampler: &Arc<Sampler>,
    args: &Args<'_>,
    request: impl Fn(&Sampler, &Args<'_>) -> Result<Request, Refuse>,
) -> Result<Next, Refuse> {
    let request = request(sampler, args)?;
    let is_b64 = args.text("enc")? == Some("b64");
    Ok(Next::Capture(Capture::new(sampler, request, is_b64)))
}

impl Parts {
    /// What samples logic channels and the analog input from one instant.
    fn of_both(&self) -> Result<&Arc<Sampler>, Refuse> {
        let logic = has(self.logic.as_ref(), Part::Logic)?;
        let analog = has(self.analog.as_ref(), Part::Analog)?;
        if !logic.is_one_with(analog) {
            return Err(Refuse::BothAtOnce);
        }
        match self.presences.lack(Part::Analog) {
            Some(lack) => Err(Refuse::lack(Part::Analog, lack)),
            None => Ok(logic),
        }
    }
}

/// A part that the bench has, whether it can be reached or not.
fn has<T>(part: Option<&T>, name: Part) -> Result<&T, Refuse> {
    part.ok_or_else(|| Refuse::lack(name, Lack::None))
}
