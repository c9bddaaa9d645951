//! The members that all start bodies have, and shapes that several use.

use guest::captures::{Edge, Order, Plan, Trigger};
use guest::{ApiError, Fields, Request, Shape, choice, integer, number, text};
use schemars::{Schema, json_schema};
use serde_json::Value;

/// Longest device id, in characters.
const DEVICE_CHARS_MAX: usize = 64;

/// Logic-analyzer channels of a pod.
const LOGIC_CHANNELS: std::ops::RangeInclusive<u8> = 1..=14;

/// What their names begin with; the number follows.
const LOGIC_PREFIX: &str = "LA";

/// Most samples that make sense as a number. The device's own bound is the host's to check and tell.
pub(crate) const SAMPLES_MAX: u64 = 1 << 40;

/// Fastest rate that makes sense as a number, in MHz; as above.
const RATE_MHZ_MAX: f64 = 1000.0;

/// Wait for the trigger when the caller does not say; the pod's own default.
const TRIGGER_TIMEOUT_MS_DEFAULT: u32 = 10_000;

/// Longest wait for the trigger.
const TRIGGER_TIMEOUT_MS_MAX: u32 = 600_000;

/// Levels of the logic analyzer's input bank, in millivolts.
const VOLTAGES_MV: [u32; 2] = [1800, 3300];

const EDGES: &[(&str, Edge)] = &[
    ("rising", Edge::Rising),
    ("falling", Edge::Falling),
    ("high", Edge::High),
    ("low", Edge::Low),
];

/// Read a start body: `plan` reads the members of its kind, the rest is read here.
pub(crate) fn parse(request: &Request, plan: fn(&mut Fields) -> Plan) -> Result<Order, ApiError> {
    let mut body = request.json()?;
    let order = Order {
        device: body.required("device_id", text(1..=DEVICE_CHARS_MAX)),
        name: body.optional("name", name()),
        trigger: body.nested("trigger", |trigger| Trigger {
            channel: trigger.required("channel", logic_channel()),
            edge: trigger.or("edge", choice(EDGES), Edge::Rising),
            timeout_ms: trigger.or(
                "timeout_ms",
                integer(1..=TRIGGER_TIMEOUT_MS_MAX),
                TRIGGER_TIMEOUT_MS_DEFAULT,
            ),
        }),
        plan: plan(&mut body),
    };
    body.finish()?;
    Ok(order)
}

/// The name of a capture. How long it may be is the host's to check and tell.
pub(crate) fn name() -> impl Shape<Value = String> {
    text(0..=usize::MAX)
}

/// A logic-analyzer channel: `LA3`, or its number.
pub(crate) fn logic_channel() -> impl Shape<Value = u8> {
    LogicChannel
}

struct LogicChannel;

impl Shape for LogicChannel {
    type Value = u8;

    fn read(&self, value: &Value) -> Result<u8, String> {
        match value {
            Value::String(text) => self.read_text(text),
            number => integer(LOGIC_CHANNELS).read(number).map_err(|_| rule()),
        }
    }

    fn read_text(&self, text: &str) -> Result<u8, String> {
        let number = text.strip_prefix(LOGIC_PREFIX).unwrap_or(text);
        // A number has one way to be written.
        let plain = number.starts_with(|first| matches!(first, '1'..='9'));
        let read = plain.then(|| integer(LOGIC_CHANNELS).read_text(number));
        read.and_then(Result::ok).ok_or_else(rule)
    }

    fn schema(&self) -> Schema {
        let (first, last) = LOGIC_CHANNELS.into_inner();
        let names: Vec<String> = LOGIC_CHANNELS
            .map(|n| format!("{LOGIC_PREFIX}{n}"))
            .collect();
        json_schema!({"anyOf": [
            {"type": "integer", "minimum": first, "maximum": last},
            {"type": "string", "enum": names}
        ]})
    }

    /// No channel, so that it equals none that could be read.
    fn placeholder(&self) -> u8 {
        0
    }
}

fn rule() -> String {
    let (first, last) = LOGIC_CHANNELS.into_inner();
    format!("must be one of {LOGIC_PREFIX}{first} to {LOGIC_PREFIX}{last}, or the number alone")
}

/// A count of samples.
pub(crate) fn samples() -> impl Shape<Value = u64> {
    integer(1..=SAMPLES_MAX)
}

/// A sample rate in MHz.
pub(crate) fn rate_mhz() -> impl Shape<Value = f64> {
    number(0.0, RATE_MHZ_MAX)
}

