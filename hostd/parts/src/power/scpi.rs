//! A bench supply that is told in SCPI what to give: voltage and limit, output on or off, and read back.
//!
//! After every setting its error queue is read, since a supply that does not understand a command says nothing else.

use tracing::info;

use super::answer;
use super::source::{Reading, Trouble};
use super::wire::{PORT_DEFAULT, Wire};
use crate::address::{self, Address};

/// Entries of an error queue that are read after a setting; SCPI demands room for two.
const ERRORS_MAX: usize = 16;

/// What a supply is and what it is set to.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    address: Address,
    voltage_mv: Option<u32>,
    limit_ma: Option<u32>,
    select: Option<String>,
}

impl Plan {
    pub(super) fn new(
        address: &str,
        voltage_mv: Option<u32>,
        limit_ma: Option<u32>,
        select: Option<String>,
    ) -> Result<Self, String> {
        let parsed = Address::parse(address, PORT_DEFAULT);
        let form = address::FORM;
        let address =
            parsed.ok_or_else(|| format!("power.address `{address}` is not of the form {form}"))?;
        Ok(Self {
            address,
            voltage_mv,
            limit_ma,
            select,
        })
    }
}

/// A supply that is open.
#[derive(Debug)]
pub(super) struct Scpi {
    plan: Plan,
    /// None after an exchange that was not finished: nobody could tell which answer belongs to what.
    wire: Option<Wire>,
}

impl Scpi {
    pub(super) async fn open(plan: &Plan) -> Result<Self, Trouble> {
        let wire = Wire::open(&plan.address).await?;
        let mut scpi = Self {
            plan: plan.clone(),
            wire: Some(wire),
        };
        let identity = scpi.ask("*IDN?").await?;
        info!(supply = answer::shown(&identity), "opened a supply");
        // Errors of others are none of ours.
        scpi.tell("*CLS").await?;
        Ok(scpi)
    }

    /// Whether its output is on.
    pub(super) async fn is_on(&mut self) -> Result<bool, Trouble> {
        self.select().await?;
        self.output().await
    }

    pub(super) async fn switch(&mut self, on: bool) -> Result<(), Trouble> {
        self.select().await?;
        if on {
            if let Some(mv) = self.plan.voltage_mv {
                self.set(&format!("VOLT {}", thousandths(mv))).await?;
            }
            if let Some(ma) = self.plan.limit_ma {
                self.set(&format!("CURR {}", thousandths(ma))).await?;
            }
        }
        self.set(if on { "OUTP ON" } else { "OUTP OFF" }).await?;
        if self.output().await? == on {
            return Ok(());
        }
        let told = if on { "on" } else { "off" };
        Err(Trouble::Refused(format!(
            "the supply was told to switch {told} and says that it has not"
        )))
    }

    /// What its output gives.
    pub(super) async fn read(&mut self) -> Result<Option<Reading>, Trouble> {
        self.select().await?;
        let volts = self.ask("MEAS:VOLT?").await?;
        let amps = self.ask("MEAS:CURR?").await?;
        let read = answer::scaled(&volts, 1e3).zip(answer::scaled(&amps, 1e6));
        Ok(read.map(|(mv, ua)| Reading { mv, ua }))
    }

    async fn select(&mut self) -> Result<(), Trouble> {
        match self.plan.select.clone() {
            Some(select) => self.set(&select).await,
            None => Ok(()),
        }
    }

    async fn output(&mut self) -> Result<bool, Trouble> {
        let told = self.ask("OUTP?").await?;
        answer::switch(&told).ok_or_else(|| unclear("OUTP?", &told))
    }

    /// Sends a setting and reads what the supply thinks of it.
    async fn set(&mut self, command: &str) -> Result<(), Trouble> {
        self.tell(command).await?;
        let mut first = None;
        for _ in 0..ERRORS_MAX {
            let told = self.ask("SYST:ERR?").await?;
            match answer::error(&told) {
                Some((0, _)) => {
                    return first.map_or(Ok(()), |error| Err(Trouble::Refused(error)));
                }
                Some((number, text)) => {
                    first
                        .get_or_insert(format!("the supply refused `{command}`: {number}, {text}"));
                }
                None => return Err(unclear("SYST:ERR?", &told)),
            }
        }
        Err(Trouble::Away(format!(
            "the supply still tells of errors after {ERRORS_MAX} of them"
        )))
    }

    async fn tell(&mut self, command: &str) -> Result<(), Trouble> {
        let mut wire = self.take()?;
        wire.tell(command).await?;
        self.wire = Some(wire);
        Ok(())
    }

    async fn ask(&mut self, command: &str) -> Result<String, Trouble> {
        let mut wire = self.take()?;
        wire.tell(command).await?;
        let answer = wire.answer().await?;
        self.wire = Some(wire);
        Ok(answer)
    }

    fn take(&mut self) -> Result<Wire, Trouble> {
        let lost = || Trouble::Away("an answer of the supply is missing".to_owned());
        self.wire.take().ok_or_else(lost)
    }
}

fn unclear(command: &str, told: &str) -> Trouble {
    let told = answer::shown(told);
    Trouble::Away(format!("the supply answered `{told}` to {command}"))
}

/// A number of thousandths as SCPI takes it: `3.300`.
fn thousandths(number: u32) -> String {
    format!("{}.{:03}", number / 1000, number % 1000)
}
