//! Colours of templates.

/// A colour that can be read on a light page, and one of the same hue for a dark one.
pub(super) struct Colour {
    pub light: &'static str,
    pub dark: &'static str,
}

const fn colour(light: &'static str, dark: &'static str) -> Colour {
    Colour { light, dark }
}

/// Neighbours in this list differ in hue and in lightness.
pub(super) const COLOURS: [Colour; 8] = [
    colour("#1f56c4", "#8db8ff"),
    colour("#b34700", "#ffb07a"),
    colour("#12743f", "#7fdfa5"),
    colour("#9c1fa0", "#f0a6ee"),
    colour("#0b7d86", "#67dbe0"),
    colour("#b3123f", "#ff9fb2"),
    colour("#806000", "#edc95a"),
    colour("#5a3fd0", "#c2b4ff"),
];

/// Beyond the colours, templates differ in their dashes.
pub(super) const DASHES: [&str; 4] = ["", "6 3", "2 3", "8 3 2 3"];

/// The number of the colour of a template.
pub(super) fn colour_of(template: usize) -> usize {
    template % COLOURS.len()
}

/// The dashes of a template.
pub(super) fn dash_of(template: usize) -> &'static str {
    DASHES[template / COLOURS.len() % DASHES.len()]
}
