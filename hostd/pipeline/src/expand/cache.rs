//! What of a definition decides which cache a run gets.

use std::collections::BTreeMap;

use serde_json::json;

use crate::definition;
use crate::plan::{Cache, Sandbox, Step};

/// The cache of a run. Where steps stand and how long they may take changes nothing they make.
pub(super) fn of(
    cache: &definition::Cache,
    steps: &[Step],
    env: &BTreeMap<String, String>,
    sandbox: &Sandbox,
) -> Cache {
    let steps: Vec<_> = steps
        .iter()
        .map(|step| json!([step.action, step.env]))
        .collect();
    let paths: Vec<String> = cache.paths.iter().map(|path| path.0.clone()).collect();
    Cache {
        definition: json!({"steps": steps, "env": env, "image": sandbox.image, "paths": paths})
            .to_string(),
        key: cache.key.to_vec(),
        paths,
    }
}
