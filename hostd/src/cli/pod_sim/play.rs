//! `--play FILE.sr:CHANNEL=LA,...`: a recording as what the target drives on the simulated pod.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;
use decode::find_channel;
use decode::sr::{Archive, Limits};
use pod_sim::{Playback, Recording};

/// Most channels of a recording; a logic-analyzer word has 16 bits.
const CHANNELS_MAX: usize = 16;

/// Most edges of a recording; they stay in memory, at 16 bytes each.
const EDGES_MAX: usize = 16_000_000;

/// A recording and where its channels are connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Play {
    file: PathBuf,
    /// Channel of the recording, LA channel (from 1).
    map: Vec<(String, u8)>,
}

/// Why the argument cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PlayArgumentError {
    #[error("it must be FILE.sr:CHANNEL=LA,...")]
    Form,
    #[error("{0} must be CHANNEL=LA with an LA number such as 1")]
    Pair(String),
    #[error("it names {channels} channels, {CHANNELS_MAX} are possible")]
    TooMany { channels: usize },
}

impl FromStr for Play {
    type Err = PlayArgumentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The file's own name may hold colons.
        let (file, map) = text.rsplit_once(':').ok_or(PlayArgumentError::Form)?;
        if file.is_empty() {
            return Err(PlayArgumentError::Form);
        }
        let map = map.split(',').map(pair).collect::<Result<Vec<_>, _>>()?;
        if map.len() > CHANNELS_MAX {
            let channels = map.len();
            return Err(PlayArgumentError::TooMany { channels });
        }
        Ok(Self {
            file: PathBuf::from(file),
            map,
        })
    }
}

fn pair(text: &str) -> Result<(String, u8), PlayArgumentError> {
    let malformed = || PlayArgumentError::Pair(text.to_owned());
    let (channel, la) = text.rsplit_once('=').ok_or_else(malformed)?;
    let la = la.strip_prefix("LA").unwrap_or(la);
    let la = la.parse().map_err(|_| malformed())?;
    Ok((channel.to_owned(), la))
}

impl Play {
    /// Read the recording.
    ///
    /// # Errors
    /// The file is unreadable, damaged, without a sample rate, or lacks a channel; or the map names
    /// an LA channel that does not exist, or one twice.
    pub(super) fn load(&self) -> anyhow::Result<Playback> {
        self.read()
            .with_context(|| format!("play {}", self.file.display()))
    }

    fn read(&self) -> anyhow::Result<Playback> {
        let bytes = std::fs::read(&self.file)?;
        let archive = Archive::parse(&bytes, &Limits::default())?;
        let channels = self
            .map
            .iter()
            .map(|(channel, _)| find_channel(channel, archive.channels()))
            .collect::<Result<Vec<_>, _>>()?;
        let recorded = decode::sr::load_edges(&archive, &channels, EDGES_MAX)?;
        let recording = Recording {
            sample_rate_hz: recorded
                .sample_rate_hz
                .context("the file names no sample rate")?,
            samples: recorded.samples,
            edges: recorded.edges,
        };
        let map: Vec<(u8, u8)> = (0..)
            .zip(&self.map)
            .map(|(bit, (_, la))| (bit, *la))
            .collect();
        Ok(Playback::new(&recording, &map, None)?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const RECORDING: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr"
    );

    fn load(map: &str) -> Result<Playback, String> {
        let play: Play = format!("{RECORDING}:{map}").parse().unwrap();
        play.load().map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn channels_by_name_go_to_la_channels() {
        let named = load("SCL=1,SDA=LA2").unwrap();
        let quoted = load("\"SCL\"=LA1,SDA=2").unwrap();
        assert_eq!(format!("{named:?}"), format!("{quoted:?}"));
        assert!(load("7=1").is_ok(), "the name of its place");
    }

    #[test]
    fn a_map_that_makes_no_sense_is_refused_with_the_reason() {
        assert!(load("CLK=1").unwrap_err().contains("channel `CLK`"));
        assert!(load("0=1").unwrap_err().contains("a name or a place"));
        assert!(load("SCL=15").unwrap_err().contains("LA15"));
        assert!(load("SCL=1,SDA=1").unwrap_err().contains("LA1"));
        let missing: Play = "/nowhere/x.sr:a=1".parse().unwrap();
        assert!(format!("{:#}", missing.load().unwrap_err()).contains("/nowhere/x.sr"));
    }

    #[test]
    fn the_argument_is_a_file_and_pairs() {
        let play: Play = "a:b.sr:SCL=1".parse().unwrap();
        assert_eq!(play.file, PathBuf::from("a:b.sr"));
        assert_eq!("x.sr".parse::<Play>(), Err(PlayArgumentError::Form));
        assert_eq!(":a=1".parse::<Play>(), Err(PlayArgumentError::Form));
        for bad in ["x.sr:", "x.sr:SCL", "x.sr:SCL=LA", "x.sr:SCL=300"] {
            assert!(matches!(
                bad.parse::<Play>(),
                Err(PlayArgumentError::Pair(_))
            ));
        }
        let many: Vec<String> = (0..17).map(|n| format!("{n}={n}")).collect();
        assert_eq!(
            format!("x.sr:{}", many.join(",")).parse::<Play>(),
            Err(PlayArgumentError::TooMany { channels: 17 })
        );
    }
}
