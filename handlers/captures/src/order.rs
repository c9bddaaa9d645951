//! The members that all start bodies have, and shapes that several use.

use guest::captures::{Order, Plan, Trigger};
use guest::codes::SAMPLES_MAX;
use guest::{Shape, id, integer, list, members, number, text};
use schemars::{Schema, json_schema};
use serde_json::Value;

use crate::trigger;

/// Longest name of a capture, in characters.
const NAME_CHARS_MAX: usize = 128;

/// Logic-analyzer channels of a pod.
pub(crate) const LOGIC_CHANNELS: std::ops::RangeInclusive<u8> = 1..=14;

/// What their names begin with; the number follows.
const LOGIC_PREFIX: &str = "LA";

/// Fastest rate that makes sense as a number, in MHz. The host checks and reports the device's own bound.
const RATE_MHZ_MAX: f64 = 1000.0;

/// Fastest rate of the ADC that may be asked for, in MHz.
const ADC_RATE_MHZ_MAX: f64 = 1.0;

/// Fastest rate of the logic analyzer that may be asked for, in MHz.
const LOGIC_RATE_MHZ_MAX: f64 = 24.0;

/// Levels of the logic analyzer's input bank, in millivolts.
const VOLTAGES_MV: &[u32] = &[1800, 3300];

members! {
    /// What every capture is ordered with.
    pub(crate) struct Shared {
        /// Device id, from the device list.
        device_id: String = required(id()),
        /// Free text for lists.
        name: Option<String> = optional(name()),
        /// Wait for this condition; the instant it holds becomes sample `pre_samples`.
        trigger: Option<Trigger> = optional(trigger::trigger()),
        /// How many of the samples come before the trigger, fewer than there are: of the logic analyzer, or of the ADC
        /// alone. Devices with `capture_pre_samples` keep them; others refuse (400 `not_capable`). If the trigger comes
        /// sooner, the capture has so many fewer samples.
        pre_samples: u64 = or(pre_samples(), 0),
    }
}

impl Shared {
    /// The order for this plan.
    pub(crate) fn order(self, plan: Plan) -> Order {
        Order {
            device: self.device_id,
            name: self.name,
            trigger: self.trigger,
            pre_samples: self.pre_samples,
            plan,
        }
    }
}

/// The name of a capture.
pub(crate) fn name() -> impl Shape<Value = String> {
    HostChecked {
        read: text(0..=usize::MAX),
        told: text(1..=NAME_CHARS_MAX),
    }
}

/// A count of samples.
pub(crate) fn samples() -> impl Shape<Value = u64> {
    integer(1..=SAMPLES_MAX)
}

/// Samples before the trigger; the host knows how many there are in all.
fn pre_samples() -> impl Shape<Value = u64> {
    integer(0..=SAMPLES_MAX)
}

/// A sample rate of the ADC, in MHz.
pub(crate) fn adc_rate_mhz() -> impl Shape<Value = f64> {
    rate_mhz(ADC_RATE_MHZ_MAX)
}

/// A sample rate of the logic analyzer, in MHz.
pub(crate) fn logic_rate_mhz() -> impl Shape<Value = f64> {
    rate_mhz(LOGIC_RATE_MHZ_MAX)
}

fn rate_mhz(most: f64) -> impl Shape<Value = f64> {
    HostChecked {
        read: number(0.0, RATE_MHZ_MAX),
        told: number(0.0, most),
    }
}

/// A member that the host checks, since it also knows the device: more is `read` here than callers
/// are `told`.
pub(crate) struct HostChecked<R, T> {
    pub(crate) read: R,
    pub(crate) told: T,
}

impl<R: Shape, T: Shape> Shape for HostChecked<R, T> {
    type Value = R::Value;

    fn read(&self, value: &Value) -> Result<R::Value, String> {
        self.read.read(value)
    }

    fn read_text(&self, text: &str) -> Result<R::Value, String> {
        self.read.read_text(text)
    }

    fn schema(&self) -> Schema {
        self.told.schema()
    }

    fn written(&self, value: &R::Value) -> Option<Value> {
        self.read.written(value)
    }
}

