//! `hostd decode FILE`: print what a protocol decoder finds in a capture file, or where a query finds something.

mod find;
mod look;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use decode::import::Kind;
use decode::segment::Segment;
use decode::sr::{self, Archive};
use decode::{Annotation, Decoding, Format, Spec};

/// Output buffer: large, since annotation lines are short.
const BUFFER_BYTES: usize = 1 << 20;

/// Most stretches of a summary.
const STRETCHES_MAX: i64 = 10_000;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct Decode {
    /// Capture to read: sigrok session, value change dump, FST, CSV, or Saleae's binary export; its content says which; with
    /// --find also WAV, and logic samples as a server stores them (.la)
    file: PathBuf,
    /// Protocol decoder: i2c, i2c-registers, spi, uart or uart-conversation; with --plugin one of the package, of which a single one need not be named
    #[arg(long, required_unless_present_any = ["plugin", "find"])]
    protocol: Option<String>,
    /// Whose decoder: `sigrok` takes all that an installed sigrok-cli has, also on top of each other: --protocol i2c,ds1307
    #[arg(long, value_enum, default_value_t = Engine::Hostd, conflicts_with_all = ["plugin", "find"])]
    engine: Engine,
    /// Package whose decoders are used, a file or a folder; compiled in a process of its own, no server needed
    #[arg(long, value_name = "PACKAGE")]
    plugin: Option<PathBuf>,
    /// With --protocol i2c-registers: description of a part, or a folder of descriptions, beside the built-in ones; its name
    /// without .toml is what --option parts=NAME@ADDRESS takes (repeatable)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plugin", "find"])]
    registers: Vec<PathBuf>,
    /// Decoder channels by their names: scl=SCL,sda=SDA; 3 is LA3 in recordings of a pod (in others a number
    /// that could be a name or a place is refused; a name between double quotes is always a name)
    #[arg(long, value_name = "ROLE=CHANNEL,...", value_delimiter = ',')]
    map: Vec<String>,
    /// Samples per second of a file that says times alone (default: what it says, or the lowest at which none is lost)
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Decoder option, named as in libsigrokdecode: baudrate=115200 (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// Annotation classes or rows to print: i2c=addr-data
    #[arg(long, value_name = "CLASSES")]
    annotations: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Sigrok)]
    format: Output,
    /// Print where a query finds something: "pulse on LA3 shorter than 1 us", "i2c 0x76 nack"
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["protocol", "plugin", "annotations"])]
    find: Option<String>,
    /// First sample to look at; inside a capture, a decoding begins where the decoder knows where it is
    #[arg(long, value_name = "SAMPLE", default_value_t = 0)]
    from: u64,
    /// The sample behind the last one to look at
    #[arg(long, value_name = "SAMPLE", default_value_t = u64::MAX, hide_default_value = true)]
    to: u64,
    /// End after so many lines
    #[arg(long, value_name = "COUNT", default_value_t = u64::MAX, hide_default_value = true,
        value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Leave out pulses shorter than so many nanoseconds
    #[arg(long, value_name = "NS", conflicts_with = "find")]
    glitch: Option<f64>,
    /// Read the analog channel as logic: high above this value of its unit; the decoder's channel is then that one
    #[arg(
        long,
        value_name = "VALUE",
        conflicts_with = "find",
        allow_hyphen_values = true
    )]
    threshold: Option<f64>,
    /// With --threshold: it rises half of this above it, and falls half of this below
    #[arg(
        long,
        value_name = "VALUE",
        requires = "threshold",
        default_value_t = 0.0
    )]
    hysteresis: f64,
    /// In place of lines, print as JSON how many annotations of each class begin in each of so many equal stretches
    #[arg(long, value_name = "STRETCHES", conflicts_with = "find",
        value_parser = clap::value_parser!(u16).range(1..=STRETCHES_MAX))]
    summary: Option<u16>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// Lines as sigrok-cli prints them with --protocol-decoder-samplenum, but for the one exception
    Sigrok,
    /// One JSON object a line
    Json,
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    Hostd,
    Sigrok,
}

impl From<Output> for Format {
    fn from(output: Output) -> Self {
        match output {
            Output::Sigrok => Self::Sigrok,
            Output::Json => Self::Json,
            Output::Csv => Self::Csv,
        }
    }
}

impl Decode {
    /// Decode the file, or search in it, and print to `out`.
    ///
    /// # Errors
    /// An unreadable or malformed file, or arguments the decoder does not know.
    pub fn run(&self, out: &mut (impl Write + Send)) -> anyhow::Result<ExitCode> {
        match &self.find {
            Some(query) => Ok(self
                .find(query, out)
                .unwrap_or_else(|trouble| trouble.tell())),
            None => self.decode(out).map(|()| ExitCode::SUCCESS),
        }
    }

    fn decode(&self, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
        let shown = self.file.display();
        let file = File::open(&self.file).with_context(|| format!("open {shown}"))?;
        if file
            .metadata()
            .with_context(|| format!("read {shown}"))?
            .len()
            == 0
        {
            bail!("read {shown}: the file is empty");
        }
        #[expect(unsafe_code, reason = "a file of any size is read without copying it")]
        // SAFETY: the mapping is read-only. Should another process truncate the file meanwhile,
        // this command-line process gets SIGBUS, which is no worse than the file being gone.
        let bytes = unsafe { memmap2::Mmap::map(&file) }.with_context(|| format!("map {shown}"))?;
        let format = Format::from(self.format);
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
        if let Some(stretches) = self.summary {
            let told = self.density(&bytes, stretches.into());
            let told = told.with_context(|| format!("decode {shown}"))?;
            return writeln!(out, "{told}")
                .and_then(|()| out.flush())
                .context("print");
        }
        let mut failure = out.write_all(format.header().as_bytes()).err();
        let mut print = |spec: &Spec, annotations: &[Annotation]| {
            failure = format.write(spec, annotations, &mut out).err();
            match failure.is_some() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        if Kind::of(&bytes) == Some(Kind::Session) && self.rate.is_none() && self.takes_all() {
            let archive = Archive::parse(&bytes, &sr::Limits::default());
            let archive = archive.with_context(|| format!("read {shown}"))?;
            let spec = self.spec(archive.channels())?;
            let decoding = Decoding::of_sr(&archive, &spec);
            let decoding = decoding.map(|decoding| decoding.at_most(self.limit));
            decoding.and_then(|decoding| decoding.run(&mut |found| print(&spec, found)))
        } else {
            let (segment, names) = self
                .imported(&bytes)
                .with_context(|| format!("read {shown}"))?;
            let segment = Segment::open(&segment).with_context(|| format!("read {shown}"))?;
            let spec = self.spec(&names)?;
            let decoding = self.decoding(&segment, &spec);
            decoding.and_then(|decoding| decoding.run(&mut |found| print(&spec, found)))
        }
        .with_context(|| format!("decode {shown}"))?;
        match failure.map_or_else(|| out.flush(), Err) {
            // The reader has closed the pipe: `hostd decode … | head`.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("print"),
        }
    }
}

fn pairs<'a>(texts: &'a [String], flag: &str) -> anyhow::Result<Vec<(&'a str, &'a str)>> {
    texts
        .iter()
        .map(|text| {
            text.split_once('=')
                .with_context(|| format!("read {flag} {text}: it must be NAME=VALUE"))
        })
        .collect()
}
