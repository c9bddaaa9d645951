//! The keys of the configuration: what each is for, its environment variable, and the error for an
//! unknown one.

use toml::{Table, Value};

use super::{Config, ConfigError};
use crate::likeness;

/// Prefix of environment variables: `http.listen` is `HOSTD_HTTP_LISTEN`.
pub(super) const ENV_PREFIX: &str = "HOSTD_";

/// Lists of tables, as a file has them, and what each entry is. The type of each checks its entries.
pub const LISTS: [(&str, &str); 2] = [
    (
        "[[commit_status]]",
        "a repository whose commits are marked with how jobs end: provider, repository, organisation, token_file",
    ),
    (
        "[[devices]]",
        "a device: name and address, or with address = \"parts\" the tables of its parts",
    ),
];

/// Names of the lists.
fn lists() -> impl Iterator<Item = &'static str> {
    LISTS.iter().map(|(name, _)| name.trim_matches(['[', ']']))
}

/// All keys of the configuration file, except those of lists: `[[commit_status]]` and `[[devices]]`.
pub const KEYS: &[(&str, &str)] = &[
    ("data_dir", "folder that holds everything hostd keeps"),
    (
        "http.listen",
        "address and port to listen on; port 0 picks a free one",
    ),
    (
        "http.connections_max",
        "open connections; for more, the idlest one is closed",
    ),
    (
        "http.connections_per_address_max",
        "of them those of one address (IPv6: /64); one of http.trusted_proxies may have all",
    ),
    (
        "http.connections_reserve",
        "more that are let in when all are busy, for health checks and valid credentials alone",
    ),
    ("http.head_bytes_max", "size of a request head in bytes"),
    (
        "http.head_wait_ms",
        "time for a request head to arrive; also ends idle connections",
    ),
    ("http.body_wait_ms", "time for a request body to arrive"),
    (
        "http.write_wait_ms",
        "time after which a client that takes nothing of an answer is cut off",
    ),
    ("http.drain_ms", "time that open requests get at shutdown"),
    (
        "http.rate_per_s",
        "requests per second that one key or sign-in may make; 0 is no limit",
    ),
    (
        "http.rate_burst",
        "requests that one key or sign-in may make at once",
    ),
    (
        "http.sockets_max",
        "WebSockets open at once; of them one user has two thirds at most, and one organisation three quarters",
    ),
    (
        "http.event_streams_max",
        "streams of events open at once; of them one user has a quarter at most",
    ),
    (
        "http.ping_ms",
        "pause between pings of a WebSocket; a client that answers none of three is gone",
    ),
    (
        "http.socket_write_wait_ms",
        "time after which a client that takes nothing of a WebSocket is closed",
    ),
    (
        "http.trusted_proxies",
        "addresses and networks of proxies, with commas, whose X-Forwarded-For tells the client",
    ),
    (
        "http.public_url",
        "address under which people reach the server, for links in notices; empty leaves them out",
    ),
    ("log.format", "text or json"),
    (
        "log.level",
        "error, warn, info, debug or trace, or a filter such as info,pods=debug",
    ),
    ("store.cache_mib", "page cache of the database, in MiB"),
    (
        "metrics.token",
        "bearer token that /metrics asks for; empty leaves it open",
    ),
    ("auth.key_prefix", "first part of API keys"),
    (
        "auth.remember_days",
        "days that a browser stays signed in where a person asks for it, 1 to 90",
    ),
    (
        "oidc.issuer",
        "identity provider of CI runs, as its tokens name it",
    ),
    (
        "oidc.audience",
        "what the tokens of CI runs must be meant for",
    ),
    (
        "oidc.jwks",
        "URL or file of the identity provider's public keys",
    ),
    (
        "handlers.dir",
        "load handler components from this folder instead of the built-in ones",
    ),
    (
        "handlers.fresh",
        "give every request a fresh instance instead of a pooled one",
    ),
    (
        "handlers.calls_per_instance",
        "requests a pooled instance serves before it is replaced",
    ),
    (
        "handlers.in_flight_max",
        "requests inside one handler group at once; one user has at most two thirds, an organisation three quarters",
    ),
    (
        "handlers.queue_wait_ms",
        "wait for a free instance, or for one of the caller's share, before a request is refused with 503",
    ),
    (
        "handlers.deadline_ms",
        "time one request may take inside a handler",
    ),
    (
        "handlers.memory_mib",
        "linear memory one instance may grow to, in MiB",
    ),
    (
        "pods.grace_ms",
        "time a pod that lost its link may be away before its device counts as offline",
    ),
    (
        "pods.usb",
        "pods on USB that no [[devices]] entry means: \"listed\" leaves them alone, \"all\" makes them devices, \"ask\" once they are admitted",
    ),
    (
        "pods.dial_hosts",
        "names by which pods that dial in know the server, with commas; empty takes the host of http.public_url",
    ),
    ("captures.queue_max", "captures waiting for one device"),
    (
        "captures.samples_max",
        "samples of one capture that is held in memory until its end; longer ones of pods that can are written as they come, within the quota",
    ),
    (
        "captures.read_max",
        "captures being read, decoded or exported at once; half of them for one user",
    ),
    (
        "captures.quota_mib",
        "size of all captures of one organisation, in MiB",
    ),
    ("captures.count_max", "captures of one organisation"),
    (
        "captures.at_quota",
        "oldest or refuse: whether the oldest captures without a name give way, or new ones are refused",
    ),
    (
        "captures.keep_days",
        "days until a capture without a name is forgotten; 0 is no limit",
    ),
    (
        "captures.registers",
        "descriptions of parts on I2C buses beside the built-in ones: a .toml file, or a folder of them",
    ),
    (
        "captures.sigrok",
        "sigrok-cli, for decoders of libsigrokdecode: a path, or a name on the search path; empty: none are used",
    ),
    (
        "captures.sigrok_s_max",
        "time of one decoding by sigrok-cli, in seconds; 1 to 3600",
    ),
    (
        "captures.sigrok_mib_max",
        "memory of one decoding by sigrok-cli, in MiB; 64 to 16384",
    ),
    (
        "disk.floor_mib",
        "free space below which captures and uploads are refused, in MiB; 0 is a tenth of the disk, at most 1024",
    ),
    (
        "disk.reserve_mib",
        "space laid by, in MiB, with which leases and sign-in go on when the disk is full",
    ),
    (
        "builds.artifact_mib_max",
        "size of one file of a build, in MiB, at most 2047",
    ),
    ("builds.log_mib_max", "size of one log of a build, in MiB"),
    (
        "builds.quota_mib",
        "size of all build files of one organisation, in MiB",
    ),
    (
        "builds.count_max",
        "builds of one organisation; the oldest ones with a result give way",
    ),
    ("builds.keep_days", "days until a build is forgotten"),
    ("builds.upload_wait_ms", "time for a file to arrive"),
    (
        "jobs.build_slots",
        "builds that run at once; with several organisations, the last free one goes to one that has none",
    ),
    (
        "jobs.running_max",
        "builds and tests that run at once, at most 128",
    ),
    ("jobs.running_per_org_max", "of them one organisation's"),
    ("jobs.running_per_user_max", "of them one user's"),
    ("jobs.queued_max", "jobs that wait"),
    ("jobs.queued_per_org_max", "of them one organisation's"),
    ("jobs.queued_per_user_max", "of them one user's"),
    (
        "jobs.memory_mib",
        "memory of the server that jobs take while they are read, wait and run, in MiB; an organisation alone gets two thirds",
    ),
    (
        "jobs.archive_mib_max",
        "size of the sources of one job as they are sent, in MiB, at most 2047",
    ),
    (
        "jobs.unpacked_mib_max",
        "size of the sources of one job when they are unpacked, in MiB",
    ),
    (
        "jobs.archive_entries_max",
        "files and folders in the sources of one job",
    ),
    (
        "jobs.cache_mib",
        "size of what all builds together keep for later ones, in MiB",
    ),
    (
        "jobs.tools",
        "folders of compilers and libraries that jobs can read, with colons between them",
    ),
    (
        "jobs.podman",
        "the program Podman, which has the container images that jobs name: a path, or a name that is found by PATH",
    ),
    (
        "jobs.images",
        "names of container images that jobs may have, with commas between them; one that ends in * stands for all that begin like it. All if empty",
    ),
    (
        "jobs.images_gib_max",
        "size of the container images that are unpacked, in GiB; those used longest ago go first, and none that is in use",
    ),
    ("jobs.keep_days", "days until a finished job is forgotten"),
    (
        "jobs.org_gib_max",
        "size of what all jobs of one organisation keep (sources, logs, artifacts), in GiB",
    ),
    (
        "jobs.at_quota",
        "what happens then: refuse, or oldest: the oldest finished jobs give way",
    ),
    (
        "jobs.drain_ms",
        "time for running jobs to end when the server is told to stop",
    ),
    (
        "jobs.network",
        "what jobs with sandbox.network reach: off (they are refused), public (no private address, none of this machine's) or all",
    ),
    (
        "jobs.network_orgs",
        "ids of the organisations whose jobs may ask for it, with commas; all = every one",
    ),
    (
        "uploads.per_user_max",
        "files and bodies over 64 KiB of one user that arrive at once; further ones wait",
    ),
    (
        "uploads.per_org_max",
        "the same for all users of one organisation",
    ),
    ("uploads.total_max", "the same for everybody, at most 1024"),
    (
        "uploads.queue_wait_ms",
        "wait for one of those places before an upload is refused with 429 or 503",
    ),
    (
        "uploads.bytes_per_s_min",
        "rate below which a body is given up; 0 is no limit",
    ),
    (
        "uploads.grace_ms",
        "time over which that rate is looked at, 100 to 600000",
    ),
    (
        "waveforms.recording_mib_max",
        "size of one recording among the waveforms, in MiB, at most 256",
    ),
    (
        "waveforms.quota_mib",
        "size of all waveforms of one organisation, in MiB",
    ),
    ("waveforms.count_max", "waveforms of one organisation"),
    (
        "leases.power_on_release",
        "off or keep: target power when a lease ends",
    ),
    (
        "webhooks.allow",
        "addresses and networks, with commas, that webhooks may reach besides public and private ones, such as 127.0.0.1",
    ),
    (
        "webhooks.deny",
        "addresses and networks, with commas, that webhooks may not reach, such as 10.0.0.0/8",
    ),
    (
        "webhooks.retry_ms",
        "pause before the second attempt to deliver; each further one is twice as long, at most an hour",
    ),
    (
        "webhooks.ca_file",
        "PEM file of certificate authorities that receivers and repositories may be under, besides the public ones",
    ),
    ("webhooks.count_max", "webhooks of one organisation"),
    ("badges.count_max", "badges of one organisation"),
    (
        "plugins.instances_max",
        "instances of all plugins together; each takes 4 GiB of address space",
    ),
    (
        "plugins.memory_mib_max",
        "memory that a plugin's manifest may ask for, for one instance",
    ),
    (
        "plugins.trusted_keys",
        "minisign public keys of those whose plugins may be installed, with commas; empty: no signature is asked for",
    ),
    (
        "plugins.http_allow",
        "addresses and networks, with commas, that plugins may send requests to although they are private or the server's own",
    ),
    (
        "plugins.http_deny",
        "addresses and networks, with commas, that plugins may not send requests to",
    ),
    (
        "plugins.operator_orgs",
        "names or ids of the organisations whose admins may install, stop and remove plugins over HTTP, with commas; empty: none",
    ),
    (
        "plugins.folder",
        "packages of plugins that are put into this folder are installed; an absolute path, empty: none",
    ),
    (
        "emi.upload_mib_max",
        "size of one uploaded board, in MiB; a larger one is refused",
    ),
    (
        "emi.unpacked_mib_max",
        "size of an uploaded zip when it is unpacked, in MiB",
    ),
    ("emi.entries_max", "files in an uploaded zip"),
    (
        "emi.run_s_max",
        "time that one run of an analysis may take, in seconds",
    ),
    (
        "emi.memory_mib_max",
        "memory that one run of an analysis may take, in MiB",
    ),
    ("emi.running_max", "runs of analyses at once"),
    (
        "emi.queued_max",
        "runs of all organisations that may wait; further ones are refused",
    ),
    (
        "emi.queued_per_org_max",
        "of them those of one organisation",
    ),
    ("emi.projects_max", "projects of one organisation"),
    ("emi.boards_max", "boards of one organisation"),
    ("emi.runs_max", "runs that are kept for one organisation"),
    (
        "emi.quota_mib",
        "boards and results of one organisation, in MiB; 1 to 1048576",
    ),
    (
        "emi.keep_days",
        "days until a board is deleted with its runs, at most 36500; 0 keeps it",
    ),
    (
        "emi.openems",
        "absolute path of openEMS, for runs of the kind solve; empty: they are not offered",
    ),
    (
        "emi.local",
        "let programs on this computer work with boards without a credential, as an editor of boards does; only without a proxy",
    ),
    (
        "emi.solve_s_max",
        "time that openEMS may take for one run, in seconds",
    ),
];

