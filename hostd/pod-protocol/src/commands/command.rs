//! The description of one command, built by chained `const` methods.

use serde_json::{Map, Value};

use super::{Change, Data, Field, Gate, Out, Tier};

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// The value of `cmd`.
    pub verb: &'static str,
    /// What it does, in one line.
    pub meaning: &'static str,
    /// What a link must be allowed; see [`tier_of`](Self::tier_of).
    pub tier: Tier,
    /// Requests of a reading command that change settings.
    pub changes: &'static [Change],
    /// Only reads, and consumes or occupies nothing: works while a cloud job holds the pod.
    pub light: bool,
    /// Works while the pod is in safe mode.
    pub safe_mode: bool,
    /// Preconditions, in the order in which pods check them.
    pub gates: &'static [Gate],
    /// The shape of the answer.
    pub answer: Answer,
    /// When it wants a connection of its own.
    pub(crate) own_connection: OwnConnection,
    /// Request fields in ms that deliberately delay the answer; they add up.
    pub waits: &'static [&'static str],
    /// The fields of a request besides `cmd`.
    pub fields: &'static [Field],
    /// What `data` of a single reply holds.
    pub data: Data,
    /// What the lines of a chunked answer hold besides `status` and `more`.
    pub chunk: &'static [Out],
    /// Its own refusals, besides those of its gates and fields.
    pub denials: &'static [Denied],
    /// Requests that a pod accepts.
    pub examples: &'static [Example],
}

/// How a command is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// One line.
    Line,
    /// Lines with `more`, the last one without or false.
    Chunks,
    /// One line and then raw bytes, as described.
    Raw(&'static str),
}

/// When a command needs its own connection rather than a shared one that carries single lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnConnection {
    /// Never: one line in, one line out.
    Never,
    /// Always: several lines, raw bytes, or state that belongs to the connection.
    Always,
    /// When this field is above this number.
    Above(&'static str, u64),
    /// Unless this field is one of these words.
    Unless(&'static str, &'static [&'static str]),
}

/// A refusal.
#[derive(Debug, Clone, Copy)]
pub struct Denied {
    /// How the text begins.
    pub text: &'static str,
    /// When it is given.
    pub when: &'static str,
    /// Requests of which the last gets this refusal; empty if that takes more than requests.
    pub provoke: &'static [&'static str],
}

/// A request that succeeds, and what must come before it.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Requests before it, on the same connection. An upload is followed by zeros.
    pub before: &'static [&'static str],
    /// The request.
    pub request: &'static str,
}

impl Denied {
    /// A refusal, and requests of which the last gets it.
    pub const fn new(
        text: &'static str,
        when: &'static str,
        provoke: &'static [&'static str],
    ) -> Self {
        Self {
            text,
            when,
            provoke,
        }
    }
}

impl Example {
    /// A request that needs nothing before it.
    pub const fn new(request: &'static str) -> Self {
        Self {
            before: &[],
            request,
        }
    }

    /// A request after others.
    pub const fn after(before: &'static [&'static str], request: &'static str) -> Self {
        Self { before, request }
    }
}

impl Command {
    /// A command with one line of answer, without fields.
    pub const fn new(verb: &'static str, tier: Tier, meaning: &'static str) -> Self {
        Self {
            verb,
            meaning,
            tier,
            changes: &[],
            light: false,
            safe_mode: false,
            gates: &[],
            answer: Answer::Line,
            own_connection: OwnConnection::Never,
            waits: &[],
            fields: &[],
            data: Data::Null,
            chunk: &[],
            denials: &[],
            examples: &[],
        }
    }

    /// A command that only reads and has no fields.
    pub const fn light(verb: &'static str, meaning: &'static str) -> Self {
        let mut command = Self::new(verb, Tier::Read, meaning);
        command.light = true;
        command
    }

    /// Reads, or changes stored settings when one of these applies.
    pub(crate) const fn read_or_set(
        verb: &'static str,
        changes: &'static [Change],
        meaning: &'static str,
    ) -> Self {
        let mut command = Self::light(verb, meaning);
        command.changes = changes;
        command
    }

    /// Works in safe mode.
    pub(crate) const fn in_safe_mode(mut self) -> Self {
        self.safe_mode = true;
        self
    }

    /// Requires these gates.
    pub const fn gates(mut self, gates: &'static [Gate]) -> Self {
        self.gates = gates;
        self
    }

    /// Answers in several lines with these fields.
    pub const fn chunks(mut self, chunk: &'static [Out]) -> Self {
        self.answer = Answer::Chunks;
        self.own_connection = OwnConnection::Always;
        self.chunk = chunk;
        self
    }

    /// Turns the connection to raw bytes.
    pub const fn raw(mut self, then: &'static str) -> Self {
        self.answer = Answer::Raw(then);
        self.own_connection = OwnConnection::Always;
        self
    }

    /// When it wants a connection of its own.
    pub(crate) const fn own_connection(mut self, when: OwnConnection) -> Self {
        self.own_connection = when;
        self
    }

    /// Delays its answer by these fields.
    pub const fn waits(mut self, fields: &'static [&'static str]) -> Self {
        self.waits = fields;
        self
    }

    /// Takes these fields.
    pub const fn fields(mut self, fields: &'static [Field]) -> Self {
        self.fields = fields;
        self
    }

    /// Answers with this data.
    pub const fn data(mut self, data: Data) -> Self {
        self.data = data;
        self
    }

    /// Refuses for these reasons.
    pub const fn denials(mut self, denials: &'static [Denied]) -> Self {
        self.denials = denials;
        self
    }

    /// Takes these requests.
    pub const fn examples(mut self, examples: &'static [Example]) -> Self {
        self.examples = examples;
        self
    }

    /// What a link must be allowed to send `request`, which must be one of this command.
    pub fn tier_of(&self, request: &Map<String, Value>) -> Tier {
        if self.changes.iter().any(|change| change.applies(request)) {
            Tier::Settings
        } else {
            self.tier
        }
    }

    /// Whether `request` only reads, so that it works while a cloud job holds the pod.
    pub fn is_light_read(&self, request: &Map<String, Value>) -> bool {
        self.light && self.tier_of(request) == Tier::Read
    }

    /// Whether `request` needs the analog front end.
    pub fn needs_analog(&self, request: &Map<String, Value>) -> bool {
        let analog = |gate: &Gate| matches!(gate, Gate::Analog | Gate::AnalogFor(_));
        let mut gates = self.gates.iter().filter(|gate| analog(gate));
        gates.any(|gate| gate.applies(request))
    }

    /// Whether it requires this gate.
    pub fn has_gate(&self, gate: Gate) -> bool {
        self.gates.contains(&gate)
    }

    /// Whether `request` wants a connection of its own.
    pub(crate) fn needs_own_connection(&self, request: &Map<String, Value>) -> bool {
        match self.own_connection {
            OwnConnection::Never => false,
            OwnConnection::Always => true,
            OwnConnection::Above(field, limit) => {
                let asked = request.get(field).and_then(Value::as_u64);
                asked.is_some_and(|asked| asked > limit)
            }
            OwnConnection::Unless(field, words) => {
                let word = request.get(field).and_then(Value::as_str);
                !word.is_some_and(|word| words.contains(&word))
            }
        }
    }
}
