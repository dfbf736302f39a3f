//! A config and its schema, followed together: unknown keys, and values of a wrong kind.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The first key of a config that its schema does not know: where it stands, and what is wrong.
pub(super) fn unknown_key(schema: &Value, table: &DeTable<'_>) -> Option<(usize, String)> {
    walk(schema, table, false)
}

/// The first value of a config that its schema does not allow, in the words of people who write configs. Names that are
/// also understood are not in the schema: this is for configs that cannot be read.
pub(super) fn wrong_value(schema: &Value, table: &DeTable<'_>) -> Option<(usize, String)> {
    walk(schema, table, true)
}

fn walk(schema: &Value, table: &DeTable<'_>, values: bool) -> Option<(usize, String)> {
    let mut walk = Walk {
        root: schema,
        values,
        problem: None,
    };
    walk.table(schema, table, "");
    walk.problem
}

/// Follows a config and its schema together, up to the first mistake.
struct Walk<'s> {
    root: &'s Value,
    /// Whether values are looked at, too.
    values: bool,
    /// Where, and what is wrong.
    problem: Option<(usize, String)>,
}

impl<'s> Walk<'s> {
    fn table(&mut self, schema: &'s Value, table: &DeTable<'_>, path: &str) {
        let schema = match self.variant(self.resolve(schema), table, path) {
            Ok(schema) => schema,
            Err(problem) => return self.problem = Some(problem),
        };
        let known = schema.get("properties").and_then(Value::as_object);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let (Some(known), true) = (known, closed) else {
            return;
        };
        for (key, value) in table {
            let name: &str = key.get_ref();
            if let Some(schema) = known.get(name) {
                let dot = if path.is_empty() { "" } else { "." };
                self.value(schema, value, &format!("{path}{dot}{name}"));
            } else {
                let place = if path.is_empty() { "the config" } else { path };
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                let other = OTHER_NAMES
                    .iter()
                    .find(|(other, meant)| *other == name && names.contains(meant));
                let meant = match other {
                    Some((_, meant)) => format!(", did you mean '{meant}'?"),
                    None => suggestion(name, &names),
                };
                let problem = format!("unknown key '{name}' in {place}{meant}");
                self.problem = Some((key.span().start, problem));
            }
            if self.problem.is_some() {
                return;
            }
        }
    }

