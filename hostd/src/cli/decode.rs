//! `hostd decode FILE`: print what a protocol decoder finds in a capture file, or where a query finds something.

mod find;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use decode::import::{Import, Kind, Limits, Memory, Options};
use decode::segment::Segment;
use decode::sr::{self, Archive};
use decode::{Annotation, Format, Spec};

use crate::plugin::check;
use crate::plugin::decoding::offline::Offline;

/// Output buffer: large, since annotation lines are short.
const BUFFER_BYTES: usize = 1 << 20;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct Decode {
    /// Capture to read: sigrok session, value change dump, CSV, or Saleae's binary export; its content says which; with
    /// --find also WAV, and logic samples as a server stores them (.la)
    file: PathBuf,
    /// Protocol decoder: i2c, uart or spi; with --plugin one of the package, of which a single one need not be named
    #[arg(long, required_unless_present_any = ["plugin", "find"])]
    protocol: Option<String>,
    /// Package whose decoders are used, a file or a folder; compiled in a process of its own, no server needed
    #[arg(long, value_name = "PACKAGE")]
    plugin: Option<PathBuf>,
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
    /// With --find: first sample to look at
    #[arg(long, value_name = "SAMPLE", requires = "find", default_value_t = 0)]
    from: u64,
    /// With --find: the sample behind the last one to look at
    #[arg(long, value_name = "SAMPLE", requires = "find", default_value_t = u64::MAX, hide_default_value = true)]
    to: u64,
    /// With --find: end after so many places
    #[arg(long, value_name = "COUNT", requires = "find", default_value_t = u64::MAX, hide_default_value = true,
        value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// Lines as sigrok-cli prints them with --protocol-decoder-samplenum, but for the one exception
    Sigrok,
    /// One JSON object a line
    Json,
    Csv,
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
        let mut failure = out.write_all(format.header().as_bytes()).err();
        let mut print = |spec: &Spec, annotations: &[Annotation]| match format.write(
            spec,
            annotations,
            &mut out,
        ) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                failure = Some(e);
                ControlFlow::Break(())
            }
        };
        if Kind::of(&bytes) == Some(Kind::Session) && self.rate.is_none() {
            let archive = Archive::parse(&bytes, &sr::Limits::default());
            let archive = archive.with_context(|| format!("read {shown}"))?;
            let spec = self.spec(archive.channels())?;
            decode::decode_sr(&archive, &spec, &mut |found| print(&spec, found))
        } else {
            let (segment, names) = self
                .imported(&bytes)
                .with_context(|| format!("read {shown}"))?;
            let segment = Segment::open(&segment).with_context(|| format!("read {shown}"))?;
            let spec = self.spec(&names)?;
            decode::decode_segment(&segment, &spec, &mut |found| print(&spec, found))
        }
        .with_context(|| format!("decode {shown}"))?;
        match failure.map_or_else(|| out.flush(), Err) {
            // The reader has closed the pipe: `hostd decode … | head`.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("print"),
        }
    }
}

impl Decode {
    /// The logic samples of a file of another tool, as a segment, and the names of its channels.
    fn imported(&self, bytes: &[u8]) -> anyhow::Result<(Vec<u8>, Vec<String>)> {
        let options = Options {
            rate_hz: self.rate,
            channels: Vec::new(),
        };
        let import = Import::open(bytes, &options, &Limits::default())?;
        let logic = import.logic().context("find logic samples; it has none")?;
        let names = logic.names.clone();
        Ok((Memory::of(&import)?.0, names))
    }

    fn spec(&self, names: &[String]) -> anyhow::Result<Spec> {
        let map = &pairs(&self.map, "--map")?;
        let options = &pairs(&self.option, "--option")?;
        let annotations = self.annotations.as_deref();
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let parsed = match &self.plugin {
            None => Spec::parse(protocol, map, options, annotations, names),
            Some(path) => {
                let package = Offline::open(&check::open(path)?)?;
                let ids: Vec<&str> = package.ids().collect();
                let wanted = match (&self.protocol, ids.as_slice()) {
                    (Some(protocol), _) => protocol.as_str(),
                    (None, [only]) => *only,
                    (None, _) => bail!("choose a decoder; --protocol takes {}", ids.join(", ")),
                };
                let Some(foreign) = package.find(wanted) else {
                    bail!(
                        "find the decoder {wanted} in the package; it has {}",
                        ids.join(", ")
                    );
                };
                Spec::parse_foreign(&foreign, map, options, annotations, names)
            }
        };
        parsed.context("set up the decoder")
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
