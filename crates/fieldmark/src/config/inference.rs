//! An engine in the words of a config, by itself.

use super::Config;
use crate::Error;
use fieldmark_graph::EngineChoice;

/// The engine that `graph.inference` would be with this value: the table with or without its braces, such as
/// `engine = "gibbs", samples = 500`, or the name of an engine alone.
///
/// ```
/// use fieldmark::config::parse_inference;
///
/// assert_eq!(parse_inference("loopy")?, parse_inference("{ engine = 'loopy' }")?);
/// let error = parse_inference("engine = 'gibbs', sample = 500").unwrap_err().to_string();
/// assert!(error.contains("did you mean 'samples'?"), "{error}");
/// # Ok::<(), fieldmark::Error>(())
/// ```
pub fn parse_inference(text: &str) -> Result<EngineChoice, Error> {
    let text = text.trim();
    let is_name = |symbol: char| symbol.is_ascii_alphanumeric() || matches!(symbol, '-' | '_');
    let table = match text {
        text if text.starts_with('{') => text.to_owned(),
        text if !text.is_empty() && text.chars().all(is_name) => format!("{{ engine = {text:?} }}"),
        text => format!("{{ {text} }}"),
    };
    let is_table = toml::from_str::<toml::Table>(&format!("value = {table}"))
        .is_ok_and(|parsed| parsed.len() == 1 && parsed["value"].is_table());
    if !is_table {
        return Err(Error::Option(format!(
            "found {text:?}, expected an engine such as loopy, or a table with its options such as engine = \"gibbs\", \
             samples = 500"
        )));
    }
    let config = Config::parse(&format!("[graph]\ninference = {table}\n"), &[])
        .map_err(|error| Error::Option(error.problem))?;
    let choice = config.graph.unwrap_or_default().inference;
    match choice.engine() {
        Ok(_) => Ok(choice),
        Err(error) => Err(Error::Option(format!("graph.inference: {error}"))),
    }
}
