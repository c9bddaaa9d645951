//! Types and functions of the contract in the words of WIT.

use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind, TypeId};

/// A type where it is used: by its name, if it has one.
pub(super) fn used(resolve: &Resolve, kind: &Type) -> String {
    let Type::Id(id) = kind else {
        return primitive(kind).to_owned();
    };
    let definition = &resolve.types[*id];
    match &definition.name {
        Some(name) => name.clone(),
        None => defined(resolve, *id),
    }
}

/// What a type is.
pub(super) fn defined(resolve: &Resolve, id: TypeId) -> String {
    let used = |kind: &Type| used(resolve, kind);
    let optional = |kind: &Option<Type>| kind.as_ref().map_or("_".to_owned(), used);
    let named = |id: &TypeId| used(&Type::Id(*id));
    let listed = |word: &str, parts: Vec<String>| format!("{word} {{ {} }}", parts.join(", "));
    match &resolve.types[id].kind {
        TypeDefKind::Record(record) => {
            let fields = record.fields.iter();
            let field = |f: &wit_parser::Field| format!("{}: {}", f.name, used(&f.ty));
            listed("record", fields.map(field).collect())
        }
        TypeDefKind::Variant(variant) => {
            let case = |case: &wit_parser::Case| match &case.ty {
                Some(kind) => format!("{}({})", case.name, used(kind)),
                None => case.name.clone(),
            };
            listed("variant", variant.cases.iter().map(case).collect())
        }
        TypeDefKind::Enum(cases) => {
            let names = cases.cases.iter().map(|case| case.name.clone());
            listed("enum", names.collect())
        }
        TypeDefKind::Flags(flags) => {
            let names = flags.flags.iter().map(|flag| flag.name.clone());
            listed("flags", names.collect())
        }
        TypeDefKind::Resource => "resource".to_owned(),
        TypeDefKind::Handle(Handle::Own(id)) => named(id),
        TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", named(id)),
        TypeDefKind::Tuple(tuple) => {
            let types: Vec<_> = tuple.types.iter().map(used).collect();
            format!("tuple<{}>", types.join(", "))
        }
        TypeDefKind::Option(kind) => format!("option<{}>", used(kind)),
        TypeDefKind::Result(result) => match (&result.ok, &result.err) {
            (None, None) => "result".to_owned(),
            (ok, None) => format!("result<{}>", optional(ok)),
            (ok, err) => format!("result<{}, {}>", optional(ok), optional(err)),
        },
        TypeDefKind::List(kind) => format!("list<{}>", used(kind)),
        TypeDefKind::Map(key, value) => format!("map<{}, {}>", used(key), used(value)),
        TypeDefKind::FixedLengthList(kind, length) => format!("list<{}, {length}>", used(kind)),
        TypeDefKind::Future(kind) => format!("future<{}>", optional(kind)),
        TypeDefKind::Stream(kind) => format!("stream<{}>", optional(kind)),
        TypeDefKind::Type(Type::Id(other)) => alias(resolve, *other),
        TypeDefKind::Type(kind) => used(kind),
        TypeDefKind::Unknown => "unknown".to_owned(),
    }
}

/// A type of another interface, with that interface's name.
fn alias(resolve: &Resolve, id: TypeId) -> String {
    let definition = &resolve.types[id];
    let owner = match definition.owner {
        wit_parser::TypeOwner::Interface(owner) => resolve.interfaces[owner].name.as_deref(),
        wit_parser::TypeOwner::World(_) | wit_parser::TypeOwner::None => None,
    };
    match (owner, &definition.name) {
        (Some(owner), Some(name)) => format!("{owner}.{name}"),
        _ => used(resolve, &Type::Id(id)),
    }
}

/// Parameters and result, without the receiver of a method.
pub(super) fn signature(resolve: &Resolve, function: &Function) -> String {
    let params = function.params.iter().filter(|param| param.name != "self");
    let params: Vec<_> = params
        .map(|param| format!("{}: {}", param.name, used(resolve, &param.ty)))
        .collect();
    let result = function.result.as_ref();
    let result = result.map_or(String::new(), |kind| format!(" -> {}", used(resolve, kind)));
    let way = if function.kind.is_async() {
        "async func"
    } else {
        "func"
    };
    format!("{way}({}){result}", params.join(", "))
}

fn primitive(kind: &Type) -> &'static str {
    match kind {
        Type::Bool => "bool",
        Type::U8 => "u8",
        Type::U16 => "u16",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::S8 => "s8",
        Type::S16 => "s16",
        Type::S32 => "s32",
        Type::S64 => "s64",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Char => "char",
        Type::String => "string",
        Type::ErrorContext => "error-context",
        Type::Id(_) => unreachable!("it has a definition"),
    }
}
