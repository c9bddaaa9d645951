//! `hostd:host/emi`: boards, and what an analysis of them finds.

use std::sync::Arc;

use analysis::{Analysis, Error, Filter, Listed, NewUpload, Page};
use identity::Verified;
use runtime::BodyStream;
use serde::Serialize;
use serde_json::Value;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::emi as w;
use super::uploads::{Inbound, given};
use super::{CallLinker, Context, cursor_rule, internal, wit};
use admission::Requester;
use base::clock::Clock;
use lab::blobs::Staged;

mod told;

use told::{artifact, board, kind_of, project, rule, run, severity, signed, source_kind_of};

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    inbound: &'a Inbound,
    analysis: &'a Arc<Analysis>,
    clock: &'a Clock,
    /// Empty = nobody knows.
    public_url: &'a str,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::emi::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        inbound: &state.data.inbound,
        analysis: &state.data.services.analysis,
        clock: &state.data.services.clock,
        public_url: &state.data.services.public_url,
    })
}

impl w::Host for View<'_> {
    async fn features(&mut self) -> w::Offer {
        w::Offer {
            kinds: self.analysis.features().into_iter().map(kind_of).collect(),
            upload_bytes_max: self.analysis.upload_bytes_max(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    async fn rules(&mut self) -> Vec<w::Rule> {
        emi::RULES.iter().map(|known| rule(known)).collect()
    }

    async fn projects(
        &mut self,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<(Vec<w::Project>, Option<String>), w::Error> {
        let page = page(limit, cursor)?;
        let found = self.analysis.projects(self.analyst()?.org(), page).await;
        self.listed(found, project)
    }

    async fn create_project(
        &mut self,
        name: String,
        source_kind: w::SourceKind,
    ) -> Result<w::Project, w::Error> {
        let caller = self.analyst()?;
        let (org, user) = (caller.org(), caller.user());
        let made = self
            .analysis
            .create_project(org, user, &name, source_kind_of(source_kind));
        made.await.map(project).map_err(|e| self.emi_error(e))
    }

    async fn get_project(&mut self, id: String) -> Result<w::Project, w::Error> {
        let found = self.analysis.project(self.analyst()?.org(), &id).await;
        found.map(project).map_err(|e| self.emi_error(e))
    }

    async fn remove_project(&mut self, id: String) -> Result<(), w::Error> {
        let org = self.analyst()?.org();
        let removed = self.analysis.delete_project(org, &id).await;
        removed.map_err(|e| self.emi_error(e))
    }

    async fn begin_upload(
        &mut self,
        project: String,
        new: w::NewUpload,
    ) -> Result<w::Begun, w::Error> {
        let caller = self.analyst()?;
        // Asked first: a request that cannot be answered leaves nothing behind.
        let base = self.base()?;
        let new = NewUpload {
            filename: new.filename,
            sha256: new.sha256,
            content_type: new.content_type,
            size_bytes: new.size_bytes,
        };
        let begun = self
            .analysis
            .begin_upload(caller.org(), caller.user(), &project, new);
        let begun = begun.await.map_err(|e| self.emi_error(e))?;
        let path = format!("uploads/{}", begun.key);
        let url = begun.signed.as_ref();
        Ok(w::Begun {
            url: url.map(|signed| address(&base, &path, signed)),
            key: begun.key,
            content_type: begun.content_type,
            expires_in_s: seconds(begun.expires_in_s),
        })
    }

    async fn admit(&mut self, key: String, shown: w::Signed) -> Result<u64, w::Error> {
        let signed = signed(shown);
        // A body that has arrived was admitted before it came; its address may have expired since.
        let admitted = match self.inbound.has_arrived() {
            true => self.analysis.admit_arrived(&key, &signed).await,
            false => self.analysis.admit(&key, &signed).await,
        };
        let admitted = admitted.map_err(|e| self.emi_error(e))?;
        self.inbound.attribute(Requester {
            org: admitted.org.into(),
            user: admitted.user.into(),
        });
        Ok(admitted.bytes_max)
    }

    async fn keep(
        &mut self,
        key: String,
        shown: w::Signed,
        bytes: Resource<Staged>,
    ) -> Result<w::Received, w::Error> {
        let staged = given(self.context, self.table, bytes).map_err(w::Error::Other)?;
        let kept = self.analysis.keep(&key, &signed(shown), &staged).await;
        let kept = kept.map_err(|e| self.emi_error(e))?;
        Ok(w::Received {
            sha256: kept.sha256,
            size_bytes: kept.size_bytes,
        })
    }

    async fn create_board(
        &mut self,
        project: String,
        input_key: String,
        sha256: Option<String>,
    ) -> Result<(w::Board, w::Run), w::Error> {
        let caller = self.analyst()?;
        let (org, user) = (caller.org(), caller.user());
        let sha256 = sha256.as_deref();
        let made = self
            .analysis
            .create_board(org, user, &project, &input_key, sha256);
        let (made, queued) = made.await.map_err(|e| self.emi_error(e))?;
        Ok((board(made), run(queued)))
    }

    async fn boards(
        &mut self,
        project: String,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<(Vec<w::Board>, Option<String>), w::Error> {
        let page = page(limit, cursor)?;
        let org = self.analyst()?.org();
        let found = self.analysis.boards(org, &project, page).await;
        self.listed(found, board)
    }

    async fn get_board(&mut self, id: String) -> Result<w::Board, w::Error> {
        let found = self.analysis.board(self.analyst()?.org(), &id).await;
        found.map(board).map_err(|e| self.emi_error(e))
    }

    async fn remove_board(&mut self, id: String) -> Result<(), w::Error> {
        let removed = self.analysis.delete_board(self.analyst()?.org(), &id).await;
        removed.map_err(|e| self.emi_error(e))
    }

    async fn lookup(&mut self, sha256: String) -> Result<Option<w::FoundBoard>, w::Error> {
        let found = self.analysis.lookup(self.analyst()?.org(), &sha256).await;
        let found = found.map_err(|e| self.emi_error(e))?;
        Ok(found.map(|found| w::FoundBoard {
            board: board(found.board),
            project: project(found.project),
            parsed: found.parsed,
        }))
    }

    async fn compare(&mut self, board: String, against: String) -> Result<w::Diff, w::Error> {
        let org = self.analyst()?.org();
        let diff = self.analysis.diff(org, &board, &against).await;
        let diff = diff.map_err(|e| self.emi_error(e))?;
        Ok(w::Diff {
            summary: self.json(&diff.summary)?,
            new: self.json(&diff.new)?,
            gone: self.json(&diff.gone)?,
            kept: self.json(&diff.kept)?,
            cut: self.json(&diff.cut)?,
            notes: diff.notes,
        })
    }

    async fn create_run(
        &mut self,
        project: String,
        board: String,
        kind: w::Kind,
        params: String,
    ) -> Result<w::Run, w::Error> {
        let Ok(Value::Object(params)) = serde_json::from_str(&params) else {
            let rule = "must be an object".to_owned();
            return Err(w::Error::Invalid(("params".to_owned(), rule)));
        };
        let caller = self.analyst()?;
        let (org, user) = (caller.org(), caller.user());
        let of = (project.as_str(), board.as_str());
        let kind = told::kind_from(kind).name();
        let queued = self.analysis.create_run(org, user, of, kind, params).await;
        queued.map(run).map_err(|e| self.emi_error(e))
    }

    async fn runs(
        &mut self,
        project: String,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<(Vec<w::Run>, Option<String>), w::Error> {
        let page = page(limit, cursor)?;
        let org = self.analyst()?.org();
        let found = self.analysis.runs(org, &project, page).await;
        self.listed(found, run)
    }

    async fn get_run(&mut self, id: String) -> Result<w::Run, w::Error> {
        let found = self.analysis.run(self.analyst()?.org(), &id).await;
        found.map(run).map_err(|e| self.emi_error(e))
    }

    async fn stop(&mut self, id: String) -> Result<(), w::Error> {
        let stopped = self.analysis.stop_run(self.analyst()?.org(), &id).await;
        stopped.map(drop).map_err(|e| self.emi_error(e))
    }

    async fn retry(&mut self, id: String) -> Result<w::Run, w::Error> {
        let queued = self.analysis.retry_run(self.analyst()?.org(), &id).await;
        queued.map(run).map_err(|e| self.emi_error(e))
    }

    async fn findings(
        &mut self,
        run: String,
        filter: w::Filter,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<(String, Option<String>), w::Error> {
        let filter = Filter {
            severity: filter.severity.map(|wanted| severity(wanted).to_owned()),
            rule: filter.rule,
            net: filter.net,
        };
        let page = Page {
            limit: limit as usize,
            cursor,
        };
        let org = self.analyst()?.org();
        let found = self.analysis.findings(org, &run, filter, page).await;
        let found = found.map_err(|e| self.emi_error(e))?;
        Ok((self.json(&found.items)?, found.next))
    }

    async fn artifacts(&mut self, run: String) -> Result<Vec<w::Artifact>, w::Error> {
        let found = self.analysis.run(self.analyst()?.org(), &run).await;
        let found = found.map_err(|e| self.emi_error(e))?;
        Ok(found.artifacts.into_iter().map(artifact).collect())
    }

    async fn link_artifact(&mut self, run: String, name: String) -> Result<w::Link, w::Error> {
        let org = self.analyst()?.org().to_owned();
        let found = self.analysis.artifact(&org, &run, &name).await;
        let (found, signed) = found.map_err(|e| self.emi_error(e))?;
        let expires_in_s = signed.expires_s.saturating_sub(self.clock.now_s());
        let path = format!("files/{org}/{run}/{}", found.name);
        Ok(w::Link {
            url: address(&self.base()?, &path, &signed),
            artifact: artifact(found),
            expires_in_s: seconds(expires_in_s),
        })
    }

    async fn read_artifact(
        &mut self,
        run: String,
        name: String,
    ) -> Result<(w::Artifact, Resource<BodyStream>), w::Error> {
        let org = self.analyst()?.org().to_owned();
        let found = self.analysis.artifact(&org, &run, &name).await;
        let (_, signed) = found.map_err(|e| self.emi_error(e))?;
        let signed = w::Signed {
            expires: signed.expires_s,
            signature: signed.signature,
        };
        self.open_artifact(org, run, name, signed).await
    }

    async fn open_artifact(
        &mut self,
        org: String,
        run: String,
        name: String,
        shown: w::Signed,
    ) -> Result<(w::Artifact, Resource<BodyStream>), w::Error> {
        let found = self.analysis.fetch(&org, &run, &name, &signed(shown)).await;
        let (found, parts) = found.map_err(|e| self.emi_error(e))?;
        let pushed = self.table.push(BodyStream::new(None, parts));
        let stream = pushed.map_err(|e| w::Error::Other(internal(self.context, "emi", &e)))?;
        Ok((artifact(found), stream))
    }
}

impl View<'_> {
    /// Who asks: with the scope, and for all of the organisation.
    fn analyst(&self) -> Result<&Verified, w::Error> {
        self.context.caller.as_ref().ok_or(w::Error::NotFound)
    }

    /// What absolute addresses of this server begin with, for whoever asks.
    fn base(&self) -> Result<String, w::Error> {
        self.context.base(self.public_url).ok_or_else(|| {
            let rule = "must say by what name you know the server".to_owned();
            w::Error::Invalid(("host".to_owned(), rule))
        })
    }

    fn listed<T, U>(
        &self,
        found: Result<Listed<T>, Error>,
        told: impl Fn(T) -> U,
    ) -> Result<(Vec<U>, Option<String>), w::Error> {
        let found = found.map_err(|e| self.emi_error(e))?;
        Ok((found.items.into_iter().map(told).collect(), found.next))
    }

    fn json(&self, told: &impl Serialize) -> Result<String, w::Error> {
        let told = serde_json::to_string(told);
        told.map_err(|error| w::Error::Other(internal(self.context, "emi", &error)))
    }

    fn emi_error(&self, error: Error) -> w::Error {
        match error {
            Error::NotFound => w::Error::NotFound,
            Error::Invalid { field, message } => w::Error::Invalid((field.to_owned(), message)),
            Error::NotOffered { .. } => w::Error::NotOffered(error.to_string()),
            Error::Finished => w::Error::Finished,
            Error::NotRetryable => w::Error::NotFailed,
            Error::NotReceived => w::Error::NotReceived,
            Error::NotReady => w::Error::Unfinished,
            Error::WrongDigest => w::Error::WrongDigest,
            Error::TooLarge { max } => w::Error::TooLarge(max),
            Error::Signature => w::Error::Signature,
            Error::Full { .. } => w::Error::Quota(error.to_string()),
            Error::Busy { .. } => w::Error::Busy(error.to_string()),
            Error::Stopping => w::Error::Stopping,
            Error::Blob { .. } | Error::Store(_) => {
                w::Error::Other(internal(self.context, "emi", &error))
            }
        }
    }
}

/// The absolute address of a file, which needs no credential.
fn address(base: &str, path: &str, signed: &analysis::Signed) -> String {
    let (expires, signature) = (signed.expires_s, &signed.signature);
    format!("{base}/api/emi/{path}?expires={expires}&signature={signature}")
}

fn page(limit: u32, cursor: Option<String>) -> Result<Page, w::Error> {
    if let Some(rule) = cursor.as_deref().and_then(cursor_rule) {
        return Err(w::Error::Invalid(("cursor".to_owned(), rule.to_owned())));
    }
    Ok(Page {
        limit: limit as usize,
        cursor,
    })
}

fn seconds(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
