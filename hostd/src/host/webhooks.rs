//! `hostd:host/webhooks`: who is told of finished jobs, and of what plugins have to say.

use notify::{Edit, NewWebhook, Notices, WebhookError};
use store::webhooks::{Delivery, Event, Phase, Webhook};
use wasmtime::component::HasData;

use super::bindings::hostd::host::webhooks as w;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::Verified;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    notices: &'a Notices,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::webhooks::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        notices: &state.data.services.notices,
    })
}

impl w::Host for View<'_> {
    async fn list(&mut self) -> Result<Vec<w::Webhook>, w::Error> {
        let found = self.notices.webhooks(self.webhook_admin()?.org()).await;
        let found = found.map_err(|e| self.webhook_error(e))?;
        Ok(found.into_iter().map(webhook).collect())
    }

    async fn create(&mut self, new: w::NewWebhook) -> Result<w::Created, w::Error> {
        let caller = self.webhook_admin()?;
        let new = NewWebhook {
            url: new.url,
            events: events_of(&new.events)?,
            name: new.name,
            r#ref: new.ref_,
        };
        let by = (caller.org(), caller.user());
        let made = self.notices.webhook_create(by, new).await;
        let made = made.map_err(|e| self.webhook_error(e))?;
        Ok(w::Created {
            webhook: webhook(made.webhook),
            secret: made.secret,
        })
    }

    async fn get(&mut self, id: String) -> Result<w::Webhook, w::Error> {
        let found = self.notices.webhook(self.webhook_admin()?.org(), &id).await;
        found.map(webhook).map_err(|e| self.webhook_error(e))
    }

    async fn update(&mut self, id: String, edit: w::Edit) -> Result<w::Webhook, w::Error> {
        let caller = self.webhook_admin()?;
        let events = edit.events.as_deref().map(events_of);
        let edit = Edit {
            url: edit.url,
            events: events.transpose()?,
            name: edit.name,
            r#ref: edit.ref_,
            enabled: edit.enabled,
        };
        let by = (caller.org(), caller.user());
        let changed = self.notices.webhook_edit(by, &id, edit).await;
        changed.map(webhook).map_err(|e| self.webhook_error(e))
    }

    async fn rotate(&mut self, id: String) -> Result<w::Created, w::Error> {
        let caller = self.webhook_admin()?;
        let by = (caller.org(), caller.user());
        let rotated = self.notices.webhook_rotate(by, &id).await;
        let rotated = rotated.map_err(|e| self.webhook_error(e))?;
        Ok(w::Created {
            webhook: webhook(rotated.webhook),
            secret: rotated.secret,
        })
    }

    async fn remove(&mut self, id: String) -> Result<(), w::Error> {
        let caller = self.webhook_admin()?;
        let by = (caller.org(), caller.user());
        let removed = self.notices.webhook_remove(by, &id).await;
        removed.map_err(|e| self.webhook_error(e))
    }

    async fn deliveries(&mut self, id: String) -> Result<Vec<w::Delivery>, w::Error> {
        let org = self.webhook_admin()?.org();
        let found = self.notices.deliveries(org, &id).await;
        let found = found.map_err(|e| self.webhook_error(e))?;
        Ok(found.into_iter().map(delivery).collect())
    }

    async fn test(&mut self, id: String) -> Result<w::Delivery, w::Error> {
        let org = self.webhook_admin()?.org();
        let owed = self.notices.webhook_test(org, &id).await;
        owed.map(delivery).map_err(|e| self.webhook_error(e))
    }

    async fn redeliver(&mut self, id: String, of: String) -> Result<w::Delivery, w::Error> {
        let org = self.webhook_admin()?.org();
        let owed = self.notices.redeliver(org, &id, &of).await;
        owed.map(delivery).map_err(|e| self.webhook_error(e))
    }
}

impl View<'_> {
    fn webhook_admin(&self) -> Result<&Verified, w::Error> {
        let doing = "managing webhooks";
        self.context
            .check_admin(doing)
            .map_err(w::Error::Forbidden)?;
        self.context.caller.as_ref().ok_or(w::Error::NotFound)
    }

    fn webhook_error(&self, error: WebhookError) -> w::Error {
        match error {
            WebhookError::NotFound => w::Error::NotFound,
            WebhookError::Invalid { field, message } => {
                w::Error::Invalid((field.to_owned(), message))
            }
            WebhookError::Full(sentence) => w::Error::Full(sentence),
            WebhookError::Disabled => w::Error::Disabled,
            WebhookError::Waits => w::Error::Waits,
            WebhookError::Key(error) => {
                // The log has the cause as well.
                internal(self.context, "webhooks", &error);
                w::Error::Unavailable(format!("the server failed to {error}"))
            }
            WebhookError::Store(error) => {
                w::Error::Other(internal(self.context, "webhooks", &error))
            }
        }
    }
}

fn events_of(names: &[String]) -> Result<Vec<Event>, w::Error> {
    let parsed = names.iter().map(|name| Event::parse(name));
    let all: Result<_, _> = parsed.collect();
    all.map_err(|unknown| w::Error::Invalid(("events".to_owned(), unknown.to_string())))
}

fn webhook(webhook: Webhook) -> w::Webhook {
    w::Webhook {
        id: webhook.id,
        url: webhook.url,
        events: webhook.events.into_iter().map(String::from).collect(),
        name: webhook.name,
        ref_: webhook.r#ref,
        enabled: webhook.enabled,
        disabled_because: webhook.disabled_because,
        failures: webhook.failures,
        failing_since: webhook.failing_since_ms.map(clock::text),
        user: webhook.user,
        created_at: clock::text(webhook.created_ms),
    }
}

fn delivery(delivery: Delivery) -> w::Delivery {
    let last = delivery.last;
    w::Delivery {
        id: delivery.id,
        event: delivery.event.as_str().to_owned(),
        job: delivery.job,
        phase: match delivery.phase {
            Phase::Waiting => w::Phase::Waiting,
            Phase::Delivered => w::Phase::Delivered,
            Phase::Failed => w::Phase::Failed,
            Phase::Dropped => w::Phase::Dropped,
        },
        attempts: delivery.attempts,
        created_at: clock::text(delivery.created_ms),
        tried_at: last.as_ref().map(|last| clock::text(last.at_ms)),
        status: last.as_ref().and_then(|last| last.status),
        error: last.and_then(|last| last.error),
        next_at: delivery.next_ms.map(clock::text),
    }
}
