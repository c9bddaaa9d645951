//! Whether a package would load, for authors: without a server, and without a right.

use std::path::Path;

use anyhow::{Context, bail};
use plugins::interface::Interface;
use plugins::manifest::Manifest;
use plugins::package::Package;
use runtime::{Engine, EngineOptions};

use super::asked::PREFIX;
use super::contract;
use super::decoding::DECODING;
use super::events::EVENTS;
use super::guest::HTTP;
use super::proxy::INCOMING;
use super::reports::REPORTS;

/// Package of the published contract, as names of imports begin.
const PACKAGE: &str = "hostd:plugin/";

/// Packages whose imports are there, or are refused when they are called.
const VIRTUAL: &str = "wasi:";

/// The one that sends requests.
const OUTGOING: &str = "wasi:http/outgoing-handler@";

/// A package from a file that `hostd plugin pack` made, or from a folder.
///
/// # Errors
/// It is none.
pub fn open(path: &Path) -> anyhow::Result<Package> {
    let read = || {
        if path.is_dir() {
            return Ok(Package::from_folder(path)?);
        }
        Ok::<_, anyhow::Error>(Package::unpack(std::fs::File::open(path)?)?)
    };
    read().with_context(|| format!("read {}", path.display()))
}

/// Lines that say what a package is. Compiles it in this process.
///
/// # Errors
/// Why it would not load.
pub fn report(package: &Package) -> anyhow::Result<Vec<String>> {
    let manifest = package.manifest();
    let engine = Engine::new(&EngineOptions {
        instances_max: 1,
        ..EngineOptions::default()
    })?;
    let engine = engine.plugins(&EngineOptions::plugins(1))?;
    let component = engine
        .compile(package.component())
        .context("compile the component")?;
    let kind = component.component_type();
    let names = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>();
    let imports = names(
        &mut kind
            .imports(component.engine())
            .map(|(name, _)| name.to_owned()),
    );
    let exports = names(
        &mut kind
            .exports(component.engine())
            .map(|(name, _)| name.to_owned()),
    );
    let is_called = |name: &String| {
        [HTTP, DECODING, EVENTS, REPORTS, INCOMING]
            .iter()
            .any(|known| name.starts_with(known))
    };
    if !exports.iter().any(is_called) {
        bail!(
            "find anything to call: the component exports nothing of {PACKAGE}* and no {INCOMING}; it exports {exports:?}"
        );
    }
    if !contract::API.serves(manifest.api) {
        bail!(
            "serve it: it needs hostd:plugin {}, and this hostd offers {}; get a newer hostd",
            manifest.api,
            contract::VERSION
        );
    }
    let mut lines = vec![format!(
        "{} {}: the manifest is well-formed",
        manifest.id, manifest.version
    )];
    for import in &imports {
        lines.push(format!("imports {import}: {}", judged(import, manifest)?));
    }
    let has_proxy = exports.iter().any(|export| export.starts_with(INCOMING));
    if manifest.mount.is_some() && !has_proxy {
        bail!("mount it: the manifest has [proxy], and the component exports no {INCOMING}");
    }
    for export in &exports {
        let told = match export.starts_with(INCOMING) {
            true => format!(": {}", mounted(manifest)),
            false => String::new(),
        };
        lines.push(format!("exports {export}{told}"));
    }
    lines.push(format!(
        "{} bytes of component compile",
        package.component().len()
    ));
    Ok(lines)
}

/// Who may send which requests to a `wasi:http/proxy` component.
fn mounted(manifest: &Manifest) -> String {
    let mount = manifest.mount.clone().unwrap_or_default();
    let methods: Vec<&str> = mount.methods.iter().map(String::as_str).collect();
    let who = match (&mount.scope, mount.public) {
        (_, true) => "anybody, once an operator has granted public".to_owned(),
        (Some(scope), _) => format!("callers with the scope {scope}"),
        (None, _) => "any credential of an organisation in which it was approved".to_owned(),
    };
    let (id, methods) = (&manifest.id, methods.join(", "));
    format!("{methods} below {PREFIX}{id}, for {who}")
}

/// What an import comes to.
fn judged(import: &str, manifest: &Manifest) -> anyhow::Result<String> {
    let Some(interface) = import.strip_prefix(PACKAGE) else {
        if import.starts_with(OUTGOING) {
            let wanted = manifest.wants.interfaces.contains(&Interface::HttpOut);
            let told = match wanted {
                true => "an operator must grant http-out and each pattern of URLs",
                false => "refused when it is called, since wants.http names no URL",
            };
            return Ok(told.to_owned());
        }
        if import.starts_with(VIRTUAL) {
            return Ok("clocks, random numbers, lines for the log and types of HTTP are there; the rest is refused when it is called".to_owned());
        }
        bail!("import {import}: no hostd has it; plugins import {PACKAGE}* and {VIRTUAL}*");
    };
    let (name, version) = interface
        .split_once('@')
        .unwrap_or((interface, contract::VERSION));
    let file = format!("{name}.wit");
    let is_known = contract::FILES.iter().any(|(known, _)| *known == file);
    if !is_known || minor(version) > minor(contract::VERSION) {
        bail!(
            "import {import}: this hostd offers hostd:plugin@{}; get a newer one",
            contract::VERSION
        );
    }
    Ok(match name.parse::<Interface>() {
        Ok(interface) if interface.is_free() => "everybody has it".to_owned(),
        Ok(interface) if manifest.wants.interfaces.contains(&interface) => {
            "an operator must grant it".to_owned()
        }
        Ok(_) => format!(
            "refused when it is called, since wants.interfaces of {} does not name it",
            plugins::manifest::FILE
        ),
        Err(_) => "types".to_owned(),
    })
}

/// The second number of a version; none sorts first.
fn minor(version: &str) -> Option<u32> {
    version.split('.').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let text = "[plugin]\nid = \"acme.x\"\nversion = \"1.0.0\"\napi = \"1.0\"\n[wants]\ninterfaces = [\"devices\"]\n";
        Manifest::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn each_import_is_judged_by_contract_and_manifest() {
        let told = |import| judged(import, &manifest());
        assert!(
            told("hostd:plugin/devices@1.0.0")
                .unwrap()
                .contains("grant")
        );
        assert!(
            told("hostd:plugin/store@1.0.0")
                .unwrap()
                .contains("wants.interfaces")
        );
        assert_eq!(told("hostd:plugin/log@1.0.0").unwrap(), "everybody has it");
        assert!(told("wasi:cli/stdout@0.2.3").is_ok());
        for unknown in [
            "hostd:plugin/teleport@1.0.0",
            "hostd:plugin/log@1.7.0",
            "hostd:host/keys@0.1.0",
        ] {
            assert!(told(unknown).is_err(), "{unknown}");
        }
    }
}
