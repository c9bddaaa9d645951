//! The web application: the files of `web/dist`, which are in the binary. They are for everybody; what they show, they ask
//! the API for.
//!
//! ```text
//! /devices, /sign-in, …          index.html, checked with the server each time
//! /assets/<hash of all>/app.js   the rest, kept by browsers for ever
//! ```

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderName, IF_NONE_MATCH, REFERRER_POLICY, VARY,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use libdeflater::{CompressionLvl, Compressor};
use sha2::{Digest, Sha256};

use crate::http::body::ResponseBody;
use crate::http::people::{BOARDS, wants_page};

/// What the application may do: run its own script with its own style, and call this server. No page of it changes that.
pub(crate) const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
);

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The page that begins the application, whatever it is to show.
const INDEX: &str = "index.html";

/// Where its other files are, each below a hash of all.
const ASSETS: &str = "/assets/";

/// A page is checked with the server before it is shown: it leads to the files of this version.
const CHECKED: HeaderValue = HeaderValue::from_static("no-cache");

/// Files below another hash are other files, so these never change.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Largest file of a folder that is being edited; source maps have some megabytes.
const EDITED_BYTES_MAX: u64 = 32 << 20;

/// Bytes of a digest that tell versions apart.
const ETAG_BYTES: usize = 8;

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../web/dist/", $name)).as_slice())),*]
    };
}

/// The files that `cargo xtask web` makes.
const EMBEDDED: [(&str, &[u8]); 5] = embedded![
    "index.html",
    "app.js",
    "style.css",
    "theme.js",
    "LICENSES.txt",
];

/// The application, as it is in the binary or in a folder where it is being edited.
#[derive(Debug)]
pub struct Web(Place);

#[derive(Debug)]
enum Place {
    Embedded {
        /// As the index names it.
        hash: String,
        files: Vec<File>,
    },
    Edited(PathBuf),
}

/// A file that is ready to be sent.
#[derive(Debug, Clone)]
struct File {
    name: Cow<'static, str>,
    content: Bytes,
    /// None where it would not be shorter.
    gzip: Option<Bytes>,
    /// A hash of the content, without quotes.
    tag: String,
}

impl Web {
    /// The files in the binary, compressed once.
    ///
    /// # Errors
    /// The index names no folder of assets, so it was not made by `cargo xtask web`.
    pub fn embedded() -> anyhow::Result<Self> {
        let files: Vec<File> = EMBEDDED
            .iter()
            .map(|(name, content)| File::new(Cow::Borrowed(name), Bytes::from_static(content)))
            .collect();
        let index = files.iter().find(|file| file.name == INDEX);
        let index = index.context("find the page in the binary")?;
        let hash = hash_in(&index.content).context("find the assets of the page in the binary")?;
        Ok(Self(Place::Embedded {
            hash: hash.to_owned(),
            files,
        }))
    }

    /// The files of a folder, read each time, for people who edit them.
    ///
    /// # Errors
    /// There is no index in it.
    pub fn edited(folder: &Path) -> anyhow::Result<Self> {
        let index = folder.join(INDEX);
        ensure!(
            index.is_file(),
            "{} is missing: `npm run dev` in web/ makes it",
            index.display()
        );
        Ok(Self(Place::Edited(folder.to_owned())))
    }

    /// The answer to a `GET` or `HEAD` of this path, if it is the application's.
    #[must_use]
    pub(crate) fn answer(&self, path: &str, headers: &HeaderMap) -> Option<Response<ResponseBody>> {
        if let Some(rest) = path.strip_prefix(ASSETS) {
            let (hash, name) = rest.split_once('/')?;
            let is_other = name == INDEX || hash != self.hash()?;
            return (!is_other)
                .then(|| self.file(name))??
                .reply(headers, self.keeping());
        }
        if !(is_page(path) && wants_page(headers)) {
            return None;
        }
        self.file(INDEX)?.reply(headers, CHECKED)
    }

    fn keeping(&self) -> HeaderValue {
        match self.0 {
            Place::Embedded { .. } => KEPT,
            Place::Edited(_) => CHECKED,
        }
    }

