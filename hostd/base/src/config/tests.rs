//! Layers, suggestions, bounds.

use super::*;

fn load(text: &str, env: &[(&str, &str)], flags: &[(&str, String)]) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hostd.toml");
    std::fs::write(&path, text).unwrap();
    let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    Config::load(Some(&path), env, flags)
}

#[test]
fn keys_are_exactly_the_fields() {
    let defaults = Table::try_from(Config::default()).unwrap();
    let mut fields = Vec::new();
    for (name, value) in &defaults {
        match value {
            Value::Table(inner) => fields.extend(inner.keys().map(|k| format!("{name}.{k}"))),
            _ => fields.push(name.clone()),
        }
    }
    let mut keys: Vec<String> = KEYS.iter().map(|(k, _)| (*k).to_owned()).collect();
    fields.sort();
    keys.sort();
    assert_eq!(fields, keys);
}

#[test]
fn every_key_has_a_default_that_reads_as_itself() {
    for (key, _) in KEYS {
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
        let head = match section {
            "" => String::new(),
            section => format!("[{section}]\n"),
        };
        let text = format!("{head}{name} = {}", default_text(key));
        assert_eq!(load(&text, &[], &[]).unwrap(), Config::default(), "{text}");
    }
    assert_eq!(default_text("http.listen"), "\"127.0.0.1:8800\"");
    assert_eq!(default_text("handlers.fresh"), "false");
}

#[test]
fn variables_of_clients_are_no_settings() {
    let env = [
        ("HOSTD_URL", "http://127.0.0.1:8800/api"),
        ("HOSTD_KEY", "bk_x"),
        ("HOSTD_DEVICE", "d"),
    ];
    assert_eq!(load("", &env, &[]).unwrap(), Config::default());
}

#[test]
fn later_layers_win() {
    let config = load(
        "[http]\nlisten = \"a:1\"\ndrain_ms = 7\n[log]\nformat = \"json\"",
        &[
            ("HOSTD_HTTP_LISTEN", "b:2"),
            ("HOSTD_STORE_CACHE_MIB", "3"),
            ("PATH", "/bin"),
        ],
        &[("http.listen", "c:3".into())],
    )
    .unwrap();
    assert_eq!(config.http.listen, "c:3");
    assert_eq!(config.http.drain_ms, 7);
    assert_eq!(config.store.cache_mib, 3);
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(
        config.http.connections_max,
        HttpConfig::default().connections_max
    );
}

