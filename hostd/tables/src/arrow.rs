//! Arrow IPC files.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::columns::Rows;
use super::{Columns, Row, TableError};

/// Rows of a batch.
const ROWS: usize = 1 << 16;

impl From<ArrowError> for TableError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::Write(error),
            other => Self::Format(other.to_string()),
        }
    }
}

pub(super) struct ArrowTable<'w> {
    writer: FileWriter<&'w mut dyn Write>,
    schema: SchemaRef,
    logic: usize,
    has_analog: bool,
    rows: Rows,
}

impl<'w> ArrowTable<'w> {
    pub(super) fn new(columns: &Columns, out: &'w mut dyn Write) -> Result<Self, TableError> {
        let time = Field::new(&columns.time, DataType::Int64, false);
        let logic = columns.logic.iter();
        let logic = logic.map(|name| Field::new(name, DataType::Boolean, false));
        let analog = columns.analog.iter();
        let analog = analog.map(|name| Field::new(name, DataType::Float64, false));
        let fields: Vec<Field> = std::iter::once(time).chain(logic).chain(analog).collect();
        let notes: HashMap<String, String> = columns.notes.iter().cloned().collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, notes));
        Ok(Self {
            writer: FileWriter::try_new(out, &schema)?,
            schema,
            logic: columns.logic.len(),
            has_analog: columns.analog.is_some(),
            rows: Rows::new(ROWS),
        })
    }

    pub(super) fn push(&mut self, row: Row) -> Result<(), TableError> {
        match self.rows.push(row) {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), TableError> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(self.rows.times.clone()))];
        for channel in 0..self.logic {
            columns.push(Arc::new(BooleanArray::from(self.rows.channel(channel))));
        }
        if self.has_analog {
            columns.push(Arc::new(Float64Array::from(self.rows.values.clone())));
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        self.writer.write(&batch)?;
        self.rows.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), TableError> {
        if !self.rows.is_empty() {
            self.flush()?;
        }
        Ok(self.writer.finish()?)
    }
}
