//! One colour per type of span, the same in every document.

use std::collections::BTreeMap;

/// A colour in the schemes that the renderers draw in.
pub(super) struct Colour {
    /// Background on a light page, and of text on it.
    pub light: Pair,
    /// The same on a dark page.
    pub dark: Pair,
    /// Background on a terminal of 256 colours, under black text.
    pub terminal: u8,
}

/// A background and a strong colour of the same hue that can be read on it (`#rrggbb`).
pub(super) struct Pair {
    pub tint: &'static str,
    pub ink: &'static str,
}

const fn colour(light: [&'static str; 2], dark: [&'static str; 2], terminal: u8) -> Colour {
    Colour {
        light: Pair {
            tint: light[0],
            ink: light[1],
        },
        dark: Pair {
            tint: dark[0],
            ink: dark[1],
        },
        terminal,
    }
}

/// Neighbours in this list differ in hue, so that types in each other's way do not look alike.
pub(super) const COLOURS: [Colour; 10] = [
    colour(["#cdf1f0", "#0c5a5c"], ["#0c4347", "#6fe4e0"], 123),
    colour(["#d3f2d8", "#14552b"], ["#15412a", "#8feab0"], 157),
    colour(["#fbdff7", "#82147f"], ["#4b1b4d", "#f4b1f2"], 219),
    colour(["#d8e8ff", "#1d4399"], ["#1c3763", "#a3c9ff"], 153),
    colour(["#ffe0e4", "#9b1038"], ["#561d30", "#ffb0bc"], 217),
    colour(["#fde9bd", "#754600"], ["#4b3508", "#fbd265"], 222),
    colour(["#e3e6ec", "#374253"], ["#353d4a", "#ccd5e2"], 252),
    colour(["#ffe2cf", "#8f3204"], ["#542a11", "#ffbd8a"], 216),
    colour(["#e9e1ff", "#5322ac"], ["#382763", "#cdbcff"], 183),
    colour(["#e5f3bf", "#3d5a08"], ["#313f0e", "#c6e66a"], 192),
];

/// The colours of the types that occur.
pub(super) struct Palette<'a> {
    slots: BTreeMap<&'a str, usize>,
}

impl<'a> Palette<'a> {
    /// Gives each type the colour that its name hashes to, or the next free one.
    ///
    /// So a type keeps its colour from document to document unless another type is in its way. Beyond ten
    /// types colours repeat; the type always stands beside its span as text.
    pub fn new(kinds: impl IntoIterator<Item = &'a str>) -> Self {
        let mut slots: BTreeMap<&str, usize> = kinds.into_iter().map(|kind| (kind, 0)).collect();
        let mut taken = [false; COLOURS.len()];
        for (kind, slot) in &mut slots {
            let preferred = hash(kind) as usize % COLOURS.len();
            let free = (0..COLOURS.len())
                .map(|step| (preferred + step) % COLOURS.len())
                .find(|&at| !taken[at]);
            *slot = free.unwrap_or(preferred);
            taken[*slot] = true;
        }
        Self { slots }
    }

    /// The index into [`COLOURS`] of a type; 0 for a type that the palette was not made for.
    pub fn slot(&self, kind: &str) -> usize {
        self.slots.get(kind).copied().unwrap_or(0)
    }

    /// The types in alphabetical order.
    pub fn kinds(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.slots.keys().copied()
    }
}

/// FNV-1a (Fowler, Noll & Vo 1991), with the upper half folded in: the low bits alone mix badly.
fn hash(name: &str) -> u32 {
    let hash = name.bytes().fold(0x811C_9DC5u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance by WCAG 2.2.
    fn luminance(rgb: [u8; 3]) -> f64 {
        let [r, g, b] = rgb.map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn rgb(hex: &str) -> [u8; 3] {
        [1, 3, 5].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
    }

    /// A colour of xterm's 6×6×6 cube (16 to 231) or of its grey ramp.
    fn xterm(code: u8) -> [u8; 3] {
        if code >= 232 {
            return [8 + 10 * (code - 232); 3];
        }
        [36, 6, 1].map(|unit| [0, 95, 135, 175, 215, 255][usize::from((code - 16) / unit % 6)])
    }

    /// The page's own colours, as the style sheet has them.
    fn page_colour(name: &str, dark: bool) -> [u8; 3] {
        let css = include_str!("page.css");
        let at = css
            .match_indices(&format!("--{name}: "))
            .nth(usize::from(dark))
            .unwrap()
            .0;
        rgb(&css[at + name.len() + 4..][..7])
    }

    #[test]
    fn every_colour_meets_wcag_aa() {
        for dark in [false, true] {
            let [page, card, ink, soft] = ["page", "card", "ink", "soft"].map(|name| page_colour(name, dark));
            for background in [page, card] {
                assert!(contrast(ink, background) >= 7.0);
                assert!(contrast(soft, background) >= 4.5);
            }
            for colour in &COLOURS {
                let pair = if dark { &colour.dark } else { &colour.light };
                assert!(
                    contrast(rgb(pair.ink), rgb(pair.tint)) >= 4.5,
                    "{} on {}",
                    pair.ink,
                    pair.tint
                );
                assert!(contrast(ink, rgb(pair.tint)) >= 7.0, "text on {}", pair.tint);
                assert!(contrast(rgb(pair.ink), card) >= 4.5, "{} on the card", pair.ink);
            }
        }
        for colour in &COLOURS {
            assert!(contrast([0; 3], xterm(colour.terminal)) >= 7.0);
        }
    }

    #[test]
    fn types_get_distinct_colours_while_there_are_any() {
        let names: Vec<String> = (0..COLOURS.len()).map(|index| format!("TYPE{index}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str));
        let mut slots: Vec<usize> = names.iter().map(|name| palette.slot(name)).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..COLOURS.len()).collect::<Vec<_>>());
    }

    #[test]
    fn more_types_than_colours_still_have_one_each() {
        let names: Vec<String> = (0..50).map(|index| format!("TYPE{index}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str));
        assert!(names.iter().all(|name| palette.slot(name) < COLOURS.len()));
    }

    #[test]
    fn a_colour_is_stable() {
        let all = Palette::new(["DOSE", "DRUG", "FREQ", "PROBLEM"]);
        for kind in ["DOSE", "DRUG", "FREQ", "PROBLEM"] {
            assert_eq!(Palette::new([kind]).slot(kind), all.slot(kind));
        }
    }
}
