//! Keys that are set on the command line, in place of those of a config.

/// Sets one key: `section.key=value`, or `features[2].lengths=[3]`.
pub(super) fn override_one(table: &mut toml::Table, text: &str) -> Result<(), String> {
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
            (step, toml::Value::Array(array)) => {
                // `features.3` is as good as `features[3]`.
                let index = match step {
                    Step::Index(index) => *index,
                    Step::Key(key) => key.parse().map_err(|_| {
                        format!(
                            "'{path}' leads into a list: name an entry by its number, from 0, as in features[3].lengths"
                        )
                    })?,
                };
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
