//! Pipelines, format 1: text in, a checked pipeline out, and the plan it comes to. Nothing is read, written or
//! started here.
//!
//! ```
//! let text = "
//! version: 1
//! builds:
//!   - id: fw
//!     steps: [{ run: make }]
//!     packs: [{ id: f0, artifacts: [fw.elf], targets: [stm32f030f4] }]
//! benches:
//!   - id: smoke
//!     for_each: fw
//!     device: { select: { target: '{{pack.target}}' } }
//!     steps: [{ flash: { artifact: fw.elf } }, { uart: { expect: ready }, timeout: 2s }]
//! ";
//! let caps = pipeline::Caps::default();
//! let plan = pipeline::parse(text, &caps).map(|pipeline| pipeline::expand(&pipeline, &caps));
//! let ids: Vec<String> = plan.expect("it is right").runs.into_iter().map(|run| run.id).collect();
//! assert_eq!(ids, ["fw.f0", "smoke.f0"]);
//!
//! let report = pipeline::parse("version: 1\nbuild: []", &caps).expect_err("a key is wrong");
//! assert!(report.render("ci.yml").starts_with("ci.yml:2:1: error[unknown_key]: there is no key `build`"));
//! ```
//!
//! A document is read in three stages: YAML to a tree of values that know their lines (`yaml`), the tree to
//! the types of the format (`reading`, `definition`), and what types cannot say (`check`, `expand`). Each stage
//! finds all it can; the first alone ends at its first problem.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod caps;
mod check;
mod chips;
mod condition;
mod definition;
mod expand;
pub mod fuzz;
mod images;
pub mod limits;
mod network;
mod path;
mod pattern;
pub mod plan;
mod predicate;
mod problem;
mod reading;
pub mod reference;
pub mod refs;
pub mod rules;
mod scalars;
mod schema;
mod secrets;
mod template;
mod units;
mod yaml;

pub use caps::Caps;
pub use condition::When;
pub use definition::action::{
    BusDecoder, CaptureKind, Edge, Mapping, Output, Parity, Power, Rail, Switch,
};
pub use definition::decoder::Decoder;
pub use definition::measurand::Measurand;
pub use definition::trigger::Direction;
pub use pattern::{Pattern, PatternError};
pub use predicate::{Capabilities, Capability, Mismatch, Predicate, Requirements, matches};
pub use problem::{Code, Problem, Report};
pub use scalars::check_secret_name;
pub use schema::schema;
pub use units::{parse_size, parse_time};

use caps::DEFAULTS;
use definition::Definition;
use expand::Whole;
use plan::{Limits, Plan, Role, Run};

/// A pipeline that is right.
#[derive(Debug)]
pub struct Pipeline {
    definition: Definition,
}

/// Reads a pipeline and checks all of it, against `caps` too.
///
/// # Errors
/// Everything that is wrong, as far as it can be told at once.
pub fn parse(text: &str, caps: &Caps) -> Result<Pipeline, Box<Report>> {
    let refuse = |root: Option<&yaml::Node>, findings: Vec<problem::Finding>| {
        Box::new(Report::new(text, root, &with_blank(text, findings)))
    };
    let root = yaml::read(text).map_err(|finding| refuse(None, vec![*finding]))?;
    let reading::Reading {
        value,
        mut findings,
        has_holes,
    } = reading::read::<Definition>(&root);
    let Some(definition) = value else {
        return Err(refuse(Some(&root), findings));
    };
    if !has_holes {
        let mut later = check::check(&definition, caps);
        // What is too much is not expanded.
        if !later
            .iter()
            .any(|finding| finding.code == Code::TooManyRuns)
        {
            later.extend(expand::runs(&definition, Whole::All, &mut |_| {}));
        }
        later.retain(|finding| !follows(finding, &findings));
        findings.extend(later);
    }
    match findings.is_empty() {
        true => Ok(Pipeline { definition }),
        false => Err(refuse(Some(&root), findings)),
    }
}

