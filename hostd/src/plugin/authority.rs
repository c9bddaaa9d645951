//! Who may order what over HTTP.
//!
//! | | may |
//! |---|---|
//! | whoever runs the server, on its socket | everything; nothing here is asked |
//! | administrators of an organisation in `plugins.operator_orgs` | everything |
//! | administrators of any other organisation | see what is installed; in their own organisation grant what a plugin's manifest asks for, take it back, and configure |
//! | members, keys of jobs, credentials for some devices only | nothing |

use std::sync::Arc;

use identity::Verified;
use plugins::allow::Pattern;
use plugins::id::PluginId;
use plugins::wants::Wants;
use tracing::info;

use super::command::{Approval, Command, Told};
use super::logs::Level;
use super::{Plugins, fault};

/// What operators alone may do, and how one becomes one.
const OPERATORS_ALONE: &str = "this is for operators: whoever runs the server does it with hostd plugin, or names an \
     organisation in plugins.operator_orgs whose administrators may";

/// Who gives a command over HTTP: an administrator, on behalf of an organisation.
#[derive(Debug, Clone)]
pub struct Authority {
    /// Id and name of the organisation.
    org: (String, String),
    user: String,
    is_operator: bool,
}

/// Why a command was not carried out.
#[derive(Debug)]
pub enum OrderError {
    /// No plugin has this id.
    NotFound,
    /// A sentence.
    Forbidden(String),
    /// A sentence.
    Refused(String),
    /// As many of the kind are under way as may; a sentence.
    Busy(String),
    /// The server's own fault.
    Failed(anyhow::Error),
}

impl Authority {
    /// Whether it may do everything.
    #[must_use]
    pub fn is_operator(&self) -> bool {
        self.is_operator
    }

    /// Check that it may do what is for operators.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn may_operate(&self) -> Result<(), OrderError> {
        match self.is_operator {
            true => Ok(()),
            false => Err(OrderError::Forbidden(OPERATORS_ALONE.to_owned())),
        }
    }

    /// Id of the organisation.
    #[must_use]
    pub fn org(&self) -> &str {
        &self.org.0
    }

    fn is_own(&self, org: &str) -> bool {
        org == self.org.0 || org == self.org.1
    }
}

impl Plugins {
    /// What a caller may order.
    ///
    /// # Errors
    /// Nothing at all, or the storage failed.
    pub async fn authority(&self, caller: Option<&Verified>) -> Result<Authority, OrderError> {
        let caller = administrator(caller).map_err(forbidden)?;
        let id = caller.org().to_owned();
        let found = self
            .services
            .store
            .read(move |s| store::orgs::by_id(s, &id));
        let org = found
            .await
            .map_err(|error| OrderError::Failed(error.into()))?;
        let org = org.ok_or_else(|| forbidden("the organisation is gone"))?;
        let mut operators = self.config.operator_orgs();
        Ok(Authority {
            is_operator: operators.any(|named| named == org.id || named == org.name),
            org: (org.id, org.name),
            user: caller.user().to_owned(),
        })
    }

    /// Do what somebody orders over HTTP. An empty organisation in the command is the caller's own.
    ///
    /// # Errors
    /// They may not, or why it was not done.
    pub async fn command(
        self: &Arc<Self>,
        by: &Authority,
        mut command: Command,
    ) -> Result<Told, OrderError> {
        let org = match &mut command {
            Command::List => None,
            Command::Approve(Approval { org, .. })
            | Command::Revoke { org, .. }
            | Command::Configure { org, .. } => Some(org),
            _ => {
                by.may_operate()?;
                None
            }
        };
        if let Some(org) = org {
            if org.is_empty() || by.is_own(org) {
                org.clone_from(&by.org.0);
            } else {
                // The same whether there is such an organisation or not.
                by.may_operate()?;
            }
        }
        let id = self.known(command.plugin()).await?;
        if let (Command::Approve(approval), Some(id), false) = (&mut command, &id, by.is_operator) {
            let wants = self.wanted(id).await?;
            narrow(approval, &wants)?;
        }
        let verb = command.verb();
        let told = self.carry_out(command).await.map_err(judged)?;
        if let Some(verb) = verb {
            let (org, user) = (by.org.0.as_str(), by.user.as_str());
            let plugin = id.as_ref().map(PluginId::as_str);
            info!(plugin, command = verb, org, user, "ordered over HTTP");
            if let Some(id) = plugin {
                let line = format!("{verb} was ordered over HTTP by the user {user}");
                self.log(id).write(Level::Info, "", line);
            }
        }
        Ok(told)
    }

