//! Reading a config with errors that help.
//!
//! Before the config is read into its types, every key is held against the schema, which knows all keys and
//! where they belong.

use super::Config;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a config, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Line and column of the text, from 1; an override has none.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{line}:{column}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for ConfigError {}

pub(super) fn parse(text: &str, overrides: &[String]) -> Result<Config, ConfigError> {
    let at = |offset: usize| {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        ))
    };
    let syntax = |error: toml::de::Error| ConfigError {
        place: at(error.span().map_or(0, |span| span.start)),
        problem: error.message().trim().to_owned(),
    };
    let schema = Config::schema();
    let table = DeTable::parse(text).map_err(syntax)?;
    if let Some((offset, problem)) = unknown_key(&schema, table.get_ref()) {
        return Err(ConfigError {
            place: at(offset),
            problem,
        });
    }
    let config: Config = match toml::from_str(text) {
        Ok(config) => config,
        Err(error) => {
            let found = wrong_value(&schema, table.get_ref());
            return Err(found.map_or_else(
                || syntax(error),
                |(offset, problem)| ConfigError {
                    place: at(offset),
                    problem,
                },
            ));
        }
    };
    if overrides.is_empty() {
        return Ok(config);
    }
    let mut table: toml::Table = toml::from_str(text).map_err(syntax)?;
    let fail = |problem: String| ConfigError { place: None, problem };
    // A value of a wrong type is blamed on the override after which the config cannot be read.
    let mut wrong = None;
    for text in overrides {
        override_one(&mut table, text).map_err(fail)?;
        let read = Config::deserialize(toml::Value::Table(table.clone()));
        wrong = read.err().and(wrong.or(Some(text)));
    }
    let after = |problem: &str| {
        let blamed = wrong.map_or("after overrides".to_owned(), |text| format!("-o {text}"));
        fail(format!("{blamed}: {}", problem.trim()))
    };
    let written = toml::to_string(&table).map_err(|error| after(&error.to_string()))?;
    let spanned = DeTable::parse(&written).map_err(|error| after(error.message()))?;
    if let Some((_, problem)) = unknown_key(&schema, spanned.get_ref()) {
        return Err(fail(problem));
    }
    Config::deserialize(toml::Value::Table(table)).map_err(|error| {
        let found = wrong_value(&schema, spanned.get_ref());
        match found {
            Some((_, problem)) => after(&problem),
            None => after(error.message()),
        }
    })
}

/// The first key of a config that its schema does not know: where it stands, and what is wrong.
fn unknown_key(schema: &Value, table: &DeTable<'_>) -> Option<(usize, String)> {
    walk(schema, table, false)
}