/// A key's default value, as written in a configuration file.
///
/// # Panics
/// The defaults lack a key of [`KEYS`].
#[must_use]
pub fn default_text(key: &str) -> String {
    let defaults = Table::try_from(Config::default()).expect("the defaults are a table");
    let mut value = &Value::Table(defaults);
    for part in key.split('.') {
        value = value.get(part).expect("every key has a default");
    }
    value.to_string()
}

/// Name of the environment variable for a key.
#[must_use]
pub fn env_name(key: &str) -> String {
    format!("{ENV_PREFIX}{}", key.replace('.', "_").to_uppercase())
}

/// The key that an environment variable sets.
pub(super) fn of_variable(name: &str) -> Result<&'static str, ConfigError> {
    let mut keys = KEYS.iter().map(|(key, _)| *key);
    keys.find(|key| env_name(key) == name).ok_or_else(|| {
        let known = KEYS.iter().map(|(key, _)| env_name(key));
        unknown(name, "the environment", known)
    })
}

/// Check that every name in `table`, the section `prefix` of `origin`, is a key.
pub(super) fn check(table: &Table, prefix: &str, origin: &str) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        if lists().any(|list| list == key) {
            continue;
        }
        let section = format!("{key}.");
        let is_section = KEYS.iter().any(|(k, _)| k.starts_with(&section));
        match value {
            Value::Table(inner) if is_section => check(inner, &section, origin)?,
            _ if KEYS.iter().any(|(k, _)| *k == key) => {}
            _ => return Err(unknown(&key, origin, names())),
        }
    }
    Ok(())
}

