//! The member `fault` of a replay.

use guest::codes::SAMPLES_MAX;
use guest::replay::{Fault, FaultKind};
use guest::{Shape, integer, members, words};
use schemars::{Schema, json_schema};
use serde_json::Value;

words! {
    const KINDS: FaultKind = { Flatline = "flatline", Spike = "spike", Stuck = "stuck" };
}

members! {
    #[derive(Debug)]
    pub(crate) struct Wanted {
        r#type: FaultKind = required(KINDS.shape()),
        /// Index among the codes that play.
        start: u64 = or(integer(0..=SAMPLES_MAX), 0),
        /// How many codes; 0 or less: to the end.
        width: Option<u64> = or(Width, None),
        /// 16-bit code; without it 0 for `flatline`, else 65535.
        level: Option<u16> = optional(integer(0..=u16::MAX)),
    }
}

impl From<Wanted> for Fault {
    fn from(wanted: Wanted) -> Self {
        Self {
            kind: wanted.r#type,
            start: wanted.start,
            width: wanted.width,
            level: wanted.level,
        }
    }
}

/// A count of codes; 0 or less counts as none, which means up to the end.
struct Width;

impl Shape for Width {
    type Value = Option<u64>;

    fn read(&self, value: &Value) -> Result<Option<u64>, String> {
        if value.as_i64().is_some_and(|width| width <= 0) {
            return Ok(None);
        }
        integer(0..=SAMPLES_MAX).read(value).map(Some)
    }

    fn schema(&self) -> Schema {
        json_schema!({"type": "integer", "maximum": SAMPLES_MAX})
    }

    fn written(&self, value: &Option<u64>) -> Option<Value> {
        Some(value.unwrap_or(0).into())
    }
}

#[cfg(test)]
mod tests {
    use guest::replay::{Fault, FaultKind};
    use guest::{Fields, members, nested};

    use super::Wanted;

    members! {
        struct Body {
            fault: Option<Wanted> = optional(nested()),
        }
    }

    fn read(body: &str) -> Result<Option<Fault>, String> {
        let body = Fields::parse(body.as_bytes()).unwrap().read::<Body>();
        let body = body.map_err(|error| error.fields[0].field.clone())?;
        Ok(body.fault.map(Fault::from))
    }

    #[test]
    fn widths_of_nothing_go_to_the_end() {
        assert!(read("{}").unwrap().is_none());
        for width in ["0", "-3", "null"] {
            let body = format!(r#"{{"fault":{{"type":"spike","width":{width}}}}}"#);
            let fault = read(&body).unwrap().unwrap();
            assert_eq!((fault.start, fault.width, fault.level), (0, None, None));
        }
        let fault = read(r#"{"fault":{"type":"stuck","start":5,"width":7,"level":65535}}"#);
        let fault = fault.unwrap().unwrap();
        assert_eq!((fault.kind, fault.start), (FaultKind::Stuck, 5));
        assert_eq!((fault.width, fault.level), (Some(7), Some(65_535)));
    }

    #[test]
    fn problems_are_told_by_path() {
        for (fault, field) in [
            ("{}", "fault.type"),
            (r#"{"type":"noise"}"#, "fault.type"),
            (r#"{"type":"spike","start":-1}"#, "fault.start"),
            (r#"{"type":"spike","width":"all"}"#, "fault.width"),
            (r#"{"type":"spike","level":65536}"#, "fault.level"),
            (r#"{"type":"spike","at":1}"#, "fault.at"),
        ] {
            assert_eq!(read(&format!(r#"{{"fault":{fault}}}"#)).unwrap_err(), field);
        }
    }
}
