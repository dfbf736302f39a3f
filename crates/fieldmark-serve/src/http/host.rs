//! Which names a server answers to.
//!
//! A page of another site can make its own name point to this machine (DNS rebinding) and so talk to a server that
//! only listens here. The `Host` of such requests is that other name.

use super::ApiError;
use super::auth::{bearer, changes};
use axum::extract::Request;
use axum::http::header;

/// The names that a server answers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Hosts {
    /// The names of this machine for itself, and others that are listed: for servers that only this machine reaches.
    #[default]
    Loopback,
    /// The names of this machine for itself, and these (without port): for servers behind a proxy.
    Also(Vec<String>),
    /// Any, for servers that others reach and that want a token.
    Any,
}

impl Hosts {
    fn knows(&self, name: &str) -> bool {
        let local = ["localhost", "127.0.0.1", "[::1]"]
            .iter()
            .any(|one| one.eq_ignore_ascii_case(name));
        match self {
            Hosts::Loopback => local,
            Hosts::Also(names) => local || names.iter().any(|one| one.eq_ignore_ascii_case(name)),
            Hosts::Any => true,
        }
    }

    /// The host of a request, with its port, if the server answers to it.
    pub(super) fn check(&self, request: &Request) -> Result<String, ApiError> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(ApiError::malformed("expected one header Host"));
        };
        let host = host
            .to_str()
            .map_err(|_| ApiError::malformed("the header Host is unreadable"))?;
        // A whole address in the first line says the same.
        let authority = request
            .uri()
            .authority()
            .map_or(host, |authority| authority.as_str());
        for host in [host, authority] {
            if !self.knows(without_port(host)) {
                return Err(ApiError::forbidden(format_args!(
                    "this server does not answer to the name {host:?}. Use the address that was shown when it was \
                     started, or start it with --allow-host"
                )));
            }
        }
        Ok(authority.to_owned())
    }

    /// Refuses changes that a page of another site asks a browser for.
    pub(super) fn check_origin(&self, request: &Request, host: &str) -> Result<(), ApiError> {
        let headers = request.headers();
        if !changes(request.method()) || bearer(headers).is_some() {
            return Ok(());
        }
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or_default();
        let from = origin.split_once("://").map_or("", |(_, from)| from);
        let listed = match self {
            Hosts::Also(names) => names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(without_port(from))),
            _ => false,
        };
        if from.eq_ignore_ascii_case(host) || listed {
            return Ok(());
        }
        Err(ApiError::forbidden(format_args!(
            "this request comes from a page of {origin:?}, and only pages of this server may make it"
        )))
    }
}

/// A host without its port. IPv6 addresses stand in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(method: &str, headers: &[(&str, &str)]) -> Request {
        let start = Request::builder().method(method).uri("/");
        let request = headers
            .iter()
            .fold(start, |request, (name, value)| request.header(*name, *value));
        request.body(Body::empty()).unwrap()
    }

    fn allowed(hosts: &Hosts, host: &str) -> bool {
        hosts.check(&request("GET", &[("host", host)])).is_ok()
    }

    #[test]
    fn a_server_of_this_machine_answers_to_its_own_names_only() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:7878",
            "[::1]",
            "[::1]:7878",
        ] {
            assert!(allowed(&Hosts::Loopback, host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7878",
            "127.0.0.1.evil.example",
            "localhost.evil.example:7878",
            "[::1].evil.example",
            "::1",
            "",
            "127.0.0.1:7878@evil.example",
        ] {
            assert!(!allowed(&Hosts::Loopback, host), "{host}");
        }
        let proxied = Hosts::Also(vec!["tags.example".into()]);
        assert!(allowed(&proxied, "tags.example") && allowed(&proxied, "localhost:1"));
        assert!(!allowed(&proxied, "evil.example"));
        assert!(allowed(&Hosts::Any, "evil.example"));
    }

    #[test]
    fn no_host_two_hosts_and_a_foreign_address_are_refused() {
        let check = |headers: &[(&str, &str)]| Hosts::Loopback.check(&request("GET", headers));
        assert!(check(&[]).is_err());
        assert!(check(&[("host", "localhost"), ("host", "localhost")]).is_err());
        let whole = Request::get("http://evil.example/")
            .header("host", "localhost")
            .body(Body::empty())
            .unwrap();
        assert!(Hosts::Loopback.check(&whole).is_err());
    }

    #[test]
    fn pages_of_other_sites_change_nothing() {
        let check = |method: &str, origin: &str, hosts: &Hosts| {
            let request = request(method, &[("host", "localhost:7"), ("origin", origin)]);
            hosts.check_origin(&request, "localhost:7").is_ok()
        };
        let loopback = Hosts::Loopback;
        assert!(check("POST", "http://localhost:7", &loopback));
        assert!(check("GET", "http://evil.example", &loopback));
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost:8",
            "http://localhost:7.evil.example",
        ] {
            assert!(!check("POST", origin, &loopback), "{origin}");
        }
        let proxied = Hosts::Also(vec!["tags.example".into()]);
        assert!(check("POST", "https://tags.example", &proxied));
        let program = request(
            "POST",
            &[
                ("host", "localhost:7"),
                ("origin", "http://a"),
                ("authorization", "Bearer x"),
            ],
        );
        assert!(loopback.check_origin(&program, "localhost:7").is_ok());
    }
}
