//! `hostd:host/plugins`: plugins of the server, for administrators.

use std::sync::Arc;
use std::time::Instant;

use base::clock;
use serde_json::Value;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::plugins as w;
use super::uploads::given;
use super::{CallLinker, Context, internal, wit};
use crate::plugin::command::{Approval, Command, Granted, Shown, Told, Wanted};
use crate::plugin::logs::{Level, Line};
use crate::plugin::refused::Refused;
use crate::plugin::{Authority, OrderError, Plugins, Unheard};
use crate::services::Services;
use lab::blobs::Staged;

/// Lines of a log in one answer: they have at most 4 KiB each.
const LINES_MAX: usize = 500;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    services: &'a Services,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::plugins::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        services: &state.data.services,
    })
}

type Notes = Result<Vec<String>, w::Error>;

impl w::Host for View<'_> {
    async fn list(&mut self) -> Result<w::Listed, w::Error> {
        let (by, plugins) = self.asked().await?;
        let (shown, refused) = self.shown(&by, &plugins).await?;
        Ok(w::Listed {
            plugins: shown
                .into_iter()
                .map(|one| w::Plugin {
                    wants: None,
                    ..to_wit(one, &by)
                })
                .collect(),
            refused: refused.into_iter().map(refused_to_wit).collect(),
        })
    }

    async fn get(&mut self, id: String) -> Result<w::Plugin, w::Error> {
        let (by, plugins) = self.asked().await?;
        let (shown, _) = self.shown(&by, &plugins).await?;
        let found = shown.into_iter().find(|plugin| plugin.id == id);
        found.map(|one| to_wit(one, &by)).ok_or(w::Error::NotFound)
    }

    async fn may_install(&mut self) -> Result<(), w::Error> {
        let (by, _) = self.asked().await?;
        by.may_operate().map_err(|e| self.order_error(e))
    }

    async fn install(&mut self, package: Resource<Staged>) -> Notes {
        let staged = given(self.context, self.table, package).map_err(w::Error::Other)?;
        let package = staged.path().to_owned();
        let place = package.display().to_string();
        let done = self
            .carried_out(Command::Install { package }, Some(staged))
            .await;
        // Its sender does not know where it was put.
        done.map_err(|error| match error {
            w::Error::Refused(text) => w::Error::Refused(text.replace(&place, "the package")),
            other => other,
        })
    }

    async fn approve(&mut self, id: String, org: Option<String>, rights: w::Approval) -> Notes {
        let org = org.unwrap_or_default();
        let approval = Approval {
            id,
            org,
            devices: rights.devices,
            all_devices: rights.all_devices,
            interfaces: rights.interfaces,
            scopes: rights.scopes,
            http: rights.http,
            events: rights.events,
            timers: rights.timers,
            secrets: rights.secrets,
            public: rights.public,
            store_mib: rights.store_mib,
        };
        self.carried_out(Command::Approve(approval), None).await
    }

    async fn revoke(&mut self, id: String, org: Option<String>) -> Notes {
        let org = org.unwrap_or_default();
        self.carried_out(Command::Revoke { id, org }, None).await
    }

    async fn configure(
        &mut self,
        id: String,
        org: Option<String>,
        values: Option<String>,
    ) -> Notes {
        let values = values
            .map(|text| serde_json::from_str::<Value>(&text))
            .transpose();
        let values =
            values.map_err(|error| w::Error::Other(internal(self.context, "plugins", &error)))?;
        let org = org.unwrap_or_default();
        self.carried_out(Command::Configure { id, org, values }, None)
            .await
    }

    async fn enable(&mut self, id: String) -> Notes {
        self.carried_out(Command::Enable { id }, None).await
    }

    async fn disable(&mut self, id: String) -> Notes {
        self.carried_out(Command::Disable { id }, None).await
    }

    async fn roll_back(&mut self, id: String) -> Notes {
        self.carried_out(Command::RollBack { id }, None).await
    }

    async fn remove(&mut self, id: String, data: bool) -> Result<(), w::Error> {
        let removed = self.carried_out(Command::Remove { id, data }, None).await;
        removed.map(drop)
    }

    async fn logs(&mut self, id: String, from_line: u64) -> Result<Vec<w::Line>, w::Error> {
        let (by, plugins) = self.asked().await?;
        let command = Command::Logs {
            id,
            from: from_line,
        };
        match plugins.command(&by, command).await {
            Ok(Told::Lines(lines)) => {
                Ok(lines.into_iter().take(LINES_MAX).map(line_to_wit).collect())
            }
            Ok(_) => Err(w::Error::Other("the server told something else".to_owned())),
            Err(error) => Err(self.order_error(error)),
        }
    }
}