    /// The plugin that a command is about, if it is about one.
    async fn known(&self, id: Option<&str>) -> Result<Option<PluginId>, OrderError> {
        let Some(id) = id else { return Ok(None) };
        let id: PluginId = id.parse().map_err(|_| OrderError::NotFound)?;
        let found = self.installed.get(&id).await;
        match found.map_err(|error| judged(error.into()))? {
            Some(_) => Ok(Some(id)),
            None => Err(OrderError::NotFound),
        }
    }

    /// What the newest version of a plugin asks for.
    async fn wanted(&self, id: &PluginId) -> Result<Wants, OrderError> {
        let standing = self.installed.standing_of(id).await;
        let of = standing.map_err(|error| judged(error.into()))?;
        let newest = of.and_then(|of| of.staged.or(of.active));
        Ok(newest.ok_or(OrderError::NotFound)?.manifest.wants)
    }
}

fn forbidden(sentence: &str) -> OrderError {
    OrderError::Forbidden(sentence.to_owned())
}

/// The caller, if it is an administrator by a credential that is for everything; otherwise a sentence.
fn administrator(caller: Option<&Verified>) -> Result<&Verified, &'static str> {
    let caller = caller.ok_or("plugins need a caller")?;
    // A program of a job is nobody's administrator, whoever its user is.
    if !caller.is_admin() || caller.job().is_some() {
        return Err("plugins take an admin's session, or an admin's key with scope bench:admin");
    }
    if caller.devices().is_some() {
        return Err("plugins take a credential that is not for some devices only");
    }
    Ok(caller)
}

/// Whether an error is the server's own fault, or what was asked cannot be done.
fn judged(error: anyhow::Error) -> OrderError {
    if fault::is_own_fault(&error) {
        return OrderError::Failed(error);
    }
    OrderError::Refused(format!("{error:#}"))
}