    /// Of a schema with several kinds, that of the kind that the table names: under a key such as `kind` or `engine`, or
    /// as its only key.
    fn variant(
        &self,
        schema: &'s Value,
        table: &DeTable<'_>,
        path: &str,
    ) -> Result<&'s Value, (usize, String)> {
        let Some(variants) = schema.get("oneOf").and_then(Value::as_array) else {
            return Ok(schema);
        };
        let Some(key) = variants.iter().find_map(tag_key) else {
            return only_key(variants, table, path).map(|found| found.unwrap_or(schema));
        };
        let tag = |variant: &'s Value| variant["properties"][key]["const"].as_str();
        let kinds: Vec<&str> = variants.iter().filter_map(tag).collect();
        let Some(value) = table.get(key) else {
            let offset = table.keys().next().map_or(0, |key| key.span().start);
            return Err((
                offset,
                format!(
                    "the key '{key}' is missing in {path}; {key}s are {}",
                    kinds.join(", ")
                ),
            ));
        };
        let kind = value.get_ref().as_str().unwrap_or_default();
        let found = variants.iter().find(|variant| tag(variant) == Some(kind));
        found.ok_or_else(|| {
            (
                value.span().start,
                format!("unknown {key} '{kind}' in {path}{}", suggestion(kind, &kinds)),
            )
        })
    }

    fn value(&mut self, schema: &'s Value, value: &Spanned<DeValue<'_>>, path: &str) {
        if self.values
            && let Some(problem) = self.mismatch(schema, value.get_ref(), path)
        {
            self.problem = Some((value.span().start, problem));
            return;
        }
        match value.get_ref() {
            DeValue::Table(table) => self.table(schema, table, path),
            DeValue::Array(array) => {
                let Some(items) = self.items(schema) else { return };
                for (index, item) in array.iter().enumerate() {
                    self.value(items, item, &format!("{path}[{index}]"));
                    if self.problem.is_some() {
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    /// What is wrong with a value, if its kind is.
    fn mismatch(&self, schema: &'s Value, value: &DeValue<'_>, path: &str) -> Option<String> {
        if self.accepts(schema, value) {
            return None;
        }
        let mut wanted = Wanted::default();
        self.wanted(schema, &mut wanted);
        Some(match value {
            DeValue::String(text) if !wanted.names.is_empty() => {
                format!(
                    "unknown value '{text}' of {path}{}",
                    suggestion(text, &wanted.names)
                )
            }
            DeValue::String(text) if wanted.kinds == ["a list"] => {
                format!("{path} is a list: write [\"{text}\"]")
            }
            value => {
                let names = wanted.names.iter().map(|name| format!("'{name}'"));
                let kinds = wanted.kinds.iter().map(|kind| (*kind).to_owned());
                let all: Vec<String> = kinds.chain(names).collect();
                format!("{path} should be {}, and is {}", all.join(" or "), kind_of(value))
            }
        })
    }

    /// Whether a schema allows a value, as far as that can be told without looking inside.
    fn accepts(&self, schema: &'s Value, value: &DeValue<'_>) -> bool {
        let schema = self.resolve(schema);
        if let Some(choices) = choices(schema) {
            return choices.iter().any(|choice| self.accepts(choice, value));
        }
        let text = match value {
            DeValue::String(text) => Some(text.as_ref()),
            _ => None,
        };
        if let Some(name) = schema.get("const") {
            return name.as_str() == text;
        }
        if let Some(names) = schema.get("enum").and_then(Value::as_array) {
            return names.iter().any(|name| text.is_some() && name.as_str() == text);
        }
        let is = |kind: &Value| match (kind.as_str(), value) {
            (Some("integer"), DeValue::Integer(number)) => {
                let from_zero = schema
                    .get("minimum")
                    .and_then(Value::as_f64)
                    .is_some_and(|least| least >= 0.0);
                !(from_zero && number.as_str().starts_with('-'))
            }
            (Some("number"), DeValue::Integer(_) | DeValue::Float(_))
            | (Some("string"), DeValue::String(_))
            | (Some("boolean"), DeValue::Boolean(_))
            | (Some("array"), DeValue::Array(_))
            | (Some("object"), DeValue::Table(_)) => true,
            _ => false,
        };
        match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(is),
            Some(kind) => is(kind),
            None => true,
        }
    }

    /// What a schema allows, in words.
    fn wanted(&self, schema: &'s Value, wanted: &mut Wanted<'s>) {
        let schema = self.resolve(schema);
        if let Some(choices) = choices(schema) {
            return choices.iter().for_each(|choice| self.wanted(choice, wanted));
        }
        let names = schema.get("enum").and_then(Value::as_array);
        let names = names.into_iter().flatten().chain(schema.get("const"));
        let count = wanted.names.len();
        wanted.names.extend(names.filter_map(Value::as_str));
        if wanted.names.len() > count {
            return;
        }
        let kinds = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.and_then(Value::as_str).into_iter().collect::<Vec<_>>(),
        };
        let from_zero = schema.get("minimum").is_some();
        for kind in kinds {
            let kind = match kind {
                "integer" if from_zero => "a whole number from 0",
                "integer" => "a whole number",
                "number" => "a number",
                "string" => "text in quotes",
                "boolean" => "true or false",
                "array" => "a list",
                "object" => "a table",
                _ => continue,
            };
            if !wanted.kinds.contains(&kind) {
                wanted.kinds.push(kind);
            }
        }
    }

    /// A schema that points to another one is that one; one that allows nothing instead is what it allows.
    fn resolve(&self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        // Every step leads to another schema, and no schema of ours is in itself.
        loop {
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                let pointer = reference.trim_start_matches('#');
                schema = self.root.pointer(pointer).unwrap_or(&Value::Null);
            } else if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
                let mut something = choices.iter().filter(|choice| choice["type"] != "null");
                match (something.next(), something.next()) {
                    (Some(only), None) => schema = only,
                    _ => return schema,
                }
            } else {
                return schema;
            }
        }
    }

    fn items(&self, schema: &'s Value) -> Option<&'s Value> {
        self.resolve(schema).get("items")
    }
}

/// What a schema allows.
#[derive(Default)]
struct Wanted<'s> {
    kinds: Vec<&'static str>,
    names: Vec<&'s str>,
}

/// The schemas of which a value has to fit one.
fn choices(schema: &Value) -> Option<&Vec<Value>> {
    let choices = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    choices.and_then(Value::as_array)
}

/// What a value is, in words.
fn kind_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Keys by names that other programs have for them.
const OTHER_NAMES: [(&str, &str); 4] = [
    ("min", "threshold"),
    ("minimum", "threshold"),
    ("cutoff", "threshold"),
    ("words", "names"),
];

/// The key whose value tells a variant apart from others.
fn tag_key(variant: &Value) -> Option<&str> {
    let mut properties = variant.get("properties")?.as_object()?.iter();
    let (key, _) = properties.find(|(_, schema)| schema.get("const").is_some())?;
    Some(key)
}

/// Of variants that are tables with one key, the one whose key the table has.
fn only_key<'s>(
    variants: &'s [Value],
    table: &DeTable<'_>,
    path: &str,
) -> Result<Option<&'s Value>, (usize, String)> {
    let keys = |variant: &'s Value| {
        let properties = variant.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys())
    };
    let Some((key, _)) = table.iter().next() else {
        return Ok(None);
    };
    let name: &str = key.get_ref();
    if let Some(found) = variants
        .iter()
        .find(|variant| keys(variant).any(|known| known == name))
    {
        return Ok(Some(found));
    }
    let known: Vec<&str> = variants.iter().flat_map(keys).map(String::as_str).collect();
    let problem = format!("unknown key '{name}' in {path}{}", suggestion(name, &known));
    Err((key.span().start, problem))
}

/// The known name that was probably meant.
fn suggestion(name: &str, known: &[&str]) -> String {
    let closest = known
        .iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(name, known), *known))
        .max_by(|left, right| left.0.total_cmp(&right.0));
    match closest {
        Some((likeness, known)) if likeness >= 0.5 => format!(", did you mean '{known}'?"),
        _ if known.is_empty() => String::new(),
        _ => {
            let mut names = known.to_vec();
            names.sort_unstable();
            names.dedup();
            format!("; known are {}", names.join(", "))
        }
    }
}
