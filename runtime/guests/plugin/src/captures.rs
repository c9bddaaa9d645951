//! Functions about captures, as a request names them.

use hostd_plugin::captures::{self, Decoding};
use hostd_plugin::{Error, captures::Capture};
use serde_json::{Value, json};

use crate::calls::number;

pub(crate) fn make(function: &str, asked: &Value) -> Result<Value, Error> {
    let id = asked["capture"].as_str().unwrap_or_default();
    let channel = asked["channel"].as_str().unwrap_or_default();
    let (start, limit) = (asked["start"].as_u64().unwrap_or(0), number(asked, "limit"));
    Ok(match function {
        "captures.recent" => json!(captures::recent(asked["device"].as_str(), limit)?),
        "captures.open" => shown(&captures::open(id)?),
        "captures.hoard" => {
            let held: Result<Vec<_>, _> = (0..limit).map(|_| captures::open(id)).collect();
            json!(held?.len())
        }
        "captures.reopen" => {
            for _ in 0..limit {
                captures::open(id)?;
            }
            json!(limit)
        }
        "captures.changes" => {
            let channels = asked["channels"].as_array().map_or(&[][..], Vec::as_slice);
            let channels: Vec<&str> = channels.iter().filter_map(Value::as_str).collect();
            let changes = captures::open(id)?.changes(&channels, start, limit)?;
            let seen: Vec<_> = changes.iter_from(start).collect();
            json!({"seen": seen, "next": changes.next})
        }
        "captures.values" => json!(captures::open(id)?.values(channel, start, limit)?),
        "captures.overview" => json!(captures::open(id)?.overview(channel, limit)?),
        "captures.decode" => decode(id, asked)?,
        other => return Err(Error::invalid(format!("there is no function {other}"))),
    })
}

fn shown(capture: &Capture) -> Value {
    let channels = capture.channels().into_iter();
    let names: Vec<_> = channels.map(|channel| channel.name).collect();
    json!({
        "id": capture.id(),
        "json": capture.json(),
        "channels": names,
        "roles": capture.roles(),
    })
}

fn decode(id: &str, asked: &Value) -> Result<Value, Error> {
    let mut order = Decoding::new(asked["decoder"].as_str().unwrap_or_default());
    let channels = asked["roles"].as_object().into_iter().flatten();
    order.channels = channels
        .filter_map(|(role, name)| Some((role.clone(), name.as_str()?.to_owned())))
        .collect();
    let classes = asked["classes"].as_array().into_iter().flatten();
    order.classes = classes
        .filter_map(|id| Some(id.as_str()?.to_owned()))
        .collect();
    order.skip = asked["skip"].as_u64().unwrap_or(0);
    order.limit = number(asked, "limit");
    let (found, is_more) = captures::decode(id, &order)?;
    let found: Vec<Value> = found
        .into_iter()
        .map(|one| {
            json!({
                "start": one.start,
                "end": one.end,
                "class": one.class,
                "text": one.text,
                "numbers": one.numbers,
            })
        })
        .collect();
    Ok(json!({"found": found, "more": is_more}))
}
