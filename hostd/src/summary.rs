//! How many annotations a decoding has in equal stretches, as JSON.

use std::ops::Range;

use decode::Spec;
use decode::density::Density;
use decode::gaps::Gaps;
use serde_json::{Map, json};

/// One object.
pub(crate) fn json(spec: &Spec, range: &Range<u64>, density: &Density, gaps: &Gaps) -> String {
    let classes = density.classes().filter_map(|(class, counts)| {
        let class = spec.decoder().classes.get(class)?;
        Some((class.id.clone(), json!(counts)))
    });
    let mut told = json!({
        "from": range.start,
        "to": range.end,
        "stretches": density.stretches(),
        "classes": classes.collect::<Map<_, _>>(),
    });
    if !gaps.is_empty() {
        let lost = gaps.within(range);
        told["gaps"] = lost
            .map(|gap| json!({"from": gap.start, "to": gap.end}))
            .collect();
    }
    told.to_string()
}