    fn hash(&self) -> Option<Cow<'_, str>> {
        match &self.0 {
            Place::Embedded { hash, .. } => Some(Cow::Borrowed(hash)),
            Place::Edited(_) => {
                let index = self.file(INDEX)?;
                hash_in(&index.content).map(|hash| Cow::Owned(hash.to_owned()))
            }
        }
    }

    fn file(&self, name: &str) -> Option<Cow<'_, File>> {
        match &self.0 {
            Place::Embedded { files, .. } => files
                .iter()
                .find(|file| file.name == name)
                .map(Cow::Borrowed),
            Place::Edited(folder) => read(folder, name).map(Cow::Owned),
        }
    }
}

/// A file of a folder that is being edited. It blocks, for as long as a file of a local disk takes.
fn read(folder: &Path, name: &str) -> Option<File> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.starts_with('.') || !name.chars().all(is_plain) {
        return None;
    }
    let path = folder.join(name);
    let size = path
        .metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?
        .len();
    if size > EDITED_BYTES_MAX {
        return None;
    }
    let content = std::fs::read(path).ok()?;
    Some(File::new(Cow::Owned(name.to_owned()), content.into()))
}

/// The hash that an index has in the addresses of its assets.
fn hash_in(index: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(index).ok()?;
    let (_, rest) = text.split_once(ASSETS)?;
    let (hash, _) = rest.split_once('/')?;
    let is_hash = !hash.is_empty() && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some(hash)
}

/// Whether the application shows a page at this path: not what the API, endpoints of their own and files have.
fn is_page(path: &str) -> bool {
    let is_elsewhere = path == "/api" || path.starts_with("/api/") || path.starts_with(BOARDS);
    let last = path.rsplit('/').next().unwrap_or_default();
    !is_elsewhere && !last.contains('.')
}

impl File {
    fn new(name: Cow<'static, str>, content: Bytes) -> Self {
        let digest = Sha256::digest(&content);
        let tag = digest.iter().take(ETAG_BYTES);
        Self {
            name,
            gzip: compressed(&content),
            tag: tag.map(|byte| format!("{byte:02x}")).collect(),
            content,
        }
    }

    fn content_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("map") => "application/json",
            _ => "text/plain; charset=utf-8",
        }
    }

    /// None only if a tag made no header, which hexadecimal digits do.
    fn reply(&self, headers: &HeaderMap, keeping: HeaderValue) -> Option<Response<ResponseBody>> {
        let gzip = self.gzip.as_ref().filter(|_| takes_gzip(headers));
        // Each form has a tag of its own: caches must not answer for one with the other.
        let form = if gzip.is_some() { "-gzip" } else { "" };
        let tag = HeaderValue::from_str(&format!("\"{}{form}\"", self.tag)).ok()?;
        let is_known = self.is_known(headers);
        let body = match (is_known, gzip) {
            (true, _) => ResponseBody::empty(),
            (false, Some(gzip)) => ResponseBody::full(gzip.clone()),
            (false, None) => ResponseBody::full(self.content.clone()),
        };
        let mut response = Response::new(body);
        let answer = response.headers_mut();
        answer.insert(ETAG, tag);
        answer.insert(CACHE_CONTROL, keeping);
        answer.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
        answer.insert(CONTENT_SECURITY_POLICY, POLICY);
        answer.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        answer.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Some(response);
        }
        answer.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type()));
        if gzip.is_some() {
            answer.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Some(response)
    }

    /// Whether the client shows that it has this version, in one form or the other.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let values = headers.get_all(IF_NONE_MATCH).iter();
        let mut tags = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|tag| tag.trim().trim_start_matches("W/").trim_matches('"'));
        tags.any(|tag| tag == "*" || tag.strip_suffix("-gzip").unwrap_or(tag) == self.tag)
    }
}

/// By libdeflate, whose best level makes a twentieth less of programs than that of zlib.
fn compressed(content: &[u8]) -> Option<Bytes> {
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut gzip = vec![0; compressor.gzip_compress_bound(content.len())];
    let length = compressor.gzip_compress(content, &mut gzip).ok()?;
    gzip.truncate(length);
    (length < content.len()).then(|| gzip.into())
}

/// Whether the header `Accept-Encoding` names gzip, and does not refuse it.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        is_gzip && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests;
