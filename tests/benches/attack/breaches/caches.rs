//! A cache that another organisation reads, or writes.

use anyhow::{Context, Result};
use tests::Client;

use crate::breach::{Breach, Ground, Length, Seen};

/// Keeps an object that is unlike any other, and says which one it has. The same text is the same cache, but for whose.
const KEEPS: &str = "version: 1\nbuilds:\n  - id: fw\n    cache: { key: [Makefile], paths: [.cc] }\n    steps:\n      - run: |\n          test -f .cc/o || { mkdir .cc; cat /proc/sys/kernel/random/uuid > .cc/o; }\n          echo \"object $(cat .cc/o)\"\n";

/// The same pipeline by two organisations.
pub(crate) struct Caches;

impl Breach for Caches {
    fn name(&self) -> &'static str {
        "job-caches"
    }

    fn does(&self) -> &'static str {
        "the pipeline of another organisation, to read its cache and to write into it"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let object = |by: &Client, definition: &str| {
            let log = ground.log_of(by, definition)?;
            let (_, rest) = log.split_once("object ").context("an object in the log")?;
            Ok::<String, anyhow::Error>(rest.lines().next().unwrap_or_default().to_owned())
        };
        let first = object(&ground.honest, KEEPS)?;
        let again = object(&ground.honest, KEEPS)?;
        seen.expect(first == again, "the owner's own cache is lost");
        seen.expect(
            object(&ground.other, KEEPS)? != first,
            "another organisation reads the cache",
        );
        // And the other way round: who comes first puts an object where the owner would look next.
        let next = KEEPS.replace("[Makefile]", "[Makefile, next]");
        let poison = object(&ground.other, &next)?;
        seen.expect(
            object(&ground.honest, &next)? != poison,
            "a build has an object of another organisation",
        );
        seen.note("four builds, three objects: each organisation has its own");
        Ok(())
    }
}
