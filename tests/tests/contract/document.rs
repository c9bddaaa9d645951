//! The served OpenAPI document: what it says about each operation, and whether an answer matches its
//! description.

use serde_json::Value;
use tests::{Reply, Server};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Kinds of credentials, by the name of their security scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    ApiKey,
    UserSession,
    CloudSession,
}

pub(crate) const KINDS: [(Kind, &str); 3] = [
    (Kind::ApiKey, "apiKey"),
    (Kind::UserSession, "userSession"),
    (Kind::CloudSession, "cloudSession"),
];

pub(crate) struct Document {
    root: Value,
    operations: Vec<Operation>,
}

/// One operation, as documented.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    /// Upper case.
    pub(crate) method: String,
    /// With `{placeholders}`.
    pub(crate) path: String,
    /// None: public.
    pub(crate) accepts: Vec<Kind>,
    pub(crate) scope: Option<String>,
    /// 0: the server reads no body.
    pub(crate) body_bytes_max: usize,
    /// Example of its JSON body, if it takes one.
    pub(crate) example: Option<Value>,
    /// Whether JSON is the only media type of its body.
    pub(crate) only_json: bool,
    pub(crate) is_socket: bool,
    members: Value,
}

impl Document {
    pub(crate) fn of(server: &Server) -> Self {
        let root = server.anonymous().get("/api/openapi.json");
        let root = root.unwrap().expect(200);
        let paths = root["paths"].as_object().unwrap();
        let operations = paths.iter().flat_map(|(path, item)| {
            let at = |method| item.get(method).map(|members| (method, members));
            let present = METHODS.into_iter().filter_map(at);
            present.map(move |(method, members)| operation(path, method, members))
        });
        let operations = operations.collect();
        Self { root, operations }
    }

    pub(crate) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    pub(crate) fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations().find(|o| o.name == name)
    }

    /// Whether requests to `path`, below `/api`, reach this operation: the path fits, and no path
    /// with fewer placeholders does.
    pub(crate) fn leads_to(&self, path: &str, operation: &Operation) -> bool {
        let placeholders = |o: &Operation| o.path.matches('{').count();
        let same = self.operations().filter(|o| o.method == operation.method);
        let best = same
            .filter(|o| o.fits(path))
            .min_by_key(|o| placeholders(o));
        best.is_some_and(|best| best.name == operation.name)
    }

    /// A method that no operation takes at `path`.
    pub(crate) fn other_method(&self, path: &str) -> &'static str {
        let at: Vec<&Operation> = self.operations().filter(|o| o.fits(path)).collect();
        let takes = |method: &str| at.iter().any(|o| o.method == method);
        let all = ["PUT", "PATCH", "DELETE", "POST", "GET"];
        let free = all.into_iter().find(|method| !takes(method));
        free.expect("no path takes all methods")
    }

    /// Why the document does not describe an answer like this one.
    ///
    /// # Errors
    /// The reason.
    pub(crate) fn describes(&self, operation: &Operation, reply: &Reply) -> Result<(), String> {
        let responses = &operation.members["responses"];
        let status = reply.status.to_string();
        let response = responses.get(&status).or_else(|| responses.get("default"));
        let response = self.resolve(response.ok_or("no such status is documented")?);
        let Some(content) = response["content"].as_object() else {
            let empty = reply.text.is_empty();
            return empty
                .then_some(())
                .ok_or_else(|| "a body is not documented".into());
        };
        let media_type = reply.header("content-type").unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default();
        let content = content
            .get(essence)
            .ok_or_else(|| format!("content type {essence} is not documented"))?;
        if essence != "application/json" {
            return Ok(());
        }
        let body: Value =
            serde_json::from_str(&reply.text).map_err(|e| format!("not JSON: {e}"))?;
        let code = body["code"].as_str().filter(|_| reply.status >= 400);
        if let Some(code) = code
            && content["examples"].get(code).is_none()
        {
            return Err(format!(
                "{code} is not documented: add \"refusals\": [\"{code}\"] to the route's openapi"
            ));
        }
        self.fits(&content["schema"], &body)
    }

    /// Why the document does not allow a JSON body.
    ///
    /// # Errors
    /// The reason.
    pub(crate) fn takes(&self, operation: &Operation, body: &str) -> Result<(), String> {
        let body = serde_json::from_str(body).map_err(|e| format!("not JSON: {e}"))?;
        let content = &operation.members["requestBody"]["content"];
        self.fits(&content["application/json"]["schema"], &body)
    }

    fn resolve<'a>(&'a self, member: &'a Value) -> &'a Value {
        let pointer = member["$ref"].as_str().and_then(|r| r.strip_prefix('#'));
        pointer.map_or(member, |pointer| self.root.pointer(pointer).unwrap())
    }

    /// Why a value does not fit a schema of the document.
    ///
    /// # Errors
    /// Where it does not, and the reason.
    pub(crate) fn fits(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let mut schema = schema.clone();
        // References are resolved inside it.
        if let Value::Object(keywords) = &mut schema {
            keywords.insert("components".to_owned(), self.components());
        }
        let validator = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .build(&schema);
        let validator = validator.map_err(|e| format!("the schema is wrong: {e}"))?;
        let misfit = validator.iter_errors(value).next();
        misfit.map_or(Ok(()), |e| Err(format!("{}: {e}", e.instance_path())))
    }

    fn components(&self) -> Value {
        serde_json::json!({"schemas": self.root["components"]["schemas"]})
    }
}

impl Operation {
    /// Status of its documented success.
    pub(crate) fn success_status(&self) -> &str {
        let responses = self.members["responses"].as_object().unwrap();
        let success = responses.keys().find(|s| s.starts_with('2') || *s == "101");
        success.map_or("200", String::as_str)
    }

    /// Its path, query and header parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Value> {
        self.members["parameters"].as_array().into_iter().flatten()
    }

    /// The schema of its body with this media type.
    pub(crate) fn body(&self, media_type: &str) -> Option<&Value> {
        let content = &self.members["requestBody"]["content"];
        content.get(media_type)?.get("schema")
    }

    fn fits(&self, path: &str) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        let (mut wanted, mut given) = (self.path.split('/').skip(2), path.split('/').skip(1));
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (Some(wanted), Some(given)) if wanted == given || wanted.starts_with('{') => {}
                _ => return false,
            }
        }
    }
}

fn operation(path: &str, method: &str, members: &Value) -> Operation {
    let text = |name: &str| members[name].as_str().map(str::to_owned);
    let security = members["security"].as_array().cloned().unwrap_or_default();
    let accepts = KINDS
        .iter()
        .filter(|(_, scheme)| security.iter().any(|s| s.get(scheme).is_some()))
        .map(|(kind, _)| *kind);
    let content = &members["requestBody"]["content"];
    let json = content.get("application/json");
    let body_bytes_max = members["x-body-bytes-max"].as_u64().unwrap_or(0);
    Operation {
        name: text("operationId").unwrap(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        accepts: accepts.collect(),
        scope: text("x-required-scope"),
        body_bytes_max: usize::try_from(body_bytes_max).unwrap(),
        example: json.map(|json| json["example"].clone()),
        only_json: json.is_some() && content.as_object().is_some_and(|c| c.len() == 1),
        is_socket: members["responses"].get("101").is_some(),
        members: members.clone(),
    }
}