/// What is wrong with a document, and what may be the reason for all of it: a character that cannot be told from a space.
/// In a document that is right it is part of some text.
fn with_blank(text: &str, mut findings: Vec<problem::Finding>) -> Vec<problem::Finding> {
    if let Some((span, message)) = yaml::blank(text) {
        findings.push(problem::Finding {
            span: Some(span),
            ..problem::Finding::new(path::Path::default(), Code::Syntax, message)
        });
    }
    findings
}

/// Whether a finding may only be there because something else was not read.
fn follows(finding: &problem::Finding, unread: &[problem::Finding]) -> bool {
    let touches = || unread.iter().any(|other| other.path.touches(&finding.path));
    !unread.is_empty() && (finding.code.may_follow() || touches())
}

/// What a pipeline comes to on a server with these caps, which may be lower than those it was checked against:
/// then it gets what they allow. Many variants of long steps are much: see [`outline`] and [`expand_one`].
#[must_use]
pub fn expand(pipeline: &Pipeline, caps: &Caps) -> Plan {
    plan(pipeline, caps, Whole::All)
}

/// As [`expand`], but no run has its steps, its environment and its cache: what one must know to queue it.
#[must_use]
pub fn outline(pipeline: &Pipeline, caps: &Caps) -> Plan {
    plan(pipeline, caps, Whole::Nothing)
}

/// As [`outline`], but the run at this place is whole: what one must know to carry it out.
#[must_use]
pub fn expand_one(pipeline: &Pipeline, caps: &Caps, run: usize) -> Plan {
    plan(pipeline, caps, Whole::One(run))
}

fn plan(pipeline: &Pipeline, caps: &Caps, whole: Whole) -> Plan {
    let mut runs = Vec::new();
    // What is wrong with it was found when it was read.
    expand::runs(&pipeline.definition, whole, &mut |run| {
        runs.push(capped(run, caps));
    });
    let Definition {
        name,
        timeouts,
        limits,
        retry,
        ..
    } = &pipeline.definition;
    let asked = |asked: Option<u64>, default: u64, cap: u64| asked.unwrap_or(default).min(cap);
    Plan {
        name: name.as_deref().map(str::to_owned),
        queue_ms: asked(
            timeouts.queue.map(|t| t.0),
            DEFAULTS.queue_ms,
            caps.queue_ms,
        ),
        job_ms: asked(timeouts.job.map(|t| t.0), DEFAULTS.job_ms, caps.job_ms),
        limits: Limits {
            memory_bytes: asked(
                limits.memory.map(|l| l.0),
                DEFAULTS.memory_bytes,
                caps.memory_bytes,
            ),
            processes: asked(
                limits.processes.map(|l| l.0),
                DEFAULTS.processes,
                caps.processes,
            ),
            disk_bytes: asked(
                limits.disk.map(|l| l.0),
                DEFAULTS.disk_bytes,
                caps.disk_bytes,
            ),
            log_bytes: asked(limits.log.map(|l| l.0), DEFAULTS.log_bytes, caps.log_bytes),
        },
        infra_retries: asked(
            retry.infra.map(|r| r.0),
            DEFAULTS.infra_retries,
            caps.infra_retries,
        ),
        runs,
    }
}

fn capped(mut run: Run, caps: &Caps) -> Run {
    let is_build = matches!(run.role, Role::Build { .. });
    let cap = |steps: &mut Vec<plan::Step>| {
        for step in steps {
            let is_flash = matches!(step.action, plan::Action::Flash(_));
            step.timeout_ms = caps.step_ms(step.timeout_ms, is_build, is_flash);
        }
    };
    run.timeout_ms = caps.step_ms(run.timeout_ms, is_build, false);
    cap(&mut run.steps);
    if let Role::Bench { always, .. } = &mut run.role {
        cap(always);
    }
    run
}

#[cfg(test)]
mod tests;
