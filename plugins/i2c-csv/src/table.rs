//! The table: a line for each transaction.

use hostd_plugin::captures::{self, Decoding};
use hostd_plugin::{Error, captures::Capture};

use crate::bus::{self, Bus};
use crate::csv;
use crate::transaction::{End, Transaction, Transactions};

/// Longest table in bytes; the host takes no longer document.
const BYTES_MAX: usize = 8 << 20;

/// What it is, for who gets it.
pub(crate) const MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

/// Names of the columns.
const COLUMNS: [&str; 10] = [
    "time_s",
    "duration_s",
    "scl",
    "sda",
    "address",
    "rw",
    "address_ack",
    "data",
    "ack",
    "end",
];

/// A capture's transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// Lines, the first with the names of the columns.
    pub(crate) text: String,
    pub(crate) transactions: u64,
}

/// The transactions of a capture. `scl` and `sda` name its channels where the capture does not say.
pub(crate) fn of(id: &str, scl: Option<&str>, sda: Option<&str>) -> Result<Table, Error> {
    let capture = captures::open(id)?;
    let rate_hz = rate_hz(&capture)?;
    let bus = bus::find(&capture, scl, sda)?;
    let mut table = Table {
        text: csv::line(COLUMNS),
        transactions: 0,
    };
    let mut add = |transaction: &Transaction| {
        table.text.push_str(&row(&bus, rate_hz, transaction));
        table.transactions += 1;
        match table.text.len() > BYTES_MAX {
            true => Err(Error::new(
                "too_large",
                format!("the table is over {BYTES_MAX} bytes; make a shorter capture"),
            )),
            false => Ok(()),
        }
    };
    let mut order = Decoding::new("i2c")
        .channel("scl", &bus.scl)
        .channel("sda", &bus.sda)
        .class("addr-data");
    let mut transactions = Transactions::default();
    loop {
        let (found, is_more) = captures::decode(id, &order)?;
        order.skip += found.len() as u64;
        for transaction in found.iter().filter_map(|one| transactions.take(one)) {
            add(&transaction)?;
        }
        if !is_more {
            break;
        }
    }
    if let Some(last) = transactions.rest() {
        add(&last)?;
    }
    Ok(table)
}

/// Samples a second of its digital channels, which all have the same.
fn rate_hz(capture: &Capture) -> Result<f64, Error> {
    let mut channels = capture.channels().into_iter();
    let digital = channels.find(|channel| channel.digital);
    let digital = digital.ok_or_else(|| {
        Error::new(
            "wrong_state",
            "the capture has no digital channels, and so no bus",
        )
    })?;
    Ok(digital.sample_rate_hz)
}

fn row(bus: &Bus, rate_hz: f64, transaction: &Transaction) -> String {
    let bytes = transaction.data.iter();
    let data: Vec<String> = bytes
        .clone()
        .map(|(byte, _)| format!("{byte:02X}"))
        .collect();
    let acks: Vec<&str> = bytes.map(|(_, acknowledged)| ack(*acknowledged)).collect();
    let address = transaction
        .address
        .map(|address| format!("0x{address:02X}"));
    let rw = match (transaction.address, transaction.is_read) {
        (None, _) => "",
        (Some(_), true) => "read",
        (Some(_), false) => "write",
    };
    let end = match transaction.end {
        End::Stop => "stop",
        End::Repeat => "repeated start",
        End::Open => "",
    };
    csv::line([
        seconds(transaction.start, rate_hz).as_str(),
        &seconds(transaction.last.saturating_sub(transaction.start), rate_hz),
        &bus.scl,
        &bus.sda,
        address.as_deref().unwrap_or_default(),
        rw,
        ack(transaction.address_acknowledged),
        &data.join(" "),
        &acks.join(" "),
        end,
    ])
}

fn ack(acknowledged: Option<bool>) -> &'static str {
    match acknowledged {
        Some(true) => "ACK",
        Some(false) => "NACK",
        None => "",
    }
}

/// Samples as seconds, to the nanosecond.
fn seconds(samples: u64, rate_hz: f64) -> String {
    let seconds = samples as f64 / rate_hz;
    format!("{seconds:.9}")
}