#[test]
fn addresses_are_checked_by_whoever_knows_them() {
    let text = "[[devices]]\nname = \"x\"\naddress = \"sim:v3\"\n\n[[devices]]\nname = \"y\"\naddress = \"ftp:y\"";
    let config = load(text, &[], &[]).unwrap();
    let usable = |device: &DeviceConfig| match device.address.starts_with("sim:") {
        true => Ok(()),
        false => Err("has no known scheme"),
    };
    let error = config.check_addresses(usable).unwrap_err().to_string();
    assert_eq!(error, "key devices[1].address: has no known scheme");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn mistakes_are_named() {
    for (text, env, expected) in [
        ("[http]\nlisen = \"a:1\"", None, "unknown key http.lisen"),
        ("[http]\nlisen = \"a:1\"", None, "did you mean http.listen?"),
        ("[htp]\nlisten = \"a:1\"", None, "unknown key htp"),
        ("http = 3", None, "unknown key http"),
        ("[http", None, "parse"),
        ("[[device]]\nname = \"x\"", None, "did you mean devices?"),
        ("[htp]\nlisten = \"a:1\"", None, "did you mean http?"),
        ("public_url = \"\"", None, "did you mean http.public_url?"),
        (
            "[http]\nping_ms = 1000\ndrain_ms = \"soon\"",
            None,
            "line 3",
        ),
        ("[[devices]]\nname = \"x\"\naddress = 3", None, "line 3"),
        (
            "[http]\nlisten = \"0.0.0.0\"",
            None,
            "http.listen: must be an address and a port",
        ),
        ("[http]\nlisten = \"::1:80\"", None, "http.listen"),
        ("[http]\nlisten = \"a:65536\"", None, "http.listen"),
        ("[log]\nlevel = \"info,pods=loud\"", None, "log.level"),
        (
            "[[devices]]\nname = \"x\"\naddress = \"sim:v3\"\n[[devices]]\nname = \"x\"\naddress = \"sim:v4\"",
            None,
            "devices[1].name: x is the name of another entry",
        ),
        ("[http]\ndrain_ms = \"soon\"", None, "drain_ms"),
        (
            "[handlers]\nin_flight_max = 0",
            None,
            "handlers.in_flight_max: must be 1 to 64",
        ),
        ("[auth]\nkey_prefix = \"a_b\"", None, "auth.key_prefix"),
        (
            "[auth]\nremember_days = 91",
            None,
            "auth.remember_days: must be 1 to 90",
        ),
        ("[jobs]\nnetwork = \"some\"", None, "network"),
        (
            "[jobs]\nnetwork_orgs = \"acme\"",
            None,
            "jobs.network_orgs: must be all, or ids of organisations",
        ),
        (
            "[plugins]\nfolder = \"drop\"",
            None,
            "plugins.folder: must be an absolute path",
        ),
        (
            "[emi]\nrunning_max = 0",
            None,
            "emi.running_max: must be 1 to 64",
        ),
        (
            "[emi]\nquota_mib = 0",
            None,
            "emi.quota_mib: must be 1 to 1048576",
        ),
        (
            "[emi]\nquota_mib = 1048577",
            None,
            "emi.quota_mib: must be 1 to 1048576",
        ),
        (
            "[emi]\nkeep_days = 36501",
            None,
            "emi.keep_days: must be 0 to 36500",
        ),
        (
            "[captures]\nsigrok_s_max = 0",
            None,
            "captures.sigrok_s_max: must be 1 to 3600",
        ),
        (
            "[captures]\nsigrok_mib_max = 1",
            None,
            "captures.sigrok_mib_max: must be 64 to 16384",
        ),
        (
            "[emi]\nopenems = \"openEMS\"",
            None,
            "emi.openems: must be an absolute path",
        ),
        (
            "[http]\ntrusted_proxies = \"proxy.local\"",
            None,
            "http.trusted_proxies: must be addresses or networks",
        ),
        ("[[devices]]\nname = \"x\"\nadress = \"y\"", None, "adress"),
        (
            "",
            Some(("HOSTD_HTTP_LISEN", "x")),
            "did you mean HOSTD_HTTP_LISTEN?",
        ),
        ("", Some(("HOSTD_STORE_CACHE_MIB", "lots")), "cache_mib"),
    ] {
        let env: Vec<_> = env.into_iter().collect();
        let error = load(text, &env, &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn nothing_is_suggested_that_is_far_from_what_was_written() {
    for text in [
        "[[benches]]\nname = \"x\"",
        "[http]\nzzz = 1",
        "colour = \"red\"",
    ] {
        let error = load(text, &[], &[]).unwrap_err().to_string();
        assert!(error.contains("unknown key"), "{error}");
        assert!(!error.contains("did you mean"), "{error}");
    }
}

#[test]
fn names_are_checked_by_whoever_has_the_rule() {
    let text = "[[devices]]\nname = \"x\"\naddress = \"sim:v3\"\n\n[[devices]]\nname = \"a b\"\naddress = \"sim:v4\"";
    let config = load(text, &[], &[]).unwrap();
    let usable = |name: &str| match name.contains(' ') {
        true => Err("has a space"),
        false => Ok(()),
    };
    let error = config.check_names(usable).unwrap_err().to_string();
    assert_eq!(error, "key devices[1].name: has a space");
}

#[test]
fn nobody_is_let_in_without_a_credential_through_a_proxy() {
    let local = |http: &str| load(&format!("[emi]\nlocal = true\n[http]\n{http}\n"), &[], &[]);
    for good in [
        "",
        "listen = \"127.0.0.2:80\"",
        "listen = \"[::1]:80\"",
        "listen = \"localhost:80\"",
    ] {
        assert!(local(good).unwrap().emi.local, "{good}");
    }
    for bad in [
        "listen = \"0.0.0.0:80\"",
        "listen = \"[::]:80\"",
        "listen = \"bench.example:80\"",
        "public_url = \"https://bench.example\"",
        "trusted_proxies = \"127.0.0.1\"",
    ] {
        let error = local(bad).unwrap_err().to_string();
        assert!(error.contains("emi.local"), "{bad}: {error}");
    }
    assert!(!load("", &[], &[]).unwrap().emi.local);
}