impl View<'_> {
    /// What the caller may, and who does it.
    async fn asked(&mut self) -> Result<(Authority, Arc<Plugins>), w::Error> {
        let plugins = self
            .services
            .plugins
            .get()
            .and_then(std::sync::Weak::upgrade);
        let plugins = plugins.ok_or_else(|| w::Error::Other("the server ends".to_owned()))?;
        let by = plugins.authority(self.context.caller.as_ref()).await;
        Ok((by.map_err(|e| self.order_error(e))?, plugins))
    }

    /// How plugins stand, and what was refused, if that is the caller's business.
    async fn shown(
        &mut self,
        by: &Authority,
        plugins: &Arc<Plugins>,
    ) -> Result<(Vec<Shown>, Vec<Refused>), w::Error> {
        match plugins.command(by, Command::List).await {
            Ok(Told::Plugins(shown, refused)) if by.is_operator() => Ok((shown, refused)),
            Ok(Told::Plugins(shown, _)) => Ok((shown, Vec::new())),
            Ok(_) => Err(w::Error::Other("the server told something else".to_owned())),
            Err(error) => Err(self.order_error(error)),
        }
    }

    /// Have a command carried out, to its end even if the caller goes away. `with` is what it needs until then.
    async fn carried_out(&mut self, command: Command, with: Option<Staged>) -> Notes {
        let (by, plugins) = self.asked().await?;
        let place = match command {
            Command::Install { .. } => Some(plugins.install_place()),
            _ => None,
        };
        let place = place.transpose().map_err(|error| self.order_error(error))?;
        let request_id = self.context.request_id.clone();
        let task = tokio::spawn(async move {
            let done = plugins.command(&by, command).await;
            let refused = done.as_ref().err().filter(|_| place.is_some());
            let unheard = refused.map(|error| Unheard::new(&plugins, &request_id, error));
            drop((with, place));
            // If the caller has left, both go with the task.
            (done, unheard)
        });
        let patience = self
            .context
            .answer_by
            .saturating_duration_since(Instant::now());
        let Ok(done) = tokio::time::timeout(patience, task).await else {
            return Err(w::Error::Later(
                "it goes on; the list of plugins tells what became of it".to_owned(),
            ));
        };
        let (done, unheard) =
            done.map_err(|error| w::Error::Other(internal(self.context, "plugins", &error)))?;
        if let Some(unheard) = unheard {
            unheard.heard();
        }
        match done {
            Ok(Told::Done(notes)) => Ok(notes),
            Ok(_) => Err(w::Error::Other("the server told something else".to_owned())),
            Err(error) => Err(self.order_error(error)),
        }
    }

    fn order_error(&self, error: OrderError) -> w::Error {
        match error {
            OrderError::NotFound => w::Error::NotFound,
            OrderError::Forbidden(sentence) => w::Error::Forbidden(sentence),
            OrderError::Refused(sentence) => w::Error::Refused(sentence),
            OrderError::Busy(sentence) => w::Error::Busy(sentence),
            OrderError::Failed(error) => {
                let error: &(dyn std::error::Error + 'static) = error.as_ref();
                w::Error::Other(internal(self.context, "plugins", error))
            }
        }
    }
}

/// As far as it is the caller's business.
fn to_wit(shown: Shown, by: &Authority) -> w::Plugin {
    let is_seen = |granted: &Granted| by.is_operator() || granted.org == by.org();
    let granted = |granted: Granted| w::Granted {
        org: granted.org,
        devices: granted.devices,
        missing: granted.missing,
    };
    w::Plugin {
        id: shown.id,
        version: shown.version,
        previous: shown.previous,
        state: shown.state,
        reason: shown.reason,
        routes: u32::try_from(shown.routes).unwrap_or(u32::MAX),
        wants: shown.wants.map(wanted_to_wit),
        grants: shown
            .orgs
            .into_iter()
            .filter(is_seen)
            .map(granted)
            .collect(),
    }
}

fn wanted_to_wit(wanted: Wanted) -> w::Wanted {
    w::Wanted {
        version: wanted.version,
        name: wanted.name,
        description: wanted.description,
        homepage: wanted.homepage,
        interfaces: wanted.interfaces,
        scopes: wanted.scopes,
        http: wanted.http,
        events: wanted.events,
        timers: wanted.timers,
        secrets: wanted.secrets,
        public: wanted.public,
        store_mib: wanted.store_mib,
    }
}

fn refused_to_wit(refused: Refused) -> w::Refused {
    w::Refused {
        origin: refused.origin,
        reason: refused.reason,
    }
}

fn line_to_wit(line: Line) -> w::Line {
    w::Line {
        number: line.number,
        at: clock::text(line.at_ms),
        level: match line.level {
            Level::Debug => w::Level::Debug,
            Level::Info => w::Level::Info,
            Level::Warn => w::Level::Warn,
            Level::Error => w::Level::Error,
        },
        request_id: line.request_id,
        message: line.message,
    }
}
