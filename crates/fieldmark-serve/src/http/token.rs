//! [`Token`]: a secret that says who somebody is, and the hash that a server keeps of it.

use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

/// A secret. It is shown once, to its owner; servers keep its [`TokenHash`].
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Fewest characters of a token that somebody made up.
const SHORTEST: usize = 16;
/// Most characters: more do not make it safer, and cookies have an end.
const LONGEST: usize = 256;

impl Token {
    /// A new one of 128 random bits.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(hex(&bytes)))
    }

    /// One that somebody chose; otherwise what is wrong with it.
    pub fn chosen(token: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        if let Some(c) = token.chars().find(|&c| !plain(c)) {
            return Err(format!(
                "a token has letters, digits and -._~ only, but this one has {c:?}"
            ));
        }
        match token.len() {
            length if length < SHORTEST => Err(format!(
                "the token has {length} characters, which can be guessed; take at least {SHORTEST}"
            )),
            length if length > LONGEST => Err(format!(
                "the token has {length} characters, expected at most {LONGEST}"
            )),
            _ => Ok(Self(token.to_owned())),
        }
    }

    /// The secret itself.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// What a server keeps.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

/// Secrets do not end up in logs.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What a server keeps of a token: enough to know it again, not enough to use it.
///
/// Tokens are random and long, so that one round of SHA-256 is enough.
#[derive(Clone, Copy, Debug)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of what a client sent.
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// From what [`TokenHash::to_hex`] gave.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0u8; 32];
        if text.len() != 2 * bytes.len() || !text.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// As text, to be stored.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// Whether both are the same, in a time that does not tell how much of them is.
    pub fn equals(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// What a page must send with every change, made from the token of its session: other sites cannot know it.
pub(super) fn csrf(secret: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(format!("fieldmark csrf\0{secret}")).into();
    hex(&hash[..16])
}

/// Whether two texts are the same, in a time that depends on their lengths only.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_tokens_differ_and_their_hashes_do_too() {
        let [a, b] = [Token::random().unwrap(), Token::random().unwrap()];
        assert_eq!(a.secret().len(), 32);
        assert_ne!(a, b);
        assert!(a.hash().equals(&TokenHash::of(a.secret())));
        assert!(!a.hash().equals(&b.hash()));
        assert!(Token::chosen(a.secret()).is_ok());
        assert!(!format!("{a:?}").contains(a.secret()));
    }

    #[test]
    fn a_hash_is_stored_as_text() {
        // SHA-256 of `abc` (FIPS 180-4, appendix).
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(TokenHash::of("abc").to_hex(), known);
        assert!(TokenHash::from_hex(known).unwrap().equals(&TokenHash::of("abc")));
        for wrong in ["", "ba", &known[1..], &known.replace('b', "x"), &"é".repeat(32)] {
            assert!(TokenHash::from_hex(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn tokens_that_can_be_guessed_or_do_not_fit_a_cookie_are_refused() {
        assert!(Token::chosen("short").unwrap_err().contains("at least 16"));
        assert!(Token::chosen("sixteen letters; no").unwrap_err().contains("' '"));
        assert!(Token::chosen(&"x".repeat(257)).unwrap_err().contains("at most"));
        assert!(Token::chosen("sixteen-letters.").is_ok());
    }

    #[test]
    fn the_token_of_changes_is_not_the_token() {
        let token = Token::random().unwrap();
        assert_ne!(csrf(token.secret()), token.secret());
        assert_eq!(csrf(token.secret()), csrf(token.secret()));
        assert!(same("a", "a") && !same("a", "b") && !same("a", "aa"));
    }
}