/// The level of the input bank that is to be selected first, in millivolts.
pub(crate) fn voltage_mv() -> impl Shape<Value = u32> {
    OneOf(VOLTAGES_MV)
}

/// One of a few numbers.
pub(crate) struct OneOf<T: 'static>(pub(crate) &'static [T]);

impl<T: Copy + Into<u64>> Shape for OneOf<T> {
    type Value = T;

    fn read(&self, value: &Value) -> Result<T, String> {
        let number = integer(0..=u64::MAX).read(value).ok();
        let known = self.0.iter().find(|known| Some((**known).into()) == number);
        known.copied().ok_or_else(|| {
            let known = self.0.iter().map(|&known| known.into().to_string());
            format!("must be {}", known.collect::<Vec<_>>().join(" or "))
        })
    }

    fn schema(&self) -> Schema {
        let known: Vec<u64> = self.0.iter().map(|&known| known.into()).collect();
        json_schema!({"type": "integer", "enum": known})
    }

    fn written(&self, value: &T) -> Option<Value> {
        let number: u64 = (*value).into();
        Some(number.into())
    }
}

/// Several logic-analyzer channels, each of them once.
pub(crate) fn logic_channels() -> impl Shape<Value = Vec<u8>> {
    LogicChannels
}

struct LogicChannels;

impl LogicChannels {
    fn all() -> impl Shape<Value = Vec<u8>> {
        list(LogicChannel, 1..=LOGIC_CHANNELS.count())
    }
}

impl Shape for LogicChannels {
    type Value = Vec<u8>;

    fn read(&self, value: &Value) -> Result<Vec<u8>, String> {
        let channels = Self::all().read(value)?;
        let mask = channels.iter().fold(0_u16, |mask, n| mask | 1 << n);
        if mask.count_ones() as usize == channels.len() {
            Ok(channels)
        } else {
            Err("must not repeat a channel".to_owned())
        }
    }

    fn schema(&self) -> Schema {
        let mut schema = Self::all().schema();
        schema.insert("uniqueItems".to_owned(), true.into());
        schema
    }
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
        // A number can be written in one way only.
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
}

fn rule() -> String {
    let (first, last) = LOGIC_CHANNELS.into_inner();
    format!("must be one of {LOGIC_PREFIX}{first} to {LOGIC_PREFIX}{last}, or the number alone")
}

#[cfg(test)]
mod tests {
    use guest::captures::{Condition, Edge, EdgeOf, Order, Plan, Scope, Trigger};
    use guest::testing::{mutations, request};
    use guest::{ApiError, Request, members};

    members! {
        struct Ask {
            shared: super::Shared = inline(),
            samples: u64 = or(super::samples(), 1),
            sample_rate_mhz: f64 = or(super::adc_rate_mhz(), 1.0),
            voltage_mv: Option<u32> = optional(super::voltage_mv()),
        }
    }

    fn parse(request: &Request) -> Result<Order, ApiError> {
        let ask: Ask = request.json()?.read()?;
        Ok(ask.shared.order(Plan::Scope(Scope {
            samples: ask.samples,
            sample_rate_mhz: ask.sample_rate_mhz,
            source: None,
        })))
    }

    fn edge(trigger: &Trigger) -> EdgeOf {
        match trigger.condition {
            Condition::Edge(edge) => edge,
            _ => panic!("an edge was asked for"),
        }
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
        assert_eq!(order.pre_samples, 0);
        let trigger = order.trigger.unwrap();
        let edge = edge(&trigger);
        assert_eq!((edge.channel, edge.edge), (14, Edge::Low));
        assert_eq!(trigger.timeout_ms, 600_000);
        let order = parse(&request(
            r#"{"device_id":"d","trigger":{"channel":1},"pre_samples":7}"#,
        ))
        .unwrap();
        assert_eq!(order.pre_samples, 7);
    }

    #[test]
    fn channels_go_by_name_or_number() {
        let channel = |text: &str| {
            let body = format!(r#"{{"device_id":"d","trigger":{{"channel":{text}}}}}"#);
            let order = parse(&request(&body));
            order.map(|order| edge(&order.trigger.unwrap()).channel)
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
            (r#""device_id":"d","pre_samples":-1"#, "pre_samples"),
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
