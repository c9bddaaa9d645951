//! Events and timers: kept for the test to read, after what the configuration says in `greeting` was done.

use hostd_plugin::{Error, Event, Timer, clock, config, http_out, store};
use serde_json::{Value, json};

use crate::calls;

pub(crate) fn on_event(event: &Event) -> Result<(), Error> {
    let told = json!({"id": event.id, "kind": event.kind, "at": event.at_ms, "org": event.org,
        "subject": event.subject, "json": event.json});
    behave(&event.id)?;
    keep(&format!("heard/{}", event.id), &told)
}

pub(crate) fn on_timer(timer: &Timer) -> Result<(), Error> {
    behave("timer")?;
    let told = json!({"id": timer.id, "org": timer.org});
    keep(&format!("timer/{}", clock::now()), &told)
}

/// `refuse`, `refuse-once`, `loop`, `wait:<url>` for an answer that does not come, `call:{"function": …}`.
fn behave(id: &str) -> Result<(), Error> {
    let settings: Value = config::get()?;
    let greeting = settings["greeting"].as_str().unwrap_or_default();
    let (verb, rest) = greeting.split_once(':').unwrap_or((greeting, ""));
    match verb {
        "loop" => loop {
            std::hint::spin_loop();
        },
        "refuse" | "refuse-once" => {
            let key = format!("tries/{id}");
            let tries = store::get(&key)?.map_or(0, |entry| entry.value.len());
            store::put(&key, &vec![b'x'; tries + 1])?;
            if verb == "refuse" || tries == 0 {
                return Err(Error::new("refused", "the test says so"));
            }
        }
        "wait" => {
            // Whatever it comes to.
            let _ = http_out::Request::new("GET", rest)
                .timeout_ms(30_000)
                .send();
        }
        "call" => {
            let asked: Value = serde_json::from_str(rest).unwrap_or_default();
            let result = match calls::make(&asked) {
                Ok(value) => json!({"ok": value}),
                Err(error) => json!({"code": error.code, "message": error.message}),
            };
            keep("result", &result)?;
        }
        _ => {}
    }
    Ok(())
}

fn keep(key: &str, value: &Value) -> Result<(), Error> {
    store::put(key, value.to_string().as_bytes()).map(|_| ())
}
