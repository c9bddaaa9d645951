//! `serve --demo`: a bench that a newcomer can use at once: an organisation, a key, and a simulated
//! device whose logic analyzer sees a real I²C bus.

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;

use crate::benches;
use crate::http::people::SIGN_IN;
use crate::services::Services;
use base::config::Config;
use store::devices::DeviceRecord;

mod model;

pub use model::{MODELS, Model};

/// Timeout for the simulated device to come up; it takes milliseconds.
pub const ONLINE_WAIT: Duration = Duration::from_secs(10);

/// What the demo made.
#[derive(Debug)]
pub struct Demo {
    pub api_key: String,
}

/// Restrict the configuration to what a demo may do.
///
/// # Errors
/// The listen address can be reached from outside: the demo prints its key for everybody to see.
pub fn prepare(config: &mut Config) -> anyhow::Result<()> {
    let addresses: Vec<SocketAddr> = config
        .http
        .listen
        .to_socket_addrs()
        .with_context(|| format!("resolve {}", config.http.listen))?
        .collect();
    if addresses.is_empty() || !addresses.iter().all(|a| a.ip().is_loopback()) {
        bail!(
            "serve the demo on {}: it prints its key, so it only listens on a loopback address such as 127.0.0.1:8800",
            config.http.listen
        );
    }
    Ok(())
}

/// Create whatever is missing of the demo organisation, and attach its device. What it is wired to is kept unless
/// somebody has said otherwise.
///
/// # Errors
/// The store fails, or the recording in the binary is damaged.
pub async fn ensure(services: &Services) -> anyhow::Result<Demo> {
    let made = services
        .auth
        .ensure_demo()
        .await
        .context("make the demo organisation")?;
    let model = &MODELS[0];
    let address = format!("sim:{}", model.name);
    services
        .devices
        .attach_transport(&made.org, model.name, &address, model.pod()?)
        .await
        .context("attach the demo device")?;
    let all = services.devices.all();
    let is_it = |device: &&DeviceRecord| device.org == made.org && device.address == address;
    // One that was removed is not there.
    if let Some(device) = all.iter().find(is_it) {
        benches::wire(&services.store, &made.org, &device.id, &model.wiring()).await?;
    }
    Ok(Demo {
        api_key: made.api_key,
    })
}

/// Print what to try next.
pub(crate) fn print_welcome(url: &str, demo: &Demo, services: &Services) {
    let devices = services.devices.all();
    let device = devices.first().map_or("", |d| d.id.as_str());
    let key = &demo.api_key;
    print(&format!(
        "\nhostd is serving a demo bench at {url}\n\n  \
         export HOSTD_URL={url}\n  \
         export HOSTD_KEY={key}\n  \
         export HOSTD_DEVICE={device}\n\n\
         List the bench's devices:\n\n  \
         curl -s -H \"Authorization: ApiKey $HOSTD_KEY\" $HOSTD_URL/api/bench/devices\n\n\
         Capture one second of an I2C bus, then decode it:\n\n  \
         curl -s -H \"Authorization: ApiKey $HOSTD_KEY\" -H 'Content-Type: application/json' \\\n    \
         -d '{{\"device_id\":\"'$HOSTD_DEVICE'\",\"samples\":1000000,\"sample_rate_mhz\":1,\"scl\":\"LA1\",\"sda\":\"LA2\",\"voltage_mv\":3300}}' \\\n    \
         $HOSTD_URL/api/analyzer/captures/start\n  \
         curl -s -H \"Authorization: ApiKey $HOSTD_KEY\" \"$HOSTD_URL/api/capture/<capture_id>/decode?protocol=i2c&scl=LA1&sda=LA2&format=sigrok\"\n"
    ));
}

/// Print the one-time link of a first start. The code is behind a `#`, which browsers send to no server and no log has.
pub(crate) fn print_sign_in(url: &str, code: &str) {
    print(&format!(
        "Open this link within 15 minutes to sign in as owner, once:\n\n  \
         {url}{SIGN_IN}#code={code}\n\n\
         or sign in without a browser:\n\n  \
         curl -s -H 'Content-Type: application/json' -d '{{\"code\":\"{code}\"}}' {url}/api/auth/session\n"
    ));
}

/// Write `{"url","api_key","devices":[{"id","name"}]}` in one step, so that a reader never sees
/// half of it.
///
/// # Errors
/// The file cannot be written.
pub(crate) async fn write_ready_file(
    path: &Path,
    url: &str,
    demo: Option<&Demo>,
    services: &Services,
) -> anyhow::Result<()> {
    let devices: Vec<_> = services
        .devices
        .all()
        .iter()
        .map(|d| json!({"id": d.id, "name": d.name}))
        .collect();
    let content = json!({
        "url": url,
        "api_key": demo.map(|d| d.api_key.as_str()),
        "devices": devices,
    });
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let mut part = path.clone().into_os_string();
        part.push(".part");
        write_private(Path::new(&part), &format!("{content}\n"))
            .and_then(|()| std::fs::rename(&part, &path))
            .with_context(|| format!("in {}", folder.unwrap_or(Path::new(".")).display()))
    })
    .await
    .context("join the writer")?
}

/// The file holds a key, so only its owner may read it.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = std::fs::File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Ignore a closed standard output: it is no reason to stop serving.
fn print(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
