//! A right that was not granted, told so that it can be: with the command that gives it.

use std::fmt;

use crate::allow::Pattern;
use crate::id::PluginId;
use crate::interface::Interface;

/// What is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Right {
    /// The plugin was not approved in this organisation at all.
    Approval,
    /// An interface.
    Interface(Interface),
    /// A scope.
    Scope(String),
    /// A device, by its id.
    Device(String),
    /// URLs that it asks for.
    Pattern(Pattern),
    /// A URL that it sent a request to, or all of that server.
    Url(String),
    /// A kind of events.
    Event(String),
    /// A timer, as it asks for it now.
    Timer(String),
    /// A secret.
    Secret(String),
    /// Answering callers without a credential.
    Public,
    /// This much room for its keys.
    StoreMib(u32),
}

/// A right that a plugin lacks in an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Whose it would be.
    pub plugin: PluginId,
    /// Where.
    pub org: String,
    /// What.
    pub right: Right,
}

impl Missing {
    /// The command that gives it.
    #[must_use]
    pub fn command(&self) -> String {
        let option = match &self.right {
            Right::Approval => String::new(),
            Right::Interface(interface) => format!(" --interface {interface}"),
            Right::Scope(scope) => format!(" --scope {}", quoted(scope)),
            Right::Device(device) => format!(" --device {}", quoted(device)),
            Right::Pattern(pattern) => format!(" --http {}", quoted(&pattern.to_string())),
            Right::Url(url) => format!(" --http {}", quoted(url)),
            Right::Event(event) => format!(" --event {}", quoted(event)),
            Right::Timer(timer) => format!(" --timer {}", quoted(timer)),
            Right::Secret(secret) => format!(" --secret {}", quoted(secret)),
            Right::Public => " --public".to_owned(),
            Right::StoreMib(mib) => format!(" --store-mib {mib}"),
        };
        format!(
            "hostd plugin approve {} --org {}{option}",
            self.plugin,
            quoted(&self.org)
        )
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, org, right } = self;
        write!(f, "the plugin {plugin} may not ")?;
        match right {
            Right::Approval => write!(f, "do anything"),
            Right::Interface(interface) => write!(f, "use the interface {interface}"),
            Right::Scope(scope) => write!(f, "use the scope {scope}"),
            Right::Device(device) => write!(f, "use the device {device}"),
            Right::Pattern(pattern) => write!(f, "send requests to {pattern}"),
            Right::Url(url) => write!(f, "send requests to {url}"),
            Right::Event(event) => write!(f, "be told of {event}"),
            Right::Timer(timer) => write!(f, "be called by its timer {timer}"),
            Right::Secret(secret) => write!(f, "read the secret {secret}"),
            Right::Public => write!(f, "answer callers without a credential"),
            Right::StoreMib(mib) => write!(f, "store {mib} MiB"),
        }?;
        write!(
            f,
            " in the organisation {org}; an operator grants it: {}",
            self.command()
        )
    }
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=,@+".contains(&b);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(right: Right) -> Missing {
        Missing {
            plugin: "acme.rail-report".parse().unwrap(),
            org: "lab".into(),
            right,
        }
    }

    #[test]
    fn the_sentence_names_the_right_and_the_command() {
        assert_eq!(
            missing(Right::Scope("bench:control".into())).to_string(),
            "the plugin acme.rail-report may not use the scope bench:control in the organisation lab; an operator grants \
             it: hostd plugin approve acme.rail-report --org lab --scope bench:control"
        );
        let pattern = "https://a.example/x*".parse().unwrap();
        assert_eq!(
            missing(Right::Pattern(pattern)).command(),
            "hostd plugin approve acme.rail-report --org lab --http 'https://a.example:443/x*'"
        );
        assert!(missing(Right::Approval).command().ends_with("--org lab"));
    }

    #[test]
    fn no_word_reaches_the_shell_as_more() {
        for (text, word) in [
            ("", "''"),
            ("a b", "'a b'"),
            ("$(x)", "'$(x)'"),
            ("it's;x", "'it'\\''s;x'"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
