//! How many annotations a decoding has in equal stretches, as JSON.

use std::ops::Range;

use decode::Spec;
use decode::density::Density;
use serde_json::{Map, json};

/// One object.
pub(crate) fn json(spec: &Spec, range: &Range<u64>, density: &Density) -> String {
    let classes = density.classes().filter_map(|(class, counts)| {
        let class = spec.decoder().classes.get(class)?;
        Some((class.id.clone(), json!(counts)))
    });
    let told = json!({
        "from": range.start,
        "to": range.end,
        "stretches": density.stretches(),
        "classes": classes.collect::<Map<_, _>>(),
    });
    told.to_string()
}
