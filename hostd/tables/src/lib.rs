//! Tables of what happens in a capture, in the formats of data tools: Arrow IPC files (Feather, version 2) and Parquet.
//!
//! A row has a time and, from there on, the level of each logic channel and the value of the analog one. Rows are written in
//! groups, so that the length of a table costs no memory.

#![warn(missing_docs)]

use std::io::{self, Write};

#[cfg(feature = "formats")]
mod arrow;
#[cfg(feature = "formats")]
mod columns;
#[cfg(feature = "formats")]
mod parquet;

/// Whether tables can be written: the feature `formats` was on when this was built.
pub const IS_BUILT: bool = cfg!(feature = "formats");

/// Logic channels of a table, at most: one for each bit of [`Row::levels`].
pub const LOGIC_MAX: usize = 64;

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An Arrow IPC file.
    Arrow,
    /// A Parquet file.
    Parquet,
}

/// The columns of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// Name of the column of times, 64-bit integers.
    pub time: String,
    /// Names of the columns of levels, booleans; at most [`LOGIC_MAX`].
    pub logic: Vec<String>,
    /// Name of the column of values, 64-bit floats.
    pub analog: Option<String>,
    /// What else the file says, by name.
    pub notes: Vec<(String, String)>,
}

/// A row of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The time.
    pub time: i64,
    /// Levels, bit `i` being logic channel `i`.
    pub levels: u64,
    /// The value; without a column of values it is not looked at.
    pub value: f64,
}

/// Why a table cannot be written; each fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The feature was off.
    #[error("write such tables; this program was built without them")]
    NotBuilt,
    /// The disk, or who reads.
    #[error("write the table")]
    Write(#[from] io::Error),
    /// A library refused.
    #[error("write the table: {0}")]
    Format(String),
}

/// A table being written.
pub struct Table<'w> {
    #[cfg(feature = "formats")]
    inner: Inner<'w>,
    #[cfg(not(feature = "formats"))]
    never: std::convert::Infallible,
    #[cfg(not(feature = "formats"))]
    _out: std::marker::PhantomData<&'w ()>,
}

#[cfg(feature = "formats")]
enum Inner<'w> {
    Arrow(arrow::ArrowTable<'w>),
    Parquet(parquet::ParquetTable<'w>),
}

#[cfg(feature = "formats")]
impl<'w> Table<'w> {
    /// Begin a table.
    ///
    /// # Errors
    /// It cannot be written, or this program was built without tables.
    pub fn new(kind: Kind, columns: &Columns, out: &'w mut dyn Write) -> Result<Self, TableError> {
        let inner = match kind {
            Kind::Arrow => Inner::Arrow(arrow::ArrowTable::new(columns, out)?),
            Kind::Parquet => Inner::Parquet(parquet::ParquetTable::new(columns, out)?),
        };
        Ok(Self { inner })
    }

    /// The next row.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn push(&mut self, row: Row) -> Result<(), TableError> {
        match &mut self.inner {
            Inner::Arrow(table) => table.push(row),
            Inner::Parquet(table) => table.push(row),
        }
    }

    /// There are no more rows.
    ///
    /// # Errors
    /// The rest cannot be written.
    pub fn finish(self) -> Result<(), TableError> {
        match self.inner {
            Inner::Arrow(table) => table.finish(),
            Inner::Parquet(table) => table.finish(),
        }
    }
}

#[cfg(not(feature = "formats"))]
impl<'w> Table<'w> {
    /// Begin a table.
    ///
    /// # Errors
    /// It cannot be written, or this program was built without tables.
    pub fn new(_: Kind, _: &Columns, _: &'w mut dyn Write) -> Result<Self, TableError> {
        Err(TableError::NotBuilt)
    }

    /// The next row.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn push(&mut self, _: Row) -> Result<(), TableError> {
        match self.never {}
    }

    /// There are no more rows.
    ///
    /// # Errors
    /// The rest cannot be written.
    pub fn finish(self) -> Result<(), TableError> {
        match self.never {}
    }
}

#[cfg(all(test, feature = "formats"))]
mod tests;