/// Read the level of the input bank that is to be selected first.
pub(crate) fn voltage_mv(body: &mut Fields) -> Option<u32> {
    let [low, high] = VOLTAGES_MV;
    let voltage = body.optional("voltage_mv", integer(0..=u32::MAX))?;
    if !VOLTAGES_MV.contains(&voltage) {
        body.problem("voltage_mv", &format!("must be {low} or {high}"));
    }
    Some(voltage)
}

#[cfg(test)]
mod tests {
    use guest::captures::{Edge, Order, Plan, Scope};
    use guest::testing::{mutations, request};
    use guest::{ApiError, Request};

    fn parse(request: &Request) -> Result<Order, ApiError> {
        super::parse(request, |body| {
            super::voltage_mv(body);
            Plan::Scope(Scope {
                samples: body.or("samples", super::samples(), 1),
                sample_rate_mhz: body.or("sample_rate_mhz", super::rate_mhz(), 1.0),
                source: None,
            })
        })
    }

    #[test]
    fn shared_members() {
        let order = parse(&request(r#"{"device_id":"d"}"#)).unwrap();
        assert_eq!(order.device, "d");
        assert!(order.name.is_none() && order.trigger.is_none());
        let order = parse(&request(
            r#"{"device_id":"d","name":"n","voltage_mv":1800,
                "trigger":{"channel":14,"edge":"low","timeout_ms":600000}}"#,
        ))
        .unwrap();
        let trigger = order.trigger.unwrap();
        assert_eq!((trigger.channel, trigger.edge), (14, Edge::Low));
        assert_eq!(trigger.timeout_ms, 600_000);
        let order = parse(&request(r#"{"device_id":"d","trigger":{"channel":1}}"#)).unwrap();
        let trigger = order.trigger.unwrap();
        assert_eq!((trigger.edge, trigger.timeout_ms), (Edge::Rising, 10_000));
    }

    #[test]
    fn channels_go_by_name_or_number() {
        let channel = |text: &str| {
            let body = format!(r#"{{"device_id":"d","trigger":{{"channel":{text}}}}}"#);
            let order = parse(&request(&body));
            order.map(|order| order.trigger.unwrap().channel)
        };
        for (text, number) in [("3", 3), ("\"LA3\"", 3), ("\"14\"", 14), ("\"LA14\"", 14)] {
            assert_eq!(channel(text).unwrap(), number, "{text}");
        }
        for text in [
            "0", "15", "\"LA0\"", "\"LA03\"", "\"la3\"", "\"LA\"", "\"\"", "null", "\"+3\"",
        ] {
            let error = channel(text).unwrap_err();
            assert_eq!(error.fields[0].field, "trigger.channel", "{text}");
            assert!(
                error.message.contains("LA1 to LA14") || text == "null",
                "{}",
                error.message
            );
        }
    }

    #[test]
    fn problems_are_told_by_path() {
        for (members, field) in [
            (r#""device_id":null"#, "device_id"),
            (r#""device_id":"d","trigger":{}"#, "trigger.channel"),
            (
                r#""device_id":"d","trigger":{"channel":15}"#,
                "trigger.channel",
            ),
            (
                r#""device_id":"d","trigger":{"channel":0}"#,
                "trigger.channel",
            ),
            (
                r#""device_id":"d","trigger":{"channel":1,"edge":"up"}"#,
                "trigger.edge",
            ),
            (
                r#""device_id":"d","trigger":{"channel":1,"timeout_ms":600001}"#,
                "trigger.timeout_ms",
            ),
            (
                r#""device_id":"d","trigger":{"channel":1,"level":1}"#,
                "trigger.level",
            ),
            (r#""device_id":"d","voltage_mv":2500"#, "voltage_mv"),
            (r#""device_id":"d","samples":0"#, "samples"),
            (r#""device_id":"d","samples":-5"#, "samples"),
            (r#""device_id":"d","sample_rate_mhz":0"#, "sample_rate_mhz"),
            (
                r#""device_id":"d","sample_rate_mhz":"fast""#,
                "sample_rate_mhz",
            ),
            (r#""device_id":"d","name":"a\nb""#, "name"),
            (r#""device_id":"d","device":"d""#, "device"),
        ] {
            let error = parse(&request(&format!("{{{members}}}"))).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
            assert_eq!(error.fields.len(), 1, "{members}");
        }
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"device_id":"d","samples":256,"sample_rate_mhz":1.5,"voltage_mv":3300,
            "trigger":{"channel":3,"edge":"falling","timeout_ms":50}}"#;
        mutations(0x0DE5, valid, 10_000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(order) = parse(&request) {
                assert!(!order.device.is_empty());
                let Plan::Scope(scope) = order.plan else {
                    panic!("another plan than was read");
                };
                assert!(scope.samples > 0 && scope.sample_rate_mhz > 0.0);
            }
        });
    }
}
