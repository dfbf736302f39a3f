//! Who may come in: tokens in links, cookies and headers.
//!
//! A person opens `/?token=T` once. The answer sets a cookie (HttpOnly, SameSite=Strict) and goes on to `/`. Whoever
//! changes something by a session of this kind also sends `X-Fieldmark-Token`, which pages of other sites cannot know.
//! Programs send `Authorization: Bearer T` and nothing else.

use super::token::{TokenHash, csrf, same};
use super::{ApiError, pages};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// The header that comes with every change of a cookie session.
pub const CSRF_HEADER: &str = "x-fieldmark-token";
/// How long a browser remembers a session, in seconds: a year.
const SESSION_SECONDS: u32 = 365 * 24 * 60 * 60;

/// Who may come in.
#[derive(Clone)]
pub enum Access {
    /// Everybody who reaches the server. For servers that only this machine reaches.
    Open,
    /// Whoever has a token.
    Tokens(Arc<dyn Accounts>),
}

impl Access {
    /// One token for everybody.
    pub fn one(name: &str, hash: TokenHash) -> Self {
        Access::Tokens(Arc::new(vec![(name.to_owned(), hash)]))
    }
}

/// Those who have tokens.
pub trait Accounts: Send + Sync + 'static {
    /// Names, with the hashes of tokens. Asked at every request, so it should not take long.
    fn accounts(&self) -> Vec<(String, TokenHash)>;
}

impl Accounts for Vec<(String, TokenHash)> {
    fn accounts(&self) -> Vec<(String, TokenHash)> {
        self.clone()
    }
}

/// Whoever makes a request. Handlers take it as an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name; empty where access is open.
    pub name: String,
    /// What pages send as `X-Fieldmark-Token`; empty where access is open.
    pub csrf: String,
}

impl<S: Send + Sync> FromRequestParts<S> for User {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let user = parts.extensions.get::<User>().cloned();
        user.ok_or_else(|| ApiError::unauthorized("nobody is signed in on this path"))
    }
}

impl Access {
    /// Finds out who makes a request; otherwise how it is refused. `host` is that of the request, with its port.
    pub(super) fn admit(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        host: &str,
    ) -> Result<User, Box<Response>> {
        let Access::Tokens(accounts) = self else {
            return Ok(User {
                name: String::new(),
                csrf: String::new(),
            });
        };
        if method == Method::GET
            && uri.path() == "/"
            && let Some(secret) = query_token(uri)
        {
            return Err(Box::new(log_in(&**accounts, &secret, host)));
        }
        if let Some(secret) = bearer(headers) {
            let name = find(&**accounts, secret).ok_or_else(|| {
                let message = "the token after `Authorization: Bearer` is not known here";
                Box::new(ApiError::unauthorized(message).into_response())
            })?;
            return Ok(User {
                name,
                csrf: csrf(secret),
            });
        }
        let name = cookie_name(host);
        let known = cookies(headers, &name).find_map(|secret| Some((secret, find(&**accounts, secret)?)));
        let Some((secret, name)) = known else {
            return Err(Box::new(refused(method, uri, headers)));
        };
        let csrf = csrf(secret);
        let given = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
        if changes(method) && !given.is_some_and(|given| same(given, &csrf)) {
            let message = "a page that changes something sends the header X-Fieldmark-Token, and it is missing or \
                           wrong. Load the page again";
            return Err(Box::new(ApiError::forbidden(message).into_response()));
        }
        Ok(User { name, csrf })
    }
}

/// Whether a request may change something.
pub(super) fn changes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a program shows its token; then no browser sends it by itself.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// The name that goes with a token. All accounts are compared, so that the time does not tell which one it is.
fn find(accounts: &dyn Accounts, secret: &str) -> Option<String> {
    let hash = TokenHash::of(secret);
    let accounts = accounts.accounts().into_iter();
    accounts
        .filter(|(_, known)| known.equals(&hash))
        .fold(None, |_, (name, _)| Some(name))
}

/// Browsers keep cookies by host, whatever the port; two servers on one machine shall not take each other's.
fn cookie_name(host: &str) -> String {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let port = port.filter(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    format!("fieldmark-{}", port.unwrap_or("0"))
}

fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    let pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    pairs.filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// The token in a link. Tokens need no decoding.
fn query_token(uri: &Uri) -> Option<String> {
    let mut pairs = uri.query()?.split('&');
    pairs
        .find_map(|pair| pair.strip_prefix("token="))
        .map(str::to_owned)
}

fn log_in(accounts: &dyn Accounts, secret: &str, host: &str) -> Response {
    if find(accounts, secret).is_none() {
        let page = pages::sign_in("This token is not known here. Was it copied as a whole?");
        return (StatusCode::UNAUTHORIZED, page).into_response();
    }
    let name = cookie_name(host);
    let cookie = format!("{name}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={SESSION_SECONDS}");
    let mut response = pages::signed_in().into_response();
    match HeaderValue::from_str(&cookie) {
        Ok(cookie) => {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            response
        }
        Err(_) => ApiError::malformed("this token does not fit into a cookie").into_response(),
    }
}

/// People get a page, programs get JSON.
fn refused(method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if method == Method::GET && uri.path() == "/" && accepts.is_some_and(|types| types.contains("text/html"))
    {
        return (StatusCode::UNAUTHORIZED, pages::sign_in("")).into_response();
    }
    let message = "this server wants a token. Programs send `Authorization: Bearer TOKEN`; people open the link that was \
                   shown when the server was started or the account was made";
    ApiError::unauthorized(message).into_response()
}