/// The first value of a config that its schema does not allow, in the words of people who write configs. Names that are
/// also understood are not in the schema: this is for configs that cannot be read.
fn wrong_value(schema: &Value, table: &DeTable<'_>) -> Option<(usize, String)> {
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

/// Follows a config and its schema together, up to the first key that the schema does not know.
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

/// Sets one key: `section.key=value`, or `features[2].lengths=[3]`.
fn override_one(table: &mut toml::Table, text: &str) -> Result<(), String> {
    let (path, value) = text
        .split_once('=')
        .ok_or_else(|| format!("the override '{text}' is not of the form section.key=value"))?;
    // What is no TOML value is meant as text.
    let value = toml::from_str::<toml::Table>(&format!("value = {value}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut steps: Vec<Step> = Vec::new();
    for part in path.trim().split('.') {
        steps.extend(Step::parse(part).ok_or_else(|| format!("'{path}' is no path to a key"))?);
    }
    set(table, &steps, value, path)
}

enum Step {
    Key(String),
    Index(usize),
}

impl Step {
    fn parse(part: &str) -> Option<Vec<Step>> {
        let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        let mut steps = vec![Step::Key(key.to_owned()).filled()?];
        while !rest.is_empty() {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            rest = after;
        }
        Some(steps)
    }

    fn filled(self) -> Option<Self> {
        match &self {
            Step::Key(key) if key.is_empty() => None,
            _ => Some(self),
        }
    }
}

fn set(table: &mut toml::Table, steps: &[Step], value: toml::Value, path: &str) -> Result<(), String> {
    let mut whole = toml::Value::Table(std::mem::take(table));
    let mut at = &mut whole;
    for step in steps {
        at = match (step, at) {
            (Step::Key(key), toml::Value::Table(table)) => table
                .entry(key.clone())
                .or_insert_with(|| toml::Value::Table(toml::Table::new())),
            (Step::Index(index), toml::Value::Array(array)) => {
                let len = array.len();
                array
                    .get_mut(*index)
                    .ok_or_else(|| format!("'{path}' asks for entry {index} of a list with {len}"))?
            }
            // `features.3` is as good as `features[3]`.
            (Step::Key(key), toml::Value::Array(array)) => {
                let index: usize = key.parse().map_err(|_| {
                    format!("'{path}' leads into a list: name an entry by its number, from 0, as in features[3].lengths")
                })?;
                let len = array.len();
                array
                    .get_mut(index)
                    .ok_or_else(|| format!("'{path}' asks for entry {index} of a list with {len}"))?
            }
            _ => return Err(format!("'{path}' leads into a value that is no table")),
        };
    }
    *at = value;
    if let toml::Value::Table(changed) = whole {
        *table = changed;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Config::parse(text, &[]).unwrap_err().to_string()
    }

    #[test]
    fn errors_say_where_and_what_was_meant() {
        for (text, expected) in [
            (
                "features = [{ kind = 'word' }, { kind = 'prefix', lengts = [1] }]",
                "1:51: unknown key 'lengts' in features[1], did you mean 'lengths'?",
            ),
            (
                "[training]\nc3 = 1",
                "2:1: unknown key 'c3' in training, did you mean 'c2'?",
            ),
            (
                "[trainig]\n",
                "1:2: unknown key 'trainig' in the config, did you mean 'training'?",
            ),
            (
                "[[features]]\nkind = 'sufix'",
                "2:8: unknown kind 'sufix' in features[0], did you mean 'suffix'?",
            ),
            (
                "[[features]]\nlower = true",
                "2:1: the key 'kind' is missing in features[0]; kinds are bias",
            ),
            (
                "[model]\norder = 'two'",
                "2:9: model.order should be a whole number from 0, and is the text \"two\"",
            ),
            (
                "[model]\norder = -1",
                "2:9: model.order should be a whole number from 0, and is the number -1",
            ),
            (
                "[labels]\nscheme = 'iobs'",
                "2:10: unknown value 'iobs' of labels.scheme, did you mean 'iobes'?",
            ),
            (
                "[text]\ntokenizer = 'fin'",
                "2:13: unknown value 'fin' of text.tokenizer, did you mean 'fine'?",
            ),
            (
                "[data.read]\nformat = 'conl'",
                "2:10: unknown value 'conl' of data.read.format, did you mean 'conllu'?",
            ),
            ("[data]\ntrain = 'x'", "2:9: data.train is a list: write [\"x\"]"),
            (
                "[training]\nc2 = 'much'",
                "2:6: training.c2 should be a number, and is the text \"much\"",
            ),
            (
                "[features]\nkind = 'word'",
                "1:1: features should be a list, and is a table",
            ),
            (
                "features = [\n{ kind = 'word' },\n{ kind = 'position', of = 'documnt' },\n]",
                "3:27: unknown value 'documnt' of features[1].of, did you mean 'document'?",
            ),
            (
                "[[postprocess]]\nkind = 'confidence'\nmin = 0.5",
                "3:1: unknown key 'min' in postprocess[0], did you mean 'threshold'?",
            ),
            ("window = \n", "1:10: "),
            (
                "zzzzz = 1",
                "1:1: unknown key 'zzzzz' in the config; known are data, description",
            ),
        ] {
            let found = problem(text);
            assert!(found.starts_with(expected), "{text}\n{found}\n{expected}");
        }
    }

    #[test]
    fn schemes_have_the_names_of_the_command_line() {
        for (name, scheme) in [("bio", "iob2"), ("bioes", "iobes"), ("bilou", "iobes")] {
            let config = Config::parse(&format!("[labels]\nscheme = '{name}'"), &[]).unwrap();
            assert!(
                config.to_toml().contains(&format!("scheme = \"{scheme}\"")),
                "{name}"
            );
        }
    }

    #[test]
    fn of_several_mistakes_the_first_is_told() {
        for (text, expected) in [
            (
                "features = [{ kind = 'wrd' }, { kind = 'sufix' }]",
                "1:22: unknown kind 'wrd' in features[0], did you mean 'word'?",
            ),
            (
                "[[features]]\nkind = 'word'\nlowr = true\n[[features]]\nkind = 'word'\nlowwer = true",
                "3:1: unknown key 'lowr' in features[0], did you mean 'lower'?",
            ),
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
    }

    #[test]
    fn every_section_knows_its_keys() {
        for (text, expected) in [
            (
                "[data]\ntrian = []",
                "2:1: unknown key 'trian' in data, did you mean 'train'?",
            ),
            (
                "[data.read]\nlabel_name = []",
                "2:1: unknown key 'label_name' in data.read, did you mean 'label_names'?",
            ),
            (
                "[text]\nsentences = { mod = 'none' }",
                "2:15: unknown key 'mod' in text.sentences, did you mean 'mode'?",
            ),
            (
                "[text]\ntokenizer = { custm = ['a'] }",
                "2:15: unknown key 'custm' in text.tokenizer, did you mean 'custom'?",
            ),
            (
                "[text]\nnormalize = ['case', { grek = 'name' }]",
                "2:24: unknown key 'grek' in text.normalize[1], did you mean 'greek'?",
            ),
            (
                "[text]\nnormalize = [{ replace = { pair = {} } }]",
                "2:28: unknown key 'pair' in text.normalize[0].replace, did you mean 'pairs'?",
            ),
            (
                "[labels]\ntype = ['X']",
                "2:1: unknown key 'type' in labels, did you mean 'types'?",
            ),
            (
                "[model]\nordr = 1",
                "2:1: unknown key 'ordr' in model, did you mean 'order'?",
            ),
            (
                "[training]\nmax_iteration = 1",
                "2:1: unknown key 'max_iteration' in training, did you mean 'max_iterations'?",
            ),
            (
                "[[postprocess]]\nkind = 'trim'\n[[postprocess]]\nkind = 'confidence'\ntreshold = 0.5",
                "5:1: unknown key 'treshold' in postprocess[1], did you mean 'threshold'?",
            ),
            (
                "[[postprocess]]\nkind = 'stop-list'\nname = ['a']",
                "3:1: unknown key 'name' in postprocess[0], did you mean 'names'?",
            ),
            (
                "[[postprocess]]\nkind = 'stop-list'\ncompare = { ignore_cases = true }",
                "3:13: unknown key 'ignore_cases' in postprocess[0].compare, did you mean 'ignore_case'?",
            ),
            (
                "[[postprocess]]\nkind = 'repeat'\nwithin = { token = 3 }",
                "3:12: unknown key 'token' in postprocess[0].within, did you mean 'tokens'?",
            ),
            (
                "[[postprocess]]\nkind = 'bracket'",
                "2:8: unknown kind 'bracket' in postprocess[0], did you mean 'brackets'?",
            ),
            (
                "[[identify]]\nkind = 'rs-numbers'\nkeyword = []",
                "3:1: unknown key 'keyword' in identify[0], did you mean 'keywords'?",
            ),
            (
                "[[identify]]\nkind = 'dictionary'\nform = { stemm = true }",
                "3:10: unknown key 'stemm' in identify[0].form, did you mean 'stem'?",
            ),
            (
                "[[identify]]\nkind = 'rs-number'",
                "2:8: unknown kind 'rs-number' in identify[0], did you mean 'rs-numbers'?",
            ),
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
    }

    /// What the schema refuses, serde would accept, were a name spelt otherwise there.
    #[test]
    fn every_key_that_can_be_written_is_known() {
        let text = "
            [text]
            sentences = { mode = 'rules', languages = ['german'], abbreviations = ['o. B.'] }
            tokenizer = { custom = ['[0-9]+'] }
            normalize = ['entities', 'dashes', 'quotes', 'case', { greek = 'letter' }, { unicode = 'nfc' },
                { spelling = 'american' }, { replace = { pairs = { a = 'b' }, words = false, ignore-case = true } }]
            [[postprocess]]
            kind = 'stop-list'
            names = ['a']
            compare = { ignore_case = true, dashes = 'alike', spaces = 'ignore' }
            [[postprocess]]
            kind = 'filter'
            matching = 'a'
            not_matching = 'b'
            max_length = 3
            [[postprocess]]
            kind = 'repeat'
            within = { characters = 4 }
            [[postprocess]]
            kind = 'split'
            at = '/'
            [[postprocess]]
            kind = 'confidence'
            types = { GENE = 0.5 }
            [[identify]]
            kind = 'dictionary'
            names = { iron = ['Fe'] }
            form = { normalize = ['entities'], ph_is_f = false }
            [[identify]]
            kind = 'rs-numbers'
            type = 'RS'
        ";
        let config = Config::parse(text, &[]).unwrap();
        assert_eq!(Config::parse(&config.to_toml(), &[]), Ok(config));
    }

    #[test]
    fn overrides_set_keys_at_any_depth() {
        let text = "[[features]]\nkind = 'prefix'\nlengths = [2]\n";
        let set = |overrides: &[&str]| {
            let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
            Config::parse(text, &overrides).map_err(|error| error.to_string())
        };
        let config = set(&[
            "training.c2=0.5",
            "model.order=2",
            "features[0].lengths=[3, 4]",
            "text.tokenizer=fine",
            "features.0.lower=true",
        ])
        .unwrap();
        assert_eq!(config.training.c2, Some(0.5));
        assert_eq!(config.model.order, 2);
        assert_eq!(config.text.tokenizer.to_string(), "fine");
        assert!(
            config.to_toml().contains("lengths = [3, 4]"),
            "{}",
            config.to_toml()
        );
        for (text, expected) in [
            ("training.c3=1", "unknown key 'c3' in training"),
            ("training", "not of the form"),
            ("training..c2=1", "no path"),
            ("features[7].lower=true", "entry 7 of a list with 1"),
            ("features.7.lower=true", "entry 7 of a list with 1"),
            (
                "features.lower=true",
                "name an entry by its number, from 0, as in features[3].lengths",
            ),
            ("window.size=1", "-o window.size=1: "),
            (
                "model.order=many",
                "-o model.order=many: model.order should be a whole number from 0, and is the text \"many\"",
            ),
            (
                "features[0].lengts=[1]",
                "unknown key 'lengts' in features[0], did you mean 'lengths'?",
            ),
            (
                "postprocess=[{kind='brackets', quote=true}]",
                "unknown key 'quote' in postprocess[0], did you mean 'quotes'?",
            ),
        ] {
            let error = set(&[text]).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn of_several_overrides_the_wrong_one_is_named() {
        let set = |overrides: [&str; 3]| {
            let overrides: Vec<String> = overrides.map(str::to_owned).to_vec();
            Config::parse("", &overrides).map_err(|error| error.to_string())
        };
        let error = set(["training.c2=1", "training.c1=much", "window=2"]).unwrap_err();
        assert!(
            error.starts_with("-o training.c1=much: training.c1 should be a number"),
            "{error}"
        );
        // Only the whole of them has to make sense.
        let feature = set(["training.c2=1", "text.tokenizer.custom=1", "text.tokenizer=fine"]);
        assert_eq!(feature.unwrap().text.tokenizer.to_string(), "fine");
    }

    #[test]
    fn a_config_survives_its_toml() {
        let text = "name = 'x'\nwindow = 2\n[labels]\nscheme = 'iobes'\n[training]\nc2 = 0.1\n[[features]]\nkind = 'word'\nlower = true\n";
        let config = Config::parse(text, &[]).unwrap();
        assert_eq!(Config::parse(&config.to_toml(), &[]), Ok(config));
    }
}
