//! Tables, read by the packages that wrote them, and by pyarrow where there is one.

use std::io::Cursor;
use std::process::Command;

use super::*;

/// Names the Python that has pyarrow.
const PYTHON: &str = "TABLES_PYTHON";

/// More rows than a group has.
const ROWS: i64 = 600_000;

fn columns() -> Columns {
    Columns {
        time: "time_ns".to_owned(),
        logic: vec!["SCL".to_owned(), "SDA".to_owned()],
        analog: Some("supply".to_owned()),
        notes: vec![("logic".to_owned(), "1200 at 12000000 Hz".to_owned())],
    }
}

fn row(at: i64) -> Row {
    Row {
        time: at * 83 + at / 7,
        levels: u64::try_from(at % 4).unwrap(),
        value: (at % 1000) as f64 / 8.0,
    }
}

fn table(kind: Kind, columns: &Columns, rows: i64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut table = Table::new(kind, columns, &mut out).unwrap();
    for at in 0..rows {
        table.push(row(at)).unwrap();
    }
    table.finish().unwrap();
    out
}

#[test]
fn arrow_files_come_back() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};

    let file = table(Kind::Arrow, &columns(), ROWS);
    let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(file), None).unwrap();
    assert_eq!(reader.schema().metadata()["logic"], "1200 at 12000000 Hz");
    let mut at = 0;
    for batch in reader {
        let batch = batch.unwrap();
        let times = batch.column(0).as_primitive::<Int64Type>();
        let levels = [1, 2].map(|column| batch.column(column).as_boolean());
        let values = batch.column(3).as_primitive::<Float64Type>();
        for index in 0..batch.num_rows() {
            let found = Row {
                time: times.value(index),
                levels: u64::from(levels[0].value(index)) | u64::from(levels[1].value(index)) << 1,
                value: values.value(index),
            };
            assert_eq!(found, row(at));
            at += 1;
        }
    }
    assert_eq!(at, ROWS);
}

#[test]
fn parquet_files_come_back() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::RowAccessor;

    let file = table(Kind::Parquet, &columns(), ROWS);
    assert!(file.len() < 2_000_000, "{}", file.len());
    let reader = SerializedFileReader::new(Bytes(file.into())).unwrap();
    let said = reader.metadata().file_metadata().key_value_metadata();
    assert_eq!(
        said.unwrap()[0].value.as_deref(),
        Some("1200 at 12000000 Hz")
    );
    let mut at = 0;
    for found in reader.get_row_iter(None).unwrap() {
        let found = found.unwrap();
        let level = |column| u64::from(found.get_bool(column).unwrap());
        let found = Row {
            time: found.get_long(0).unwrap(),
            levels: level(1) | level(2) << 1,
            value: found.get_double(3).unwrap(),
        };
        assert_eq!(found, row(at));
        at += 1;
    }
    assert_eq!(at, ROWS);
}

/// A file in memory.
struct Bytes(std::sync::Arc<[u8]>);

impl ::parquet::file::reader::Length for Bytes {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

impl ::parquet::file::reader::ChunkReader for Bytes {
    type T = Cursor<Vec<u8>>;

    fn get_read(&self, start: u64) -> ::parquet::errors::Result<Self::T> {
        let start = usize::try_from(start).unwrap();
        Ok(Cursor::new(self.0[start..].to_vec()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ::parquet::errors::Result<bytes::Bytes> {
        let start = usize::try_from(start).unwrap();
        Ok(bytes::Bytes::copy_from_slice(
            &self.0[start..start + length],
        ))
    }
}

/// Prints what pyarrow finds: rows, columns with their types, what the file says, and sums and places of all.
const SCRIPT: &str = "
import sys, pyarrow, pyarrow.feather, pyarrow.parquet
kind, path = sys.argv[1:]
table = pyarrow.feather.read_table(path) if kind == 'arrow' else pyarrow.parquet.read_table(path)
print(table.num_rows, [(field.name, str(field.type)) for field in table.schema])
rows = table.slice(599_990).to_pydict()
print(list(zip(*rows.values())))
print(sum(table['time_ns'].to_pylist()), sum(table['SDA'].to_pylist()), sum(table['supply'].to_pylist()))
print((pyarrow.parquet.read_metadata(path).metadata if kind == 'parquet' else table.schema.metadata)[b'logic'])
";

#[test]
fn pyarrow_reads_the_same() {
    let Some(python) = std::env::var_os(PYTHON) else {
        eprintln!("left out, since {PYTHON} names no Python with pyarrow: cargo xtask tables");
        return;
    };
    let rows = (0..ROWS).map(row);
    let bit = |levels: u64, bit: u32| {
        if levels >> bit & 1 == 1 {
            "True"
        } else {
            "False"
        }
    };
    let shown = |row: Row| {
        let (scl, sda) = (bit(row.levels, 0), bit(row.levels, 1));
        format!("({}, {scl}, {sda}, {:?})", row.time, row.value)
    };
    let last: Vec<String> = rows.clone().skip(599_990).map(shown).collect();
    let times: i64 = rows.clone().map(|row| row.time).sum();
    let high = rows.clone().filter(|row| row.levels & 2 != 0).count();
    let values: f64 = rows.map(|row| row.value).sum();
    let wanted = format!(
        "600000 [('time_ns', 'int64'), ('SCL', 'bool'), ('SDA', 'bool'), ('supply', 'double')]\n\
         [{}]\n{times} {high} {values:?}\nb'1200 at 12000000 Hz'\n",
        last.join(", ")
    );
    let folder = std::env::temp_dir().join(format!("tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (kind, name) in [(Kind::Arrow, "arrow"), (Kind::Parquet, "parquet")] {
        let path = folder.join(name);
        std::fs::write(&path, table(kind, &columns(), ROWS)).unwrap();
        let output = Command::new(&python)
            .args(["-c", SCRIPT, name])
            .arg(&path)
            .output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_empty_table_is_one() {
    for kind in [Kind::Arrow, Kind::Parquet] {
        let plain = Columns {
            logic: vec!["LA1".to_owned()],
            analog: None,
            ..columns()
        };
        assert!(table(kind, &plain, 0).len() > 100);
    }
}
