//! The rules of a capture as test cases, for CI systems.

use std::io;

use evidence::result::{Case, Fault, JobResult, Outcome, RunResult};

use crate::report::{Judged, Report, Verdict};
use crate::words::quantity;

/// The word of a rule that does not hold, among those of faults.
const FAILED: &str = "assert";

/// The word of a rule that cannot be judged.
const ERROR: &str = "rule_error";

/// Writes each rule as a case of a suite that is called as the capture is. `pictures` are the paths of the pictures of rules,
/// by their place in the list.
///
/// # Errors
/// `out` cannot be written to.
pub fn junit(
    report: &Report,
    capture: &str,
    pictures: &dyn Fn(usize) -> Option<String>,
    out: impl io::Write,
) -> io::Result<()> {
    let cases = report.rules.iter().enumerate();
    let cases = cases.map(|(index, rule)| case(rule, pictures(index)));
    let run = RunResult {
        class: capture.to_owned(),
        attempts: 1,
        ..RunResult::default()
    };
    let job = JobResult {
        name: "hostd assert".to_owned(),
        runs: vec![run.with_cases(cases.collect())],
        ..JobResult::default()
    };
    evidence::junit::write(&job, out)
}

fn case(rule: &Judged, picture: Option<String>) -> Case {
    let fault = |kind: &str| Fault {
        kind: kind.to_owned(),
        message: format!("wanted {}; {}", rule.wanted, rule.seen),
        detail: rule.told(),
    };
    Case {
        name: rule.name.clone(),
        outcome: match rule.verdict {
            Verdict::Passed => Outcome::Passed,
            Verdict::Failed => Outcome::Failed(fault(FAILED)),
            Verdict::Error => Outcome::BenchFailed(fault(ERROR)),
        },
        output: match rule.verdict {
            Verdict::Passed => format!("wanted {}; {}\n{}", rule.wanted, rule.seen, rule.told()),
            Verdict::Failed | Verdict::Error => String::new(),
        },
        attachments: picture.into_iter().collect(),
        ..Case::default()
    }
}

impl Judged {
    /// Where it was and how near, in lines.
    #[must_use]
    pub fn told(&self) -> String {
        let mut lines = Vec::new();
        if let Some(place) = &self.place {
            let (from, to) = (quantity(place.from_s, "s"), quantity(place.to_s, "s"));
            lines.push(match place.from_sample == place.to_sample {
                true => format!(
                    "at sample {} of {}, {from} from the trigger",
                    place.from_sample, place.channel
                ),
                false => format!(
                    "at samples {} to {} of {}, {from} to {to} from the trigger",
                    place.from_sample, place.to_sample, place.channel
                ),
            });
        }
        if let Some(margin) = &self.margin {
            let value = match margin.unit {
                "count" => format!("{}", margin.value),
                "%" => format!("{:.4} %", margin.value),
                unit => quantity(margin.value, unit),
            };
            lines.push(format!("margin {value}"));
        }
        let shown = self.places.len() as u64;
        if self.found > 1 {
            let more = match self.found > shown {
                true => format!(", the first {shown} of which are listed"),
                false => String::new(),
            };
            lines.push(format!("{} places fail{more}", self.found));
        }
        lines.join("\n")
    }
}
