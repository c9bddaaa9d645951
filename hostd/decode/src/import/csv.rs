//! Comma-separated values: our own exports, those of Saleae's Logic 2 and of sigrok, and others of the same form.
//!
//! A column says the time, and each of the others the values of a channel from there on; without a time, each row is a
//! sample. A column of nothing but 0 and 1 is a logic channel, unless its name has a unit.

mod columns;
mod rows;

use super::choice::Choice;
use super::decimal::Decimal;
use super::rate::Rate;
use super::source::{Known, Shape, Sink, Source, Wanted};
use super::{ImportError, Limits};
use columns::{Head, Time};
use rows::Rows;

/// Digits of a second that times are read to, at most.
const PLACES_MAX: u32 = 15;

/// The first column of our own tables, whose last row says where they end.
const OWN_TIME: &str = "time_s";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    /// Nothing of interest.
    None,
    Logic(usize),
    Analog(usize),
}

/// A table that was looked through once.
pub(super) struct Table<'a> {
    shape: Shape,
    rows: Rows<'a>,
    head: Head,
    columns: Vec<Column>,
    /// Digits of a unit of time, and the time of the first row, in those.
    places: u32,
    begin: i128,
    /// For each column: the bit that it sets, or none.
    bits: Vec<Option<u8>>,
    analog: Option<usize>,
}

impl<'a> Table<'a> {
    pub(super) fn open(
        bytes: &'a [u8],
        rate_hz: Option<f64>,
        limits: &Limits,
    ) -> Result<Self, ImportError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut rows = Rows::new(bytes, limits.line_bytes_max);
        let mut head = Head::read(&mut rows, limits)?;
        head.rate_hz = head.rate_hz.or(rate_hz);
        let scan = Scan::of(rows.clone(), &head)?;
        let begin = match scan.first {
            Some(first) => first
                .scaled(scan.places)
                .ok_or_else(|| rows.wrong("the time is too large"))?,
            None => 0,
        };
        let mut table = Self {
            shape: head.shape(&scan, begin)?,
            rows,
            columns: Vec::new(),
            places: scan.places,
            begin,
            bits: Vec::new(),
            analog: None,
            head,
        };
        for (column, name) in table.head.names.iter().enumerate() {
            let kind = match &scan.columns[column] {
                _ if Some(column) == table.head.time_column
                    || table.head.skipped == Some(column) =>
                {
                    Column::None
                }
                Seen {
                    is_number: false, ..
                } => Column::None,
                seen if seen.is_level && name.unit.is_empty() => {
                    table.shape.logic.push(name.name.clone());
                    Column::Logic(table.shape.logic.len() - 1)
                }
                _ => {
                    table.shape.analog.push(name.clone());
                    Column::Analog(table.shape.analog.len() - 1)
                }
            };
            table.columns.push(kind);
        }
        if scan.has_unknown {
            table
                .shape
                .notes
                .push("Levels `X` and `Z`, and empty ones, were read as 0.".to_owned());
        }
        Ok(table)
    }

    /// When a row is, in ticks.
    fn at(&self, field: &[u8], rows: &Rows<'_>) -> Result<u64, ImportError> {
        let time =
            Decimal::parse(field, self.head.has_comma).ok_or_else(|| rows.wrong("no such time"))?;
        let ticks = time
            .scaled(self.places)
            .and_then(|ticks| ticks.checked_sub(self.begin));
        let ticks = ticks.ok_or_else(|| rows.wrong("the time is too large"))?;
        u64::try_from(ticks)
            .map_err(|_| rows.wrong("a time lies before the first, or is too large"))
    }
}

/// What was seen of a column.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Nothing but 0, 1, X and Z.
    is_level: bool,
    is_number: bool,
}

/// The first look at all rows.
struct Scan {
    columns: Vec<Seen>,
    has_unknown: bool,
    /// Digits that times need.
    places: u32,
    first: Option<Decimal>,
    rows: u64,
}

