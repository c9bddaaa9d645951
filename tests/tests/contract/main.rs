//! The contract, route by route: every operation of the served OpenAPI document has rows here, every
//! row is a request to a running server, and every answer must match the document's description.
//!
//! For each route, `rows/<tag>.rs` says what succeeds and which conflicts of its own the route has;
//! everything else follows from what the document says about the route: `checks.rs`.
//!
//! `CONTRACT_ROUTE=devices.get cargo xtask test tests contract` tries only one route.
//!
//! A machine that cannot isolate jobs leaves their routes out and says so; with `TESTS_NEED_ISOLATION=1`
//! that is a failure.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod boards;
mod bounds;
mod call;
mod checks;
mod document;
mod edges;
mod fields;
mod objects;
mod rows;

use std::collections::BTreeSet;

use bench::Bench;
use call::Rows;
use document::{Document, Operation};

/// Environment variable that names the only route to try.
const ROUTE: &str = "CONTRACT_ROUTE";

#[test]
fn every_route_keeps_its_contract() {
    let mut bench = Bench::start();
    let document = Document::of(bench.server());
    let mut all = rows::all();
    let mut problems = misfits(&document, &all);
    if let Ok(only) = std::env::var(ROUTE) {
        all.retain(|rows| rows.route == only);
        problems.retain(|problem| problem.starts_with(&*only));
        assert!(
            !all.is_empty() || !problems.is_empty(),
            "no route is called {only}"
        );
    }
    leave_out_jobs(&mut all);
    for rows in &all {
        if let Some(operation) = document.operation(rows.route) {
            problems.extend(checks::check(&bench, &document, operation, rows));
        }
    }
    problems.extend(bench.stop_and_look_for_secrets());
    let count = problems.len();
    assert!(problems.is_empty(), "{count}:\n\n{}\n", problems.join("\n"));
}

#[test]
fn every_bound_of_every_field_holds() {
    let bench = Bench::start();
    let document = Document::of(bench.server());
    let only = std::env::var(ROUTE).ok();
    let mut tried = bounds::Tried::default();
    let mut problems = Vec::new();
    let mut all = rows::all();
    let is_whole = leave_out_jobs(&mut all);
    for rows in all {
        let meant = only.as_ref().is_none_or(|only| rows.route == only);
        if let Some(operation) = document.operation(rows.route).filter(|_| meant) {
            problems.extend(bounds::check(
                &bench, &document, operation, &rows, &mut tried,
            ));
        }
    }
    if only.is_none() {
        if is_whole {
            problems.extend(bounds::stale(&tried));
        }
        assert!(tried.count > 600, "only {} requests", tried.count);
    }
    let count = problems.len();
    assert!(problems.is_empty(), "{count}:\n\n{}\n", problems.join("\n"));
}

/// Leaves out the routes that need jobs, where none can be isolated. Whether they all stay.
fn leave_out_jobs(all: &mut Vec<Rows>) -> bool {
    let is_of_jobs =
        |rows: &Rows| rows.route.starts_with("jobs.") && !rows::WITHOUT_JOBS.contains(&rows.route);
    let can_stay = !all.iter().any(is_of_jobs) || tests::can_isolate();
    if !can_stay {
        all.retain(|rows| !is_of_jobs(rows));
    }
    can_stay
}

/// Routes without rows, and rows without a route.
fn misfits(document: &Document, all: &[Rows]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut problems = Vec::new();
    for rows in all {
        if !known.insert(rows.route) {
            problems.push(format!("{} has its rows twice", rows.route));
        }
        match document.operation(rows.route) {
            None => problems.push(format!("{}: no route has this name", rows.route)),
            Some(_) if rows.success.is_empty() => {
                problems.push(format!("{} has no row of success", rows.route));
            }
            Some(operation) => problems.extend(stray_paths(document, operation, rows)),
        }
    }
    let missing = document.operations().filter(|o| !known.contains(&*o.name));
    problems.extend(missing.map(advice));
    problems
}

fn stray_paths(document: &Document, operation: &Operation, rows: &Rows) -> Vec<String> {
    let calls = rows.calls();
    calls
        .filter(|call| !document.leads_to(&call.path, operation))
        .map(|call| format!("{}: {} is not a path of this route", rows.route, call.path))
        .collect()
}

/// What to write for a route that has no rows.
fn advice(operation: &Operation) -> String {
    let tag = operation.name.split('.').next().unwrap();
    let path = operation.path.strip_prefix("/api").unwrap();
    let body = match &operation.example {
        Some(example) => format!(".json(r#\"{example}\"#)"),
        None if operation.body_bytes_max > 0 => ".bytes(\"<media type>\", b\"…\")".to_owned(),
        None => String::new(),
    };
    let status = operation.success_status();
    format!(
        "{name} ({method} {path}) has no rows. Add to tests/tests/contract/rows/{tag}.rs (a new file is \
         listed in rows.rs; objects such as <device> and <capture> are made by objects.rs):\n    \
         rows(\"{name}\")\n        .success({status}, call(\"{path}\"){body})\n        \
         .refusal(409, \"wrong_state\", call(\"…\"))  // one for each conflict of its own",
        name = operation.name,
        method = operation.method,
        path = path.replace('{', "<").replace('}', ">"),
    )
}
