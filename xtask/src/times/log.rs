//! What compilers and tests took: a line for each, which it adds to a file when it has ended.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use super::Spent;

/// Stands for processor time that is not known.
const UNKNOWN: &str = "-";

/// Adds a line to a file. One write of less than a page, so that lines of several programs do not mix.
pub(crate) fn add(file: &Path, what: &str, spent: &Spent) -> std::io::Result<()> {
    let mut file = File::options().append(true).create(true).open(file)?;
    file.write_all(line(what, spent).as_bytes())
}

/// What each took; what took place several times, in all. A file that is not there has no lines.
pub(crate) fn read(file: &Path) -> BTreeMap<String, Spent> {
    sums(&fs::read_to_string(file).unwrap_or_default())
}

fn line(what: &str, spent: &Spent) -> String {
    let processor = spent.processor;
    let processor = processor.map_or_else(|| UNKNOWN.to_owned(), |p| p.as_millis().to_string());
    let what = what.replace(['\t', '\n'], " ");
    format!("{what}\t{processor}\t{}\n", spent.wall.as_millis())
}

/// Lines that a program left unfinished are passed over.
fn sums(lines: &str) -> BTreeMap<String, Spent> {
    let mut sums: BTreeMap<String, Spent> = BTreeMap::new();
    for line in lines.split_inclusive('\n') {
        let Some((what, spent)) = parse(line) else {
            continue;
        };
        sums.entry(what.to_owned())
            .and_modify(|sum| {
                sum.wall += spent.wall;
                sum.processor = sum.processor.zip(spent.processor).map(|(a, b)| a + b);
            })
            .or_insert(spent);
    }
    sums
}

fn parse(line: &str) -> Option<(&str, Spent)> {
    let mut words = line.strip_suffix('\n')?.split('\t');
    let what = words.next()?;
    let processor = match words.next()? {
        UNKNOWN => None,
        text => Some(milliseconds(text)?),
    };
    let wall = milliseconds(words.next()?)?;
    words
        .next()
        .is_none()
        .then_some((what, Spent { wall, processor }))
}

fn milliseconds(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(wall: u64, processor: Option<u64>) -> Spent {
        Spent {
            wall: Duration::from_millis(wall),
            processor: processor.map(Duration::from_millis),
        }
    }

    #[test]
    fn what_is_added_is_read_and_summed() {
        let file = std::env::temp_dir().join(format!("xtask-times-{}", std::process::id()));
        assert!(read(&file).is_empty());
        add(&file, "emi (lib)", &spent(70, Some(60))).unwrap();
        add(&file, "jail\t(lib)", &spent(5, None)).unwrap();
        add(&file, "emi (lib)", &spent(10, Some(20))).unwrap();
        let read = read(&file);
        assert_eq!(read["emi (lib)"], spent(80, Some(80)));
        assert_eq!(read["jail (lib)"], spent(5, None));
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn broken_lines_are_passed_over() {
        let lines = "\na\nb\t1\nc\t1\tx\nd\t1\t2\t3\ne\t1\t2\nf\t1\t2";
        let sums = sums(lines);
        assert_eq!(
            sums.into_iter().collect::<Vec<_>>(),
            [("e".to_owned(), spent(2, Some(1)))]
        );
    }
}
