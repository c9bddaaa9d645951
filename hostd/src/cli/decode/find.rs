//! `hostd decode FILE --find QUERY`: where a query finds something.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use anyhow::Context;
use decode::import::Options;
use search::{Hit, Known, Query};

use super::super::assert::source::Stored;
use super::super::trouble::Trouble;
use super::{BUFFER_BYTES, Decode, Output, pairs};
use crate::found;

/// The exit code when nothing is found.
const NOTHING: u8 = 1;

impl Decode {
    pub(super) fn find(
        &self,
        query: &str,
        out: &mut (impl Write + Send),
    ) -> Result<ExitCode, Trouble> {
        let query = self.query(query).map_err(Trouble::Asked)?;
        let stored = Stored::read(&self.file, &self.options()).map_err(Trouble::Asked)?;
        let (segment, names) = stored.logic().map_err(Trouble::Asked)?;
        let search = query.bind(names, &Known::default()).map_err(asked)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
        let mut written = match self.format {
            Output::Csv => out.write_all(b"from,to,text\n"),
            Output::Sigrok | Output::Json => Ok(()),
        };
        let mut count = 0;
        let ended = search.run(&segment, self.from..self.to, &|| true, &mut |hit| {
            if written.is_ok() {
                written = self.write(&hit, &mut out);
            }
            count += 1;
            match written.is_err() || count == self.limit {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        ended.map_err(asked)?;
        match written.and_then(|()| out.flush()) {
            // The reader has closed the pipe.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            other => other.context("print")?,
        }
        Ok(match count {
            0 => ExitCode::from(NOTHING),
            _ => ExitCode::SUCCESS,
        })
    }

    /// What the command line says of the file.
    fn options(&self) -> Options {
        Options {
            rate_hz: self.rate,
            ..Options::default()
        }
    }

    /// The query, with the channels and options of the command line.
    fn query(&self, text: &str) -> anyhow::Result<Query> {
        let mut query = Query::parse(text)?;
        let map = pairs(&self.map, "--map")?;
        for (name, value) in map.into_iter().chain(pairs(&self.option, "--option")?) {
            query = query.with(name, value);
        }
        Ok(query)
    }

    fn write(&self, hit: &Hit, out: &mut impl Write) -> io::Result<()> {
        let Hit { from, to, text } = hit;
        match self.format {
            Output::Sigrok => writeln!(out, "{from}-{to} {text}"),
            Output::Json => out.write_all(found::line(hit).as_bytes()),
            Output::Csv => writeln!(out, "{from},{to},\"{}\"", text.replace('"', "\"\"")),
        }
    }
}

fn asked(error: search::SearchError) -> Trouble {
    Trouble::Asked(error.into())
}
