//! Tables for data tools: a row for each change of a logic channel and each analog sample, each with the state of all channels,
//! as in [`csv`](super::csv). Times are whole nanoseconds, each the nearest: nothing drifts.

use std::io::{self, Write};

use decode::import::unique_names;
use tables::{Columns, Kind, Row, Table, TableError};

use super::super::reader::Reader;
use super::ExportError;
use super::cut::Cut;
use super::timeline::{Ticks, end, walk};
use store::captures::ChannelRecord;

/// The column of times.
const TIME: &str = "time_ns";

/// Its unit, as a power of ten in parts of a second.
const EXPONENT: u32 = 9;

impl From<TableError> for ExportError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::NotBuilt => Self::NotBuilt,
            TableError::Write(error) => Self::Write(error),
            other @ TableError::Format(_) => Self::Write(io::Error::other(other)),
        }
    }
}

/// Whether this program can write such tables.
pub(super) fn check() -> Result<(), ExportError> {
    match tables::IS_BUILT {
        true => Ok(()),
        false => Err(ExportError::NotBuilt),
    }
}

pub(super) fn write(
    kind: Kind,
    reader: &Reader,
    cut: &Cut,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let channels = cut.channels();
    let rates: Vec<f64> = channels.iter().map(|c| c.sample_rate_hz).collect();
    let ticks = Ticks::new(EXPONENT, &rates);
    let analog = channels.iter().find(|c| c.la.is_none()).copied();
    let columns = columns(&channels, ticks, end(reader, cut, ticks)?);
    let mut table = Table::new(kind, &columns, out)?;
    let mut row = Row {
        time: 0,
        levels: 0,
        value: 0.0,
    };
    walk(reader, cut, ticks, |step| {
        row.time = i64::try_from(step.at).unwrap_or(i64::MAX);
        row.levels = step.levels.unwrap_or(row.levels);
        if let (Some(count), Some(channel)) = (step.count, analog) {
            row.value = channel.value(count);
        }
        Ok(table.push(row)?)
    })?;
    Ok(table.finish()?)
}

/// The columns, and what else the file says: samples and rate of each kind, the unit of the values, and where the capture ends.
fn columns(channels: &[&ChannelRecord], ticks: Ticks, end: u64) -> Columns {
    let names = std::iter::once(TIME.to_owned());
    let names: Vec<String> = names
        .chain(channels.iter().map(|c| c.name.clone()))
        .collect();
    let mut names = unique_names(&names).into_iter();
    let time = names.next().unwrap_or_default();
    let mut columns = Columns {
        time,
        notes: vec![("end_ns".to_owned(), end.to_string())],
        ..Columns::default()
    };
    for (channel, name) in channels.iter().zip(names) {
        let (kind, is_first) = match channel.la {
            Some(_) => ("logic", columns.logic.is_empty()),
            None => ("analog", true),
        };
        if is_first {
            let (samples, rate) = (channel.samples, ticks.exact_hz(channel.sample_rate_hz));
            let said = format!("{samples} at {rate} Hz");
            columns.notes.push((kind.to_owned(), said));
        }
        if channel.la.is_some() {
            columns.logic.push(name);
        } else {
            let unit = ("unit".to_owned(), channel.unit.clone());
            columns.notes.push(unit);
            columns.analog = Some(name);
        }
    }
    columns
}
