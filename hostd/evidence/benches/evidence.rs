//! How fast output passes through redaction into the log, beside output that is only copied.
//!
//! `cargo bench -p evidence --bench evidence`

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

use std::hint::black_box;
use std::io::{self, BufWriter, Seek};

use evidence::log::{Piece, Reader, Stream, Writer};
use evidence::redact::Secrets;

/// Bytes of one read of a step's output.
const READ_BYTES: usize = 16 << 10;

fn main() -> io::Result<()> {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    let (bytes, rounds) = if quick { (1 << 20, 1) } else { (64 << 20, 7) };
    let text = build_log(bytes);
    println!(
        "{} MiB of a build's output in reads of 16 KiB, by processor time; best and median of {rounds}",
        text.len() >> 20
    );
    redaction(&text, rounds)?;
    logging(&text, rounds)
}

/// What redaction costs, of copying.
fn redaction(text: &[u8], rounds: usize) -> io::Result<()> {
    let (secrets, ten) = (secrets(), ten_secrets());
    measure("copied as it is", text, rounds, || {
        let mut out = Vec::new();
        for read in text.chunks(READ_BYTES) {
            out.clear();
            out.extend_from_slice(black_box(read));
            black_box(&out);
        }
        Ok(())
    })?;
    measure("redaction, 3 secrets", text, rounds, || {
        redacted(&secrets, text);
        Ok(())
    })?;
    measure("redaction, 10 secrets", text, rounds, || {
        redacted(&ten, text);
        Ok(())
    })?;
    measure("the same, lines that may be commands", text, rounds, || {
        let mut commands = ten.commands();
        let mut out = Vec::new();
        for read in text.chunks(READ_BYTES) {
            out.clear();
            commands.push(read, &mut out);
        }
        Ok(())
    })?;
    let dense = dense(text.len() / 4);
    for (what, text) in &dense {
        measure(what, text, rounds, || {
            redacted(&ten, text);
            Ok(())
        })?;
    }
    // The worst case: every place could be the beginning of the secret.
    let same = vec![b'a'; text.len() / 64];
    let worst = Secrets::new([("WORST", [b'a'; 4096].as_slice())]).expect("it is long enough");
    measure(
        "redaction of one letter, the secret too",
        &same,
        rounds,
        || {
            redacted(&worst, &same);
            Ok(())
        },
    )
}

/// The log, with redaction and without.
fn logging(text: &[u8], rounds: usize) -> io::Result<()> {
    let secrets = secrets();
    measure(
        "log to a file, flushed after each read",
        text,
        rounds,
        || logged(text, None).map(drop),
    )?;
    measure("both", text, rounds, || {
        logged(text, Some(&secrets)).map(drop)
    })?;
    let mut past = 0;
    measure("both, past the log's bound of 1 MiB", text, rounds, || {
        let mut writer = Writer::new(io::sink(), io::sink(), 1 << 20);
        push_all(&mut writer, text, Some(&secrets));
        past = writer.finish().dropped;
        Ok(())
    })?;
    let mut file = logged(text, None)?;
    measure("reading it", text, rounds, || {
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
        let start = processor_s()?;
        work()?;
        times.push(processor_s()? - start);
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

/// Processor time of this thread so far, in seconds: other work on the machine does not count.
fn processor_s() -> io::Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    let nanoseconds: f64 = nanoseconds.ok_or(io::ErrorKind::InvalidData)?;
    Ok(nanoseconds / 1e9)
}

/// All of a text without the secrets, piece by piece.
fn redacted(secrets: &Secrets, text: &[u8]) {
    let mut redactor = secrets.redactor();
    let mut out = Vec::new();
    for read in text.chunks(READ_BYTES) {
        out.clear();
        redactor.push(black_box(read), &mut out);
        black_box(&out);
    }
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

/// Ten of the kinds that jobs have, no two of which begin alike.
fn ten_secrets() -> Secrets {
    let secrets = [
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "correct horse battery",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "xoxb-2147483648-1234567890123-AbCdEfGhIjKlMnOp",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "https://deploy:opensesame@registry.example/v2/",
        "7f3a9c1e5b8d2046",
        "npm_Zk3v9Qw1Rt6Yu8Io0PaSdFgHjKlXcVbNm",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEFJ\nRkRTQUZEU0FGRFNBRkRTQUZEU0FG\n",
    ];
    Secrets::new(secrets.map(|value| ("S", value.as_bytes()))).expect("they are long enough")
}

/// Output that has in each line what other output has now and then.
fn dense(bytes: usize) -> [(&'static str, Vec<u8>); 4] {
    let mut random = fastrand::Rng::with_seed(5);
    let mut lines = |line: &dyn Fn(&mut fastrand::Rng) -> String| {
        let mut text = Vec::with_capacity(bytes + 200);
        while text.len() < bytes {
            text.extend_from_slice(line(&mut random).as_bytes());
        }
        text
    };
    let escapes = lines(&|random| {
        let n = random.u32(..);
        format!("GET /a%20b+{n}?q=%2Fx&amp;y \\\"it's\\n\\\" 'q'\\''{n}' \\u00e9 &#47;\n")
    });
    let colours = lines(&|random| {
        let n = random.u32(..);
        format!("\x1b[32m   Compiling\x1b[0m crate-{n} v0.1.0 \x1b[1;33m{n}\x1b[0m of 812\n")
    });
    let hexadecimal = lines(&|random| {
        let words = [(); 8].map(|()| format!("{:08x}", random.u32(..)));
        format!("{:08x}: {}\n", random.u32(..), words.join(" "))
    });
    let base64 = lines(&|random| {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let row = (0..76).map(|_| char::from(letters[random.usize(..letters.len())]));
        row.chain(['\n']).collect()
    });
    [
        ("10 secrets, escapes in each line", escapes),
        ("10 secrets, colours in each line", colours),
        ("10 secrets, hexadecimal", hexadecimal),
        ("10 secrets, base 64", base64),
    ]
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