/// Whatever a file may name: keys, sections and lists.
fn names() -> impl Iterator<Item = String> {
    let keys = KEYS.iter().map(|(key, _)| *key);
    let sections = KEYS
        .iter()
        .filter_map(|(key, _)| Some(key.split_once('.')?.0));
    keys.chain(sections).chain(lists()).map(str::to_owned)
}

fn unknown(key: &str, origin: &str, known: impl Iterator<Item = String>) -> ConfigError {
    let best = nearest(key, known);
    ConfigError::UnknownKey {
        key: key.into(),
        origin: origin.into(),
        hint: best.map_or_else(String::new, |best| format!("; did you mean {best}?")),
    }
}

/// The name that somebody most likely meant: one that differs in a few letters, or the only one with this key in another
/// section.
fn nearest(key: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let known: Vec<String> = known.collect();
    let best = likeness::nearest(key, known.iter().map(String::as_str));
    let elsewhere = || {
        let last = |name: &'_ str| {
            name.rsplit_once('.')
                .map_or("", |(_, last)| last)
                .to_owned()
        };
        let wanted = key.rsplit('.').next().unwrap_or(key);
        let mut found = known.iter().filter(|name| last(name) == wanted);
        let first = found.next().filter(|_| found.next().is_none());
        first.map(String::as_str)
    };
    best.or_else(elsewhere).map(str::to_owned)
}
