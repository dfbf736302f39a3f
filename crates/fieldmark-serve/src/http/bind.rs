//! Where a server listens, and what follows from it.

use super::auth::Access;
use super::host::Hosts;
use super::token::Token;
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::net::TcpListener;

/// Starts to listen; port 0 is any that is free.
pub async fn bind(host: IpAddr, port: u16) -> Result<TcpListener, String> {
    let address = SocketAddr::new(host, port);
    TcpListener::bind(address).await.map_err(|error| {
        let advice = match error.kind() {
            io::ErrorKind::AddrInUse => {
                ". Another program uses this port; choose another one, or 0 for any that is free"
            }
            io::ErrorKind::PermissionDenied => ". Ports below 1024 are for the system; choose another one",
            io::ErrorKind::AddrNotAvailable => ". This machine does not have this address",
            _ => "",
        };
        format!("cannot listen on {address}: {error}{advice}")
    })
}

/// The link to open in a browser, with the token if there is one.
pub fn link(address: SocketAddr, token: Option<&Token>) -> String {
    // A server on all addresses is reached here by that of the machine itself.
    let host = match address.ip() {
        ip if ip.is_unspecified() => "localhost".to_owned(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let token = token.map_or(String::new(), |token| format!("?token={}", token.secret()));
    format!("http://{host}:{}/{token}", address.port())
}

/// Who may come in at an address, and by which names: without a token, only this machine itself. Also the token, if it
/// had to be made.
pub fn access(
    host: IpAddr,
    token: Option<Token>,
    allowed_hosts: Vec<String>,
) -> io::Result<(Access, Hosts, Option<Token>)> {
    let token = match token {
        Some(token) => Some(token),
        None if host.is_loopback() => None,
        None => Some(Token::random()?),
    };
    let access = match &token {
        Some(token) => Access::one("", token.hash()),
        None => Access::Open,
    };
    let hosts = match allowed_hosts {
        names if !names.is_empty() => Hosts::Also(names),
        _ if host.is_loopback() => Hosts::Loopback,
        _ => Hosts::Any,
    };
    Ok((access, hosts, token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_needs_no_token() {
        for (host, open) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("127.1.2.3", true),
            ("0.0.0.0", false),
            ("::", false),
            ("192.168.0.7", false),
        ] {
            let (access, hosts, token) = access(host.parse().unwrap(), None, Vec::new()).unwrap();
            assert_eq!(matches!(access, Access::Open), open, "{host}");
            assert_eq!(token.is_none(), open);
            assert_eq!(hosts == Hosts::Loopback, open);
        }
        let token = Token::random().unwrap();
        let (access, hosts, same) = access(
            "127.0.0.1".parse().unwrap(),
            Some(token.clone()),
            vec!["a.example".into()],
        )
        .unwrap();
        assert!(matches!(access, Access::Tokens(_)) && hosts == Hosts::Also(vec!["a.example".into()]));
        assert_eq!(same, Some(token));
    }

    #[test]
    fn links_can_be_opened() {
        let token = Token::chosen("sixteen-letters.").unwrap();
        let link = |address: &str, token| link(address.parse().unwrap(), token);
        assert_eq!(link("127.0.0.1:80", None), "http://127.0.0.1:80/");
        assert_eq!(link("[::1]:80", None), "http://[::1]:80/");
        assert_eq!(
            link("0.0.0.0:7878", Some(&token)),
            "http://localhost:7878/?token=sixteen-letters."
        );
    }
}