impl Scan {
    fn of(mut rows: Rows<'_>, head: &Head) -> Result<Self, ImportError> {
        let mut scan = Self {
            columns: vec![
                Seen {
                    is_level: true,
                    is_number: true
                };
                head.names.len()
            ],
            has_unknown: false,
            places: 0,
            first: None,
            rows: 0,
        };
        let mut unknown = vec![false; head.names.len()];
        while let Some(row) = rows.next()? {
            scan.rows += 1;
            let mut count = 0;
            for (column, field) in head.fields(row).enumerate() {
                count += 1;
                if Some(column) == head.time_column {
                    let time = Decimal::parse(field, head.has_comma)
                        .ok_or_else(|| rows.wrong("no such time"))?;
                    scan.places = scan.places.max(time.places().min(PLACES_MAX));
                    scan.first.get_or_insert(time);
                    continue;
                }
                let Some(seen) = scan.columns.get_mut(column) else {
                    return Err(rows.wrong("it has more fields than the first line"));
                };
                match field {
                    b"0" | b"1" => {}
                    b"x" | b"X" | b"z" | b"Z" | b"" => unknown[column] = true,
                    field => {
                        seen.is_level = false;
                        seen.is_number &= Decimal::parse(field, head.has_comma).is_some();
                    }
                }
            }
            if count < head.names.len() {
                return Err(rows.wrong("it has fewer fields than the first line"));
            }
        }
        if scan.rows == 0 {
            return Err(ImportError::Empty);
        }
        scan.has_unknown = unknown
            .iter()
            .zip(&scan.columns)
            .any(|(unknown, seen)| *unknown && seen.is_level);
        Ok(scan)
    }
}

impl Head {
    /// How the rows are counted.
    fn shape(&self, scan: &Scan, begin: i128) -> Result<Shape, ImportError> {
        let rate = self
            .rate_hz
            .map(|hz| Rate::of_hz(hz).ok_or(ImportError::Rate { hz }))
            .transpose()?;
        let (tick, is_sampled) = match self.time {
            None => (rate.ok_or(ImportError::NoRate)?, true),
            Some(Time::PerSecond(per)) => (self.tick(per, scan.places)?, false),
            // sigrok's first row is one sample from the beginning.
            Some(Time::Unknown) => {
                let unit = u128::try_from(begin).ok().filter(|begin| *begin > 0);
                let (Some(unit), Some(rate)) = (unit, rate) else {
                    return Err(ImportError::NoRate);
                };
                let tick = rate
                    .samples
                    .checked_mul(unit)
                    .and_then(|samples| Rate::new(samples, rate.seconds));
                (tick.ok_or(ImportError::NoRate)?, false)
            }
        };
        let known = |samples| rate.map(|rate| Known { rate, samples });
        let known = known(is_sampled.then_some(scan.rows));
        Ok(Shape {
            logic: Vec::new(),
            analog: Vec::new(),
            tick,
            is_sampled,
            ends_with_sample: self
                .names
                .first()
                .is_none_or(|first| first.name != OWN_TIME),
            logic_rate: known,
            analog_rate: known,
            scale: None,
            notes: Vec::new(),
        })
    }

    fn tick(&self, per_second: u128, places: u32) -> Result<Rate, ImportError> {
        let ticks = per_second.checked_mul(10_u128.pow(places));
        ticks
            .and_then(|ticks| Rate::new(ticks, 1))
            .ok_or(ImportError::NoRate)
    }
}

impl Source for Table<'_> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn choose(&mut self, choice: &Choice) {
        let bits = choice.bits(self.shape.logic.len());
        let bit = |column: &Column| match column {
            Column::Logic(channel) => bits[*channel],
            Column::None | Column::Analog(_) => None,
        };
        self.bits = self.columns.iter().map(bit).collect();
        let is_chosen = |column: &Column| match (column, choice.analog) {
            (Column::Analog(channel), Some(chosen)) => *channel == chosen,
            _ => false,
        };
        self.analog = self.columns.iter().position(is_chosen);
    }

    fn walk(&self, wanted: Wanted, sink: &mut dyn Sink) -> Result<u64, ImportError> {
        let mut rows = self.rows.clone();
        let (mut at, mut row_number) = (0, 0);
        let mut last = None;
        while let Some(row) = rows.next()? {
            if let Some((at, levels)) = last.take().filter(|_| wanted.logic) {
                sink.levels(at, levels)?;
            }
            let mut levels = 0_u64;
            let mut value = None;
            let mut here = row_number;
            for (column, field) in self.head.fields(row).enumerate() {
                if self.head.time.is_some() && Some(column) == self.head.time_column {
                    here = self.at(field, &rows)?;
                } else if let Some(bit) = self.bits.get(column).copied().flatten() {
                    levels |= u64::from(field == b"1") << bit;
                } else if wanted.analog && self.analog == Some(column) && !field.is_empty() {
                    let text = String::from_utf8_lossy(field).replace(',', ".");
                    value = Some(text.parse().map_err(|_| rows.wrong("no such number"))?);
                }
            }
            if here < at {
                return Err(rows.wrong("a time lies before the one above"));
            }
            (at, row_number) = (here, row_number + 1);
            last = Some((at, levels));
            if let Some(value) = value {
                sink.value(at, value)?;
            }
        }
        if let Some((at, levels)) = last.filter(|_| wanted.logic) {
            sink.levels(at, levels)?;
        }
        Ok(at)
    }
}
