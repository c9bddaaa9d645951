// Shows /api/openapi.json. Builds every node by hand and never parses text as HTML, so that nothing in
// the document can become markup.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];

// Deepest nesting of members that is shown.
const DEPTH_MAX = 6;

function node(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Text with `code` in backticks.
function prose(text) {
  const parts = String(text || "").split("`");
  return parts.map((part, i) => (i % 2 ? node("code", null, part) : document.createTextNode(part)));
}

function json(value) {
  return node("pre", null, typeof value === "string" ? value : JSON.stringify(value, null, 2));
}

function resolve(root, value) {
  let found = value;
  for (let hops = 0; found && found.$ref && hops < 8; hops += 1) {
    const path = found.$ref.slice(2).split("/");
    found = path.reduce((at, part) => at && at[part], root);
  }
  return found || {};
}

// A schema's type and rules in a few words.
function rules(schema) {
  const words = [];
  if (schema.oneOf || schema.anyOf) words.push((schema.oneOf ? "one" : "any") + " of several");
  const types = [].concat(schema.type || []);
  words.push(types.map((t) => (t === "array" ? "list" : t)).join(" or "));
  if (schema.format) words.push(schema.format);
  if (schema.enum) words.push(schema.enum.filter((word) => word !== null).join(" | "));
  const range = (low, high, unit) => {
    if (low !== undefined && high !== undefined) words.push(`${low} to ${high}${unit}`);
    else if (low !== undefined) words.push(`at least ${low}${unit}`);
    else if (high !== undefined) words.push(`at most ${high}${unit}`);
  };
  if (schema.exclusiveMinimum !== undefined) words.push(`more than ${schema.exclusiveMinimum}`);
  range(schema.minimum, schema.maximum, "");
  if (schema.exclusiveMaximum !== undefined) words.push(`less than ${schema.exclusiveMaximum}`);
  range(schema.minLength, schema.maxLength, " characters");
  range(schema.minItems, schema.maxItems, " items");
  if (schema.pattern) words.push(schema.pattern);
  if (schema.default !== undefined) words.push(`default ${JSON.stringify(schema.default)}`);
  return words.filter(Boolean).join(", ");
}

// Rows for the members of a schema, those of nested ones below their parents'.
function members(root, given, prefix, depth, rows) {
  const schema = resolve(root, given);
  if (depth > DEPTH_MAX) return rows;
  for (const some of schema.oneOf || schema.anyOf || schema.allOf || []) {
    members(root, some, prefix, depth + 1, rows);
  }
  for (const [name, value] of Object.entries(schema.properties || {})) {
    const member = resolve(root, value);
    const path = prefix + name;
    const must = (schema.required || []).includes(name);
    rows.push(row(path, rules(member), must, member.description));
    members(root, member, `${path}.`, depth + 1, rows);
  }
  if (schema.items) members(root, schema.items, `${prefix.replace(/\.$/, "")}[].`, depth + 1, rows);
  return rows;
}

function row(name, type, must, description) {
  const required = must ? node("span", { class: "must" }, " required") : null;
  return node(
    "tr",
    null,
    node("td", null, node("code", null, name), required),
    node("td", { class: "type" }, type),
    node("td", null, prose(description)),
  );
}

function table(rows) {
  return rows.length ? node("table", null, rows) : null;
}

function content(root, body) {
  return Object.entries(body || {}).flatMap(([type, given]) => [
    node("p", { class: "facts" }, node("code", null, type)),
    table(members(root, given.schema || {}, "", 0, [])),
    given.example === undefined ? null : json(given.example),
  ]);
}

// Who may use an operation, in words.
function access(operation) {
  const kinds = { apiKey: "API key", userSession: "signed-in person", cloudSession: "session token" };
  const names = (operation.security || []).flatMap((one) => Object.keys(one)).map((kind) => kinds[kind] || kind);
  const facts = ["Takes: ", node("b", null, names.join(", ") || "nobody in particular")];
  if (operation["x-required-scope"]) facts.push(" · scope ", node("b", null, operation["x-required-scope"]));
  const limit = operation["x-body-bytes-max"];
  if (limit) facts.push(` · body up to ${limit >= 1 << 20 ? `${Math.round(limit / (1 << 20))} MiB` : `${limit} bytes`}`);
  return node("p", { class: "facts" }, facts);
}

function curl(path, method, operation) {
  const words = ["curl -s"];
  if (method !== "get") words.push(`-X ${method.toUpperCase()}`);
  const kinds = (operation.security || []).flatMap((one) => Object.keys(one));
  if (kinds.includes("apiKey")) words.push('-H "Authorization: ApiKey $HOSTD_KEY"');
  else if (kinds.length) words.push('-H "Authorization: Bearer $TOKEN"');
  const body = Object.entries((operation.requestBody && operation.requestBody.content) || {})[0];
  if (body) {
    words.push(`-H "Content-Type: ${body[0]}"`);
    const sent = body[0] === "application/json" ? `'${JSON.stringify(body[1].example)}'` : "@file";
    words.push(`${sent === "@file" ? "--data-binary" : "-d"} ${sent}`);
  }
  return node("pre", null, `${words.join(" \\\n  ")} \\\n  "${location.origin}${path}"`);
}

function errors(root, responses) {
  const refused = Object.entries(responses).filter(([status]) => /^[45]|default/.test(status));
  const rows = refused.flatMap(([, given]) => {
    const body = (resolve(root, given).content || {})["application/json"] || {};
    return Object.entries(body.examples || {}).map(([code, example]) => [code, resolve(root, example)]);
  });
  const status = (code) => refused.find(([, given]) => {
    const body = (resolve(root, given).content || {})["application/json"] || {};
    return code in (body.examples || {});
  })[0];
  return rows.map(([code, example]) => row(code, status(code), false, example.summary));
}

function detail(root, path, method, operation) {
  const part = (title, ...parts) => {
    const shown = parts.flat().filter(Boolean);
    return shown.length ? [node("h3", null, title), ...shown] : [];
  };
  const parameters = (operation.parameters || []).map((p) =>
    row(p.name, `${p.in}, ${rules(p.schema || {})}`, p.required, p.description));
  const good = Object.entries(operation.responses).filter(([status]) => /^[123]/.test(status));
  return node(
    "div",
    null,
    access(operation),
    operation.description ? node("p", null, prose(operation.description)) : null,
    part("Parameters", table(parameters)),
    part("Body", content(root, operation.requestBody && operation.requestBody.content)),
    good.flatMap(([status, given]) => [
      node("h3", null, `Answer ${status}`),
      node("p", null, prose(given.description)),
      ...content(root, given.content),
    ]),
    part("Refusals", table(errors(root, operation.responses))),
    method === "ws" ? [] : part("Try", curl(path, method, operation)),
  );
}

function show(root) {
  const groups = new Map();
  for (const [path, item] of Object.entries(root.paths)) {
    for (const method of METHODS.filter((m) => item[m])) {
      const operation = item[method];
      const shown = operation.responses["101"] ? "ws" : method;
      const made = node(
        "details",
        { class: "operation", id: operation.operationId },
        node(
          "summary",
          null,
          node("span", { class: `method ${shown}` }, shown.toUpperCase()),
          node("code", null, path),
          node("span", { class: "summary" }, operation.summary),
        ),
      );
      // What is never opened need not be built.
      made.addEventListener("toggle", () => {
        if (made.open && made.children.length === 1) made.append(detail(root, path, shown, operation));
      });
      made.words = `${path} ${operation.summary} ${operation.operationId} ${JSON.stringify(operation)}`.toLowerCase();
      const tag = operation.tags[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(made);
    }
  }
  document.getElementById("version").textContent = root.info.version;
  document.getElementById("about").textContent = root.info.summary;
  const tags = [...groups.keys()].sort();
  document.getElementById("contents").replaceChildren(...tags.map((tag) =>
    node("a", { href: `#${tag}` }, `${tag} `, node("small", null, String(groups.get(tag).length)))));
  document.getElementById("operations").replaceChildren(...tags.map((tag) =>
    node("section", null, node("h2", { id: tag }, tag), groups.get(tag))));
}

// Hide what does not hold all the words that are looked for.
function filter(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of document.querySelectorAll("section")) {
    let any = false;
    for (const operation of section.querySelectorAll("details.operation")) {
      const fits = wanted.every((word) => operation.words.includes(word));
      operation.hidden = !fits;
      any = any || fits;
    }
    section.hidden = !any;
  }
}

function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView();
}

fetch("/api/openapi.json")
  .then((answer) => answer.json())
  .then((root) => {
    show(root);
    open();
    window.addEventListener("hashchange", open);
    document.getElementById("search").addEventListener("input", (event) => filter(event.target.value));
  })
  .catch((error) => {
    document.getElementById("operations").textContent = `The document could not be shown: ${error.message}`;
  });