/// Keep an approval of somebody who is no operator within what the manifest asks for, which whoever installed the plugin
/// has seen, and within the own organisation: private addresses belong to the server's network, and a plugin that answers
/// without a credential answers for all organisations at one place.
fn narrow(approval: &mut Approval, wants: &Wants) -> Result<(), OrderError> {
    if !approval.is_partial() {
        let http = wants.http.iter().filter(|pattern| !pattern.names_private());
        approval.interfaces = wants.interfaces.iter().map(ToString::to_string).collect();
        approval.scopes = wants.scopes.iter().cloned().collect();
        approval.http = http.map(ToString::to_string).collect();
        approval.events = wants.events.iter().cloned().collect();
        approval.timers = wants.timers.iter().map(|timer| timer.id.clone()).collect();
        approval.secrets = wants.secrets.iter().cloned().collect();
        approval.store_mib = Some(wants.store_mib);
        return Ok(());
    }
    let refuse = |what: &str| Err(forbidden(&format!("granting {what} is for operators")));
    let outside = |what: &str, name: &str| {
        refuse(&format!(
            "the {what} {name}, which the plugin's manifest does not ask for,"
        ))
    };
    let interfaces = wants.interfaces.iter().map(ToString::to_string).collect();
    let timers = wants.timers.iter().map(|timer| timer.id.clone()).collect();
    let named = [
        ("interface", &approval.interfaces, &interfaces),
        ("scope", &approval.scopes, &wants.scopes),
        ("event", &approval.events, &wants.events),
        ("timer", &approval.timers, &timers),
        ("secret", &approval.secrets, &wants.secrets),
    ];
    for (what, names, wanted) in named {
        if let Some(name) = names.iter().find(|name| !wanted.contains(*name)) {
            return outside(what, name);
        }
    }
    for text in &approval.http {
        // What is none is none for operators, too.
        let pattern = text.parse::<Pattern>();
        let pattern = pattern.map_err(|e| OrderError::Refused(format!("grant {text}: it {e}")))?;
        if !wants.http.iter().any(|wanted| wanted.covers(&pattern)) {
            return outside("address", text);
        }
        if pattern.names_private() {
            return refuse(&format!(
                "{text}, a private address of the server's network,"
            ));
        }
    }
    if approval.public {
        return refuse("answers to callers without a credential");
    }
    if approval.store_mib.is_some_and(|mib| mib > wants.store_mib) {
        return refuse("more room than the plugin's manifest asks for");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use identity::scope::Scope;

    use super::*;

    fn wants() -> Wants {
        Wants {
            interfaces: ["store".parse().unwrap()].into(),
            scopes: ["bench:control".to_owned()].into(),
            http: [
                "https://hooks.example.com/bench/*",
                "http://10.0.0.7:8080/*",
            ]
            .map(|pattern| pattern.parse::<Pattern>().unwrap())
            .into(),
            public: true,
            secrets: ["TOKEN".to_owned()].into(),
            store_mib: 4,
            ..Wants::default()
        }
    }

    fn approval(change: impl FnOnce(&mut Approval)) -> Approval {
        let mut approval = Approval::default();
        change(&mut approval);
        approval
    }

    #[test]
    fn a_credential_that_is_not_for_everything_is_nobodys_administrator() {
        let of = |scopes: &[Scope], devices: Option<&str>| {
            let devices = devices.map(|id| vec![id.to_owned()]);
            Verified::of_plugin("o", "acme.x", scopes.to_vec(), devices)
        };
        let judge = |caller: Verified| administrator(Some(&caller)).map(|_| ());
        assert_eq!(judge(of(&[Scope::BenchAdmin], None)), Ok(()));
        let limited = judge(of(&[Scope::BenchAdmin], Some("d"))).unwrap_err();
        assert!(limited.contains("some devices only"), "{limited}");
        let member = judge(of(&[Scope::BenchControl], None)).unwrap_err();
        assert!(member.contains("bench:admin"), "{member}");
        assert!(administrator(None).is_err());
    }

    #[test]
    fn an_administrator_grants_what_is_wanted_and_no_more() {
        let judge = |mut approval: Approval| narrow(&mut approval, &wants());
        let one = |text: &str| vec![text.to_owned()];
        for fine in [
            approval(|a| a.interfaces = one("store")),
            approval(|a| a.secrets = one("TOKEN")),
            approval(|a| a.http = one("https://hooks.example.com/bench/one")),
            approval(|a| a.store_mib = Some(4)),
        ] {
            judge(fine).unwrap();
        }
        for more in [
            approval(|a| a.interfaces = one("devices")),
            approval(|a| a.scopes = one("bench:admin")),
            approval(|a| a.http = one("https://hooks.example.com/*")),
            approval(|a| a.http = one("http://hooks.example.com/bench/*")),
            approval(|a| a.http = one("http://10.0.0.7:8080/a")),
            approval(|a| a.events = one("job.finished")),
            approval(|a| a.timers = one("nightly")),
            approval(|a| a.secrets = one("OTHER")),
            approval(|a| a.public = true),
            approval(|a| a.store_mib = Some(5)),
        ] {
            let OrderError::Forbidden(refused) = judge(more).unwrap_err() else {
                panic!("that is for operators");
            };
            assert!(refused.ends_with("for operators"), "{refused}");
        }
        let wrong = judge(approval(|a| a.http = one("gopher"))).unwrap_err();
        assert!(matches!(wrong, OrderError::Refused(_)), "{wrong:?}");
    }

    #[test]
    fn all_that_is_wanted_is_all_but_what_concerns_the_whole_server() {
        let mut all = Approval::default();
        narrow(&mut all, &wants()).unwrap();
        assert!(all.is_partial() && !all.public);
        assert_eq!(all.http, ["https://hooks.example.com:443/bench/*"]);
        assert_eq!(
            (all.interfaces, all.store_mib),
            (vec!["store".to_owned()], Some(4))
        );
    }
}
