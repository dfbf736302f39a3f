//! Small pages around signing in, and pages that know their session.

use super::{Asset, User};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>fieldmark</title>\n\
<link rel=\"stylesheet\" href=\"/assets/sign-in.css\">\n";

/// How they look.
pub(super) const STYLE: Asset = Asset::new("/assets/sign-in.css", include_bytes!("../../assets/sign-in.css"));

/// Goes on to the page.
///
/// A redirect would not do: browsers send no SameSite=Strict cookie along a redirect that began at a link of another
/// site, such as a mail. This page is of the site itself, and so is the step from it.
pub(super) fn signed_in() -> Html<String> {
    Html(format!(
        "{HEAD}<meta http-equiv=\"refresh\" content=\"0; url=/\">\n</head>\n<body>\n\
         <main><p>Signed in. <a href=\"/\">Go on</a></p></main>\n</body>\n</html>\n"
    ))
}

/// Asks for a token. The problem is one of our own sentences.
pub(super) fn sign_in(problem: &str) -> Html<String> {
    let problem = if problem.is_empty() {
        String::new()
    } else {
        format!("<p role=\"alert\"><strong>{problem}</strong></p>\n")
    };
    Html(format!(
        "{HEAD}</head>\n<body>\n<main>\n<h1>This server wants a token</h1>\n{problem}\
         <p>Open the link that was shown when the server was started or your account was made, or enter its token:</p>\n\
         <form action=\"/\" method=\"get\">\n<label>Token <input name=\"token\" type=\"password\" required autofocus \
         autocomplete=\"off\"></label>\n<button>Sign in</button>\n</form>\n</main>\n</body>\n</html>\n"
    ))
}

/// An HTML page in which `{{csrf}}` stands for what it must send with every change. Browsers keep no copy.
pub fn page(template: &str, user: &User) -> Response {
    let mut response = Html(template.replace("{{csrf}}", &user.csrf)).into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
