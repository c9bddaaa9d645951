//! Rules about the signals of a capture: each is a case of the job, and what fails leaves a picture.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use evidence::result::{Case, Fault, Outcome as CaseOutcome};
use pipeline::limits::{DOCUMENT_BYTES_MAX, GOLDEN_BYTES_MAX};
use pipeline::plan::Assertion;
use pipeline::rules::{Rule, parse};
use sha2::{Digest, Sha256};

use super::course::Course;
use super::{Judging, Ruled, Ruling};
use crate::artifacts::{self, Artifact};
use crate::attempt::Stop;
use crate::below;
use crate::cases::Tally;
use crate::outcome::{Failure, Outcome};
use crate::results::StepEnd;
use crate::step::Deadline;

/// Pictures that one step leaves.
const PICTURES_MAX: usize = 20;

/// The folder of what rules leave, among the artifacts.
const FOLDER: &str = "assertions";

/// Rules and what they refer to.
struct Rules {
    rules: Vec<Rule>,
    names: Vec<(String, String)>,
    goldens: BTreeMap<String, Vec<u8>>,
}

impl Course<'_, '_> {
    /// Judges the capture of the step `on` by rules.
    pub(super) fn rules(
        &mut self,
        index: usize,
        (on, that): (&str, &Assertion),
        own: Deadline,
        end: &mut StepEnd,
    ) -> Stop<()> {
        let wanted = self.read_rules(that)?;
        let Some(recorded) = self.recordings.find(on) else {
            let unmade = "it was not made".to_owned();
            return Err(crate::judge::failed(format!("the capture {on}"), unmade));
        };
        let (capture, kept) = self.collect(recorded, own)?;
        let id = kept.id.clone();
        end.captures.push(kept);
        let judging = Judging {
            capture,
            names: &wanted.names,
            rules: &wanted.rules,
            goldens: &wanted.goldens,
        };
        let until = own.until(self.attempt.cancel);
        let ruling = self.bench.judge(&id, &judging, &until);
        let ruling = ruling.map_err(|error| error.outcome(own))?;
        self.keep(index, on, ruling, end)
    }

    /// The rules of a step, those of its file among them, and the golden files that they name.
    fn read_rules(&self, that: &Assertion) -> Stop<Rules> {
        let source = &self.attempt.grounds.source;
        let (rules, names, folder) = match that {
            Assertion::RuleFile(path) => {
                let bytes = read(source, path, DOCUMENT_BYTES_MAX)?;
                let text = String::from_utf8(bytes).map_err(|_| {
                    refused(format!("read the rules {path}: they are no UTF-8 text"))
                })?;
                let file = parse(&text).map_err(|report| {
                    for line in report.render(path).lines() {
                        self.attempt.log.write_line(line);
                    }
                    let first = report.problems.first();
                    let first = first.map_or_else(String::new, |problem| {
                        format!("{path}:{}: {}", problem.line, problem.message)
                    });
                    refused(format!("read the rules {path}: {first}"))
                })?;
                let names = file.channels();
                let names = names.map(|(own, of)| (own.to_owned(), of.to_owned()));
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                (file.rules().to_vec(), names.collect(), folder)
            }
            Assertion::Rules(rules) => (rules.clone(), Vec::new(), ""),
            _ => (Vec::new(), Vec::new(), ""),
        };
        let mut goldens = BTreeMap::new();
        for name in rules.iter().filter_map(Rule::golden_file) {
            let path = match folder {
                "" => name.to_owned(),
                folder => format!("{folder}/{name}"),
            };
            goldens.insert(name.to_owned(), read(source, &path, GOLDEN_BYTES_MAX)?);
        }
        Ok(Rules {
            rules,
            names,
            goldens,
        })
    }

    /// Keeps the result, pictures of what fails, and a case for each rule.
    fn keep(&mut self, index: usize, on: &str, ruling: Ruling, end: &mut StepEnd) -> Stop<()> {
        let id = self.steps[index].id.clone();
        let id = id.unwrap_or_else(|| format!("step-{}", index + 1));
        let result = format!("{FOLDER}/{id}.json");
        self.leave(&result, ruling.json.as_bytes())?;
        let mut tally = Tally::default();
        let mut unjudged = None;
        let mut pictures = 0;
        for (number, ruled) in (1..).zip(&ruling.rules) {
            let mut case = case(on, ruled);
            if let Some(picture) = ruled.picture.as_ref().filter(|_| pictures < PICTURES_MAX) {
                pictures += 1;
                let name = format!("{FOLDER}/{id}/{number}.svg");
                self.leave(&name, picture.as_bytes())?;
                case.output = format!("picture: the artifact {name}");
                let run = crate::recorded::encoded(&self.attempt.task.run.id);
                case.attachments.push(format!("artifacts/{run}/{name}"));
            }
            if let CaseOutcome::Failed(fault) | CaseOutcome::BenchFailed(fault) = &case.outcome {
                self.attempt
                    .log
                    .note(&format!("{}: {}", ruled.name, fault.message));
            }
            if ruled.holds.is_none() {
                unjudged.get_or_insert_with(|| format!("{}: {}", ruled.name, ruled.seen));
            }
            let secrets = self.attempt.grounds.secrets;
            let taken = self.attempt.cases.add(case, secrets, &mut tally);
            taken.map_err(|why| Outcome::Failed(Failure::BadJunit(result.clone(), why)))?;
        }
        let Tally { counts, first } = tally;
        end.counts += counts;
        match (first, unjudged) {
            (Some(first), _) => {
                let failure = Failure::Cases(counts.failed, first.name, first.message);
                Err(Outcome::Failed(failure))
            }
            (None, Some(why)) => Err(refused(format!("judge a rule: {why}"))),
            (None, None) => {
                let log = self.attempt.log;
                log.note(&format!(
                    "{} rules hold, as the artifact {result}",
                    counts.passed
                ));
                Ok(())
            }
        }
    }

    /// Keeps a file as an artifact of the run.
    fn leave(&mut self, name: &str, bytes: &[u8]) -> Stop<()> {
        let path = self.attempt.task.artifacts().join(name);
        let written = artifacts::create(&path).and_then(|mut file| file.write_all(bytes));
        written.map_err(|error| Outcome::broken("keep what rules come to", &error))?;
        self.artifacts.push(Artifact {
            name: name.to_owned(),
            bytes: bytes.len() as u64,
            sha256: hex::encode(Sha256::digest(bytes)),
            path,
        });
        Ok(())
    }
}

/// The case that a rule is.
fn case(on: &str, ruled: &Ruled) -> Case {
    let fault = |kind: &str| Fault {
        kind: kind.to_owned(),
        message: format!("wanted {}; {}", ruled.wanted, ruled.seen),
        detail: ruled.detail.clone(),
    };
    Case {
        name: format!("{on}: {}", ruled.name),
        outcome: match ruled.holds {
            Some(true) => CaseOutcome::Passed,
            Some(false) => CaseOutcome::Failed(fault("assert")),
            None => CaseOutcome::BenchFailed(fault("rule_error")),
        },
        ..Case::default()
    }
}

fn refused(why: String) -> Outcome {
    Outcome::Failed(Failure::Refused(why))
}

/// Reads a file of the sources.
fn read(source: &Path, path: &str, bytes_max: usize) -> Stop<Vec<u8>> {
    below::read(source, path, bytes_max).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "it is not among the sources of the job".to_owned(),
            _ => error.to_string(),
        };
        refused(format!("read {path}: {why}"))
    })
}
