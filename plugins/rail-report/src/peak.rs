//! The highest current that was seen on each rail, kept from call to call.

use hostd_plugin::{Error, store};

/// What keys of peaks begin with, and what comes after all of them.
const RANGE: (&str, &str) = ("peak/", "peak0");

/// Attempts to write against others that write at the same time.
const ATTEMPTS: u32 = 5;

/// Keys that are looked for at once.
const PAGE: u32 = 200;

/// The highest current on a rail, this one included.
pub(crate) fn raise(device: &str, rail: u8, microamperes: i64) -> Result<i64, Error> {
    let key = format!("{}{device}/{rail}", RANGE.0);
    for _ in 0..ATTEMPTS {
        let kept = store::get(&key)?;
        let highest = kept.as_ref().and_then(|entry| read(&entry.value));
        if let Some(highest) = highest.filter(|highest| *highest >= microamperes) {
            return Ok(highest);
        }
        let version = kept.map(|entry| entry.version);
        let text = microamperes.to_string();
        match store::compare_and_set(&key, version, Some(text.as_bytes())) {
            Ok(_) => return Ok(microamperes),
            Err(error) if error.code == "conflict" => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(
        "conflict",
        "too many reports are being made at once; try again",
    ))
}

/// Forget all; how many there were.
pub(crate) fn forget_all() -> Result<usize, Error> {
    let mut forgotten = 0;
    loop {
        let found = store::scan(RANGE.0, RANGE.1, PAGE)?;
        for entry in &found {
            store::delete(&entry.key)?;
        }
        forgotten += found.len();
        if found.is_empty() {
            return Ok(forgotten);
        }
    }
}

fn read(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
