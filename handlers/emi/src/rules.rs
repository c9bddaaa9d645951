//! `GET /emi/rules`: what boards are looked through for.

use guest::emi::{self, Param, Rule};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access;

pub(crate) const ROUTE: Route = Route {
    name: "emi.rules",
    method: "GET",
    pattern: "/emi/rules",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "The rules that boards are looked through by",
    openapi: Openapi::of(|operation| {
        let rule = Rule {
            id: "plane-gap".into(),
            title: "A trace crosses a gap in its reference plane".into(),
            about: "The return current has to go around the gap.".into(),
            formula: "detour = way around the gap".into(),
            source: "Ott 2009".into(),
            severity: "warning if the detour is over 1 mm".into(),
            validity: "boards with filled zones".into(),
            params: vec![Param {
                key: "gap_mm".into(),
                default: 0.6,
                about: "Shorter ones are no gaps.".into(),
            }],
            assumes: vec!["the stack-up, where the file has not all of it".into()],
        };
        operation.reply(
            200,
            "All rules, with the defaults of what can be set.",
            &told(&[rule]),
        );
    }),
    handle,
};

/// All rules.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rules")]
struct Told<'a> {
    rules: Vec<Record<'a>>,
}

/// A rule.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rule")]
struct Record<'a> {
    /// What settings and reports call it.
    id: &'a str,
    title: &'a str,
    /// Why it matters.
    about: &'a str,
    /// How it measures.
    formula: &'a str,
    /// Whose formula it is.
    source: &'a str,
    /// When a finding is how bad.
    severity: &'a str,
    /// Which boards and nets it can say something about.
    validity: &'a str,
    /// What can be set.
    params: Vec<Setting<'a>>,
    assumes: &'a [String],
}

/// Something that can be set.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Setting")]
struct Setting<'a> {
    /// Its ending is its unit.
    key: &'a str,
    default: f64,
    about: &'a str,
}

impl<'a> From<&'a Param> for Setting<'a> {
    fn from(param: &'a Param) -> Self {
        Self {
            key: &param.key,
            default: param.default,
            about: &param.about,
        }
    }
}

fn told(rules: &[Rule]) -> Told<'_> {
    let rules = rules.iter().map(|rule| Record {
        id: &rule.id,
        title: &rule.title,
        about: &rule.about,
        formula: &rule.formula,
        source: &rule.source,
        severity: &rule.severity,
        validity: &rule.validity,
        params: rule.params.iter().map(Into::into).collect(),
        assumes: &rule.assumes,
    });
    Told {
        rules: rules.collect(),
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    Ok(Response::json(200, &told(&emi::rules())))
}
