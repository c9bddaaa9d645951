//! How fast output passes through redaction into the log.
//!
//! `cargo bench -p evidence --bench evidence`

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

use std::io::{self, BufWriter, Seek};
use std::time::Instant;

use evidence::log::{Piece, Reader, Stream, Writer};
use evidence::redact::Secrets;

/// Bytes of one read of a step's output.
const READ_BYTES: usize = 16 << 10;

fn main() -> io::Result<()> {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    let (bytes, rounds) = if quick { (1 << 20, 1) } else { (64 << 20, 7) };
    let text = build_log(bytes);
    let secrets = secrets();
    println!(
        "{} MiB of a build's output in reads of 16 KiB; best and median of {rounds}",
        text.len() >> 20
    );
    measure("redaction, 3 secrets", &text, rounds, || {
        let mut redactor = secrets.redactor();
        let mut out = Vec::new();
        for read in text.chunks(READ_BYTES) {
            out.clear();
            redactor.push(read, &mut out);
        }
        Ok(())
    })?;
    measure(
        "log to a file, flushed after each read",
        &text,
        rounds,
        || logged(&text, None).map(drop),
    )?;
    measure("both", &text, rounds, || {
        logged(&text, Some(&secrets)).map(drop)
    })?;
    let mut past = 0;
    measure("both, past the log's bound of 1 MiB", &text, rounds, || {
        let mut writer = Writer::new(io::sink(), io::sink(), 1 << 20);
        push_all(&mut writer, &text, Some(&secrets));
        past = writer.finish().dropped;
        Ok(())
    })?;
    // The worst case: every place could be the beginning of the secret.
    let same = vec![b'a'; text.len() / 64];
    let worst = Secrets::new([("WORST", [b'a'; 4096].as_slice())]).expect("it is long enough");
    measure(
        "redaction of one letter, the secret too",
        &same,
        rounds,
        || {
            let mut redactor = worst.redactor();
            let mut out = Vec::new();
            for read in same.chunks(READ_BYTES) {
                redactor.push(read, &mut out);
            }
            Ok(())
        },
    )?;
    let mut file = logged(&text, None)?;
    measure("reading it", &text, rounds, || {
        file.rewind()?;
        let mut reader = Reader::new(&mut file, &[], 0)?;
        let mut all = 0;
        while let Some(piece) = reader.next_piece()? {
            if let Piece::Output { bytes, .. } = piece {
                all += bytes.len();
            }
        }
        assert_eq!(all, text.len());
        Ok(())
    })
}

fn measure(
    what: &str,
    text: &[u8],
    rounds: usize,
    mut work: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    let rate = |seconds: f64| text.len() as f64 / 1e6 / seconds;
    println!(
        "  {what:40} {:6.0} MB/s {:6.0} MB/s",
        rate(times[0]),
        rate(times[rounds / 2])
    );
    Ok(())
}

fn logged(text: &[u8], secrets: Option<&Secrets>) -> io::Result<std::fs::File> {
    let log = tempfile::tempfile()?;
    let index = BufWriter::new(tempfile::tempfile()?);
    let mut writer = Writer::new(log.try_clone()?, index, u64::MAX);
    push_all(&mut writer, text, secrets);
    match writer.finish().error {
        Some(error) => Err(error),
        None => Ok(log),
    }
}

fn push_all<L: io::Write, I: io::Write>(
    writer: &mut Writer<L, I>,
    text: &[u8],
    secrets: Option<&Secrets>,
) {
    let mut redactor = secrets.map(Secrets::redactor);
    let mut out = Vec::new();
    for (time, read) in (0..).zip(text.chunks(READ_BYTES)) {
        match &mut redactor {
            Some(redactor) => {
                out.clear();
                redactor.push(read, &mut out);
                writer.push(time, Stream::Output, 1, &out);
            }
            None => writer.push(time, Stream::Output, 1, read),
        }
        writer.flush();
    }
}

fn secrets() -> Secrets {
    let key =
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEFJ\nRkRTQUZEU0FGRFNBRkRTQUZEU0FG\n";
    let secrets = [
        ("TOKEN", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        ("PASSWORD", "correct horse battery"),
        ("KEY", key),
    ];
    Secrets::new(secrets.map(|(name, value)| (name, value.as_bytes())))
        .expect("they are long enough")
}

/// Lines such as a compiler writes, and now and then a secret.
fn build_log(bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(4);
    let mut text = Vec::with_capacity(bytes + 200);
    while text.len() < bytes {
        let file = random.u32(..5000);
        let line = match random.u8(..40) {
            0 => format!(
                "src/driver_{file}.c:{file}:17: warning: unused variable 'ghp_16' [-Wunused-variable]\n"
            ),
            1 if random.u8(..50) == 0 => {
                "export TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a\n".to_owned()
            }
            _ => format!(
                "arm-none-eabi-gcc -mcpu=cortex-m0 -Os -Wall -c -o build/driver_{file}.o src/driver_{file}.c\n"
            ),
        };
        text.extend_from_slice(line.as_bytes());
    }
    text
}
