//! One function of the host, as a request names it: `{"function": "store.put", "key": "a", "value": "b"}`.

use hostd_plugin::{
    Error, clock, config, devices, http_out, jobs, log, notify, power, random, secrets, store,
};
use serde_json::{Value, json};

pub(crate) fn make(asked: &Value) -> Result<Value, Error> {
    let text = |name: &str| asked[name].as_str().unwrap_or_default();
    let device = text("device");
    Ok(match text("function") {
        "clock.now" => json!(clock::now()),
        "clock.monotonic" => json!(clock::monotonic()),
        "random.bytes" => json!(random::bytes(number(asked, "count")).len()),
        "config.get" => config::get::<Value>()?,
        "log.write" => {
            log::info(text("message"));
            Value::Null
        }
        "store.get" => match store::get(text("key"))? {
            Some(entry) => {
                json!({"value": String::from_utf8_lossy(&entry.value), "version": entry.version})
            }
            None => Value::Null,
        },
        "store.put" => json!(store::put(text("key"), &value(asked))?),
        "store.compare-and-set" => {
            let expected = asked["expected"].as_u64();
            json!(store::compare_and_set(
                text("key"),
                expected,
                Some(&value(asked))
            )?)
        }
        "store.delete" => {
            store::delete(text("key"))?;
            Value::Null
        }
        "store.scan" => {
            let found = store::scan(text("from"), text("to"), 1000)?;
            json!(found.into_iter().map(|entry| entry.key).collect::<Vec<_>>())
        }
        "secrets.get" => json!(secrets::get(text("name"))?),
        "devices.list" => {
            let seen = devices::list()?;
            json!(seen.iter().map(|device| device.name()).collect::<Vec<_>>())
        }
        "devices.get" => {
            let seen = devices::get(device)?;
            json!({"id": seen.id(), "state": seen.state(), "json": seen.json()})
        }
        "devices.command" => devices::command(device, &asked["command"], 5_000)?,
        "power.rails" => {
            let rails = power::rails(device)?;
            json!(
                rails
                    .iter()
                    .map(|rail| json!({"id": rail.id, "on": rail.on}))
                    .collect::<Vec<_>>()
            )
        }
        "power.switch" => {
            power::switch(device, 1, asked["on"].as_bool().unwrap_or(false))?;
            Value::Null
        }
        "http-out.send" => {
            let method = asked["method"].as_str().unwrap_or("GET");
            let mut request = http_out::Request::new(method, text("url")).timeout_ms(2_000);
            if !asked["value"].is_null() || !asked["size"].is_null() {
                request = request.body("text/plain", value(asked));
            }
            for (name, header) in asked["headers"].as_object().into_iter().flatten() {
                request = request.header(name, header.as_str().unwrap_or_default());
            }
            let answer = request.send()?;
            json!({"status": answer.status, "headers": answer.headers, "size": answer.body.len()})
        }
        "secret-url" => {
            let url = format!("{}{}", text("url"), secrets::get(text("name"))?);
            json!(http_out::Request::new("GET", &url).send()?.status)
        }
        "notify.send" => {
            notify::send(text("kind"), &asked["json"])?;
            Value::Null
        }
        "jobs.get" => jobs::get(text("job"))?,
        "jobs.log-tail" => json!(jobs::log_tail(text("job"), number(asked, "limit"))?),
        name if name.starts_with("captures.") => crate::captures::make(name, asked)?,
        other => return Err(Error::invalid(format!("there is no function {other}"))),
    })
}

/// A text, or as many bytes as `size` says.
fn value(asked: &Value) -> Vec<u8> {
    match asked["value"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => vec![b'x'; number(asked, "size") as usize],
    }
}

pub(crate) fn number(asked: &Value, name: &str) -> u32 {
    asked[name]
        .as_u64()
        .and_then(|n| u32::try_from(n).ok())
        .unwrap_or_default()
}
