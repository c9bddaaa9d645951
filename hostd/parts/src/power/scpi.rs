//! A bench supply that is told in SCPI what to give: voltage and limit, output on or off, and read back.
//!
//! After every setting its error queue is read, since a supply that does not understand a command says nothing else. What the
//! commands are called depends on who made the supply.

use base::config::ScpiDialect;
use tracing::info;

use super::answer;
use super::source::{Reading, Trouble};
use super::wire::{PORT_DEFAULT, Wire};
use crate::address::{self, Address};

mod dialect;

use dialect::Words;

/// What asks for an error.
const ASK_ERROR: &str = "SYST:ERR?";

/// Entries of an error queue that are read after a setting; SCPI demands room for two.
const ERRORS_MAX: usize = 16;

/// What a supply is and what it is set to.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    address: Address,
    voltage_mv: Option<u32>,
    limit_ma: Option<u32>,
    select: Option<String>,
    /// None = that of who made it.
    dialect: Option<ScpiDialect>,
    channel: Option<u8>,
}

impl Plan {
    pub(super) fn new(
        address: &str,
        voltage_mv: Option<u32>,
        limit_ma: Option<u32>,
        select: Option<String>,
        dialect: Option<ScpiDialect>,
        channel: Option<u8>,
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
            dialect,
            channel,
        })
    }
}

/// A supply that is open.
#[derive(Debug)]
pub(super) struct Scpi {
    plan: Plan,
    words: Words,
    /// None after an exchange that was not finished: nobody could tell which answer belongs to what.
    wire: Option<Wire>,
}

impl Scpi {
    /// Opens a supply. One whose errors cannot be read is away, since it could refuse anything.
    pub(super) async fn open(plan: &Plan) -> Result<Self, Trouble> {
        let mut wire = Wire::open(&plan.address).await?;
        let identity = ask(&mut wire, "*IDN?").await?;
        let dialect = plan.dialect.unwrap_or_else(|| dialect::of(&identity));
        let supply = answer::shown(&identity);
        info!(supply, dialect = dialect::name(dialect), "opened a supply");
        let words = Words::new(dialect, plan.channel).map_err(Trouble::Away)?;
        let mut scpi = Self {
            plan: plan.clone(),
            words,
            wire: Some(wire),
        };
        // Errors of others are none of ours.
        if let Some(clear) = words.clear() {
            scpi.tell(clear).await?;
        }
        scpi.errors().await?;
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
                self.set(&self.words.volts(&thousandths(mv))).await?;
            }
            if let Some(ma) = self.plan.limit_ma {
                self.set(&self.words.amps(&thousandths(ma))).await?;
            }
        }
        self.set(&self.words.switch(on)).await?;
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
        let volts = self.ask(&self.words.ask_volts()).await?;
        let amps = self.ask(&self.words.ask_amps()).await?;
        let read = answer::scaled(&volts, 1e3).zip(answer::scaled(&amps, 1e6));
        Ok(read.map(|(mv, ua)| Reading { mv, ua }))
    }

    async fn select(&mut self) -> Result<(), Trouble> {
        let select = self.plan.select.clone().or_else(|| self.words.select());
        match select {
            Some(select) => self.set(&select).await,
            None => Ok(()),
        }
    }

    async fn output(&mut self) -> Result<bool, Trouble> {
        let asked = self.words.ask_switch();
        let told = self.ask(&asked).await?;
        let is_on = self.words.is_on(&told);
        is_on.ok_or_else(|| unclear(&asked, &told))
    }

    /// Sends a setting and reads what the supply thinks of it.
    async fn set(&mut self, command: &str) -> Result<(), Trouble> {
        self.tell(command).await?;
        match self.errors().await? {
            None => Ok(()),
            Some(error) => Err(Trouble::Refused(format!(
                "the supply refused `{command}`: {error}"
            ))),
        }
    }

    /// Empties the error queue; the first error that was in it.
    async fn errors(&mut self) -> Result<Option<String>, Trouble> {
        let mut first = None;
        for _ in 0..ERRORS_MAX {
            let told = self.ask(ASK_ERROR).await?;
            match answer::error(&told) {
                Some((0, _)) => return Ok(first),
                Some((number, text)) => {
                    first.get_or_insert(format!("{number}, {text}"));
                }
                None => return Err(unclear(ASK_ERROR, &told)),
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
        let answer = ask(&mut wire, command).await?;
        self.wire = Some(wire);
        Ok(answer)
    }

    fn take(&mut self) -> Result<Wire, Trouble> {
        let lost = || Trouble::Away("an answer of the supply is missing".to_owned());
        self.wire.take().ok_or_else(lost)
    }
}

/// The answer to a question.
async fn ask(wire: &mut Wire, command: &str) -> Result<String, Trouble> {
    wire.tell(command).await?;
    let answered = wire.answer().await;
    answered.map_err(|error| Trouble::Away(format!("{command}: {error}")))
}

fn unclear(command: &str, told: &str) -> Trouble {
    let told = answer::shown(told);
    Trouble::Away(format!("the supply answered `{told}` to {command}"))
}

/// A number of thousandths as SCPI takes it: `3.300`.
fn thousandths(number: u32) -> String {
    format!("{}.{:03}", number / 1000, number % 1000)
}
