//! Parquet files.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, Encoding, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::columns::Rows;
use super::{Columns, Row, TableError};

/// Rows of a group: of each group and column a few hundred bytes are kept until the end of the file.
const ROWS: usize = 1 << 19;

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        Self::Format(error.to_string())
    }
}

/// What was written, and is to be passed on: the library wants a writer of its own.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<u8>>>);

impl Shelf {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct ParquetTable<'w> {
    out: &'w mut dyn Write,
    shelf: Shelf,
    writer: SerializedFileWriter<Shelf>,
    logic: usize,
    rows: Rows,
}

impl<'w> ParquetTable<'w> {
    pub(super) fn new(columns: &Columns, out: &'w mut dyn Write) -> Result<Self, TableError> {
        let notes = columns.notes.iter();
        let notes = notes.map(|(name, text)| KeyValue::new(name.clone(), text.clone()));
        let time = ColumnPath::from(columns.time.clone());
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_column_dictionary_enabled(time.clone(), false)
            .set_column_encoding(time, Encoding::DELTA_BINARY_PACKED)
            .set_created_by(format!("hostd {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(notes.collect()));
        for name in &columns.logic {
            let path = ColumnPath::from(name.clone());
            properties = properties.set_column_dictionary_enabled(path, false);
        }
        let shelf = Shelf::default();
        let writer =
            SerializedFileWriter::new(shelf.clone(), schema(columns)?, properties.build().into())?;
        Ok(Self {
            out,
            shelf,
            writer,
            logic: columns.logic.len(),
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
        let mut group = self.writer.next_row_group()?;
        let mut place = 0;
        while let Some(mut column) = group.next_column()? {
            if place == 0 {
                let times = column.typed::<Int64Type>();
                times.write_batch(&self.rows.times, None, None)?;
            } else if place <= self.logic {
                let levels = column.typed::<BoolType>();
                levels.write_batch(&self.rows.channel(place - 1), None, None)?;
            } else {
                let values = column.typed::<DoubleType>();
                values.write_batch(&self.rows.values, None, None)?;
            }
            column.close()?;
            place += 1;
        }
        group.close()?;
        self.rows.clear();
        Ok(self.out.write_all(&self.shelf.take())?)
    }

    pub(super) fn finish(mut self) -> Result<(), TableError> {
        if !self.rows.is_empty() {
            self.flush()?;
        }
        self.writer.close()?;
        Ok(self.out.write_all(&self.shelf.take())?)
    }
}

fn schema(columns: &Columns) -> Result<TypePtr, TableError> {
    let time = std::iter::once((&columns.time, Physical::INT64));
    let logic = columns.logic.iter().map(|name| (name, Physical::BOOLEAN));
    let analog = columns.analog.iter().map(|name| (name, Physical::DOUBLE));
    let field = |(name, physical): (&String, Physical)| {
        let field = Type::primitive_type_builder(name, physical);
        Ok(Arc::new(
            field.with_repetition(Repetition::REQUIRED).build()?,
        ))
    };
    let fields = time.chain(logic).chain(analog).map(field);
    let fields: Vec<TypePtr> = fields.collect::<Result<_, ParquetError>>()?;
    let schema = Type::group_type_builder("capture").with_fields(fields);
    Ok(Arc::new(schema.build()?))
}
