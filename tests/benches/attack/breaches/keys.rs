//! What the key of a job does besides driving its device: to the device, to what others recorded on it, and elsewhere.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::breach::{Breach, Ground, Length, Seen, get, ok};

/// Asks the server through the job's relay, and says what it is answered; then the key backwards, since the log has no
/// secrets, and waits for who uses it elsewhere.
const SCRIPT: &str = r#"cat > ask.bash << 'END'
exec 3<> /dev/tcp/127.0.0.1/8099
printf '%s /api%s HTTP/1.1\r\nhost: bench\r\nauthorization: ApiKey %s\r\ncontent-type: application/json\r\ncontent-length: %s\r\nconnection: close\r\n\r\n%s' "$1" "$2" "$BENCHPOD_API_KEY" "${#3}" "$3" >&3
printf 'answered %s %s: %s\n' "$1" "$2" "$(head -n 1 <&3)"
END
bash ask.bash GET /bench/devices ''
bash ask.bash PATCH /bench/devices/DEVICE '{"name":"renamed"}'
bash ask.bash PUT /bench/devices/DEVICE/wiring '{}'
bash ask.bash DELETE /capture/CAPTURE ''
bash ask.bash DELETE /bench/devices/DEVICE ''
bash ask.bash POST /keys '{"name":"more","scopes":["bench:admin"]}'
bash ask.bash POST /jobs/submit '{"definition":"version: 1"}'
bash ask.bash PUT /secrets/STOLEN '{"value":"a long enough value"}'
bash ask.bash GET /plugins ''
printf 'backwards '; printf '%s\n' "$BENCHPOD_API_KEY" | rev
until test -e go; do sleep 0.1; done"#;

/// A job that asks for more than its device.
pub(crate) struct LeastPrivilege;

impl Breach for LeastPrivilege {
    fn name(&self) -> &'static str {
        "job-key"
    }

    fn does(&self) -> &'static str {
        "a job's key renames its device, removes captures of others, makes keys, and is used elsewhere"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        // Both are of one organisation: nothing but the job's key is in the way.
        let (owner, device) = (&ground.honest, &ground.host.site.device);
        let order = json!({"device_id": device, "samples": 1000, "sample_rate_mhz": 1, "voltage_mv": 3300, "name": "evidence"});
        let started = ok(owner.post("/api/la/captures/start", &order)?, 202)?;
        let capture = started["capture_id"].as_str().context("a capture")?;
        let path = format!("/api/capture/{capture}?frames=none");
        ground.until(
            "the capture",
            || get(owner, &path),
            |head| head["status"] == "done",
        )?;
        let record = || Ok(about(&get(owner, &format!("/api/bench/devices/{device}"))?));
        let before: Result<Value> = record();
        let before = before?;

        let script = SCRIPT.replace("DEVICE", device).replace("CAPTURE", capture);
        let mut text = "version: 1\nbenches:\n  - id: t\n    device: { name: demo }\n    steps:\n      - run: |\n".to_owned();
        for line in script.lines() {
            text += &format!("          {line}\n");
        }
        let id = ground.submit(owner, &text)?;
        let log = || ground.log(owner, &id);
        let log = ground.until("the key", log, |log| {
            log.split_once("backwards ")
                .is_some_and(|(_, key)| key.contains('\n'))
        })?;
        let answers: Vec<&str> = log
            .lines()
            .filter(|line| line.starts_with("answered "))
            .collect();
        for answer in &answers {
            seen.note(*answer);
        }
        seen.expect(
            answers.len() == 9,
            format!("{} of 9 questions were asked", answers.len()),
        );
        let may = |answer: &&&str| answer.contains(" 2");
        for answer in answers.iter().skip(1).filter(may) {
            seen.fault(format!("the key may: {answer}"));
        }
        let (_, backwards) = log.split_once("backwards ").context("a key")?;
        let key: String = backwards
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .rev()
            .collect();
        let elsewhere = ground
            .host
            .client(&format!("ApiKey {key}"))
            .get("/api/bench/devices")?;
        seen.expect(
            elsewhere.status / 100 == 4,
            format!("the key is good elsewhere: {}", elsewhere.status),
        );
        owner.post(&format!("/api/jobs/{id}/cancel"), &json!({}))?;
        ground.ended(owner, &id)?;
        seen.expect(record()? == before, "the device is not what it was");
        let kept = owner.get(&path)?.status;
        seen.expect(
            kept == 200,
            format!("the capture of somebody else is gone: {kept}"),
        );
        Ok(())
    }
}

/// What lasts of a device.
fn about(record: &Value) -> Value {
    json!({"name": record["name"], "wiring": record["wiring"]})
}
