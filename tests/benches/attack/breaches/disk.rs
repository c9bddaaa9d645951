//! More of the disk than a job may take, where nobody would look for it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::breach::{Breach, Ground, Length, Seen, build};

/// What a job of these breaches may take, in MiB, and the same for a pipeline.
const LIMIT_MIB: u64 = 64;
const LIMIT: &str = "disk: 64MiB";

/// Bytes of a block as the file system counts them (stat(2)).
const BLOCK_BYTES: u64 = 512;

/// Most that the data folder may grow by what takes nothing.
const GROWTH_MIB_MAX: u64 = 32;

/// What the log of a job with `log: 1MiB` may take: the limit, as much of its end, and its index.
const LOG_MIB_MAX: u64 = 4;

/// Open files that have lost their names.
pub(crate) struct Unlinked;

/// Files without bytes.
pub(crate) struct Inodes;

/// An artifact that is one hole.
pub(crate) struct Sparse;

/// Output byte by byte, in turns on two streams.
pub(crate) struct Framing;

/// Tries lines of a shell that must end with the limit of the disk.
fn is_ended(ground: &Ground, lines: &str, seen: &mut Seen) -> Result<()> {
    let id = ground.submit(&ground.other, &build(LIMIT, lines))?;
    let job = ground.ended(&ground.other, &id)?;
    let code = &job["runs"][0]["code"];
    seen.note(format!("ended with {code} of {LIMIT_MIB} MiB"));
    // Where the disk is nearly full, that is why.
    let is_bounded = ["disk_limit", "infra.disk_full"]
        .map(Value::from)
        .contains(code);
    seen.expect(is_bounded, format!("nothing ended the job: {code}"));
    let honest = ground.log_of(&ground.honest, &build("disk: 1GiB", "echo fine"))?;
    seen.expect(
        honest.contains("fine"),
        "an honest build does not work beside it",
    );
    Ok(())
}

impl Breach for Unlinked {
    fn name(&self) -> &'static str {
        "job-unlinked"
    }

    fn does(&self) -> &'static str {
        "200 MB in four open files without names, where a job may take 64 MiB"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        // One file alone may not become so large.
        let lines = "for n in 3 4 5 6; do
            eval \"exec $n<> f\"; rm f
            head -c 50000000 /dev/zero >&$n
            done
            sleep 30";
        is_ended(ground, lines, seen)
    }
}

impl Breach for Inodes {
    fn name(&self) -> &'static str {
        "job-inodes"
    }

    fn does(&self) -> &'static str {
        "20,000 files without a byte, where a job may take 64 MiB"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let lines = "i=0; while [ $i -lt 20000 ]; do : > f$i; i=$((i+1)); done
            sleep 30";
        is_ended(ground, lines, seen)
    }
}

impl Breach for Sparse {
    fn name(&self) -> &'static str {
        "job-sparse"
    }

    fn does(&self) -> &'static str {
        "an artifact of 1,000 MiB that takes nothing of the disk until it is copied"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let data = ground.host.server.dir().join("data");
        let before = taken_mib(&data)?;
        let text = build("disk: 2GiB", "truncate -s 1000M \"$HOSTD_OUT/f\"")
            + "    packs: [{ id: p, artifacts: [f] }]\n";
        let id = ground.submit(&ground.other, &text)?;
        let job = ground.ended(&ground.other, &id)?;
        let grown = taken_mib(&data)?.saturating_sub(before);
        seen.note(format!(
            "{}, and {grown} MiB more are taken",
            job["verdict"]
        ));
        seen.expect(
            grown <= GROWTH_MIB_MAX,
            format!("{grown} MiB of the disk are gone; {GROWTH_MIB_MAX} are allowed"),
        );
        Ok(())
    }
}

impl Breach for Framing {
    fn name(&self) -> &'static str {
        "job-framing"
    }

    fn does(&self) -> &'static str {
        "200,000 single bytes on two streams in turns, into a log of 1 MiB"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let lines = "i=0; while [ $i -lt 100000 ]; do printf a; printf b >&2; i=$((i+1)); done";
        let id = ground.submit(&ground.other, &build("log: 1MiB", lines))?;
        ground.ended(&ground.other, &id)?;
        let attempt = ground
            .host
            .server
            .dir()
            .join("data/jobs")
            .join(&id)
            .join("1");
        let mut bytes = 0;
        for name in ["log", "index"] {
            bytes += fs::metadata(attempt.join(name)).map_or(0, |file| file.len());
        }
        ensure!(bytes > 0, "there is no log in {}", attempt.display());
        seen.note(format!("{} KiB on the disk", bytes >> 10));
        seen.expect(
            bytes <= LOG_MIB_MAX << 20,
            format!(
                "the log takes {} MiB; {LOG_MIB_MAX} are allowed",
                bytes >> 20
            ),
        );
        Ok(())
    }
}

/// MiB that everything below a folder takes of the disk.
fn taken_mib(folder: &Path) -> Result<u64> {
    let mut blocks = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        // What goes away meanwhile takes nothing.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.path().symlink_metadata() else {
                continue;
            };
            blocks += found.blocks();
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok((blocks * BLOCK_BYTES) >> 20)
}
