//! Clients that send or ask too much, too slowly or at the same time.

use super::*;

fn short() -> Duration {
    Duration::from_millis(150)
}

#[test]
fn bodies_have_a_limit_whether_or_not_they_announce_it() {
    let limits = Limits {
        body: 1000,
        ..Limits::default()
    };
    let server = Server::open(limits);
    let long = format!("{{\"number\":{:>1000}}}", 1);
    let reply = server.json("POST /number", &long);
    assert_eq!(reply.status, 413);
    assert!(reply.error().contains("more than 1000 bytes"), "{reply:?}");
    let head = "POST /number HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    let chunked = |body: &str| format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    assert_eq!(server.raw(chunked(&long)).status, 413);
    let fits = format!("{{\"number\":{:>900}}}", 1);
    let mut stream = server.connect();
    stream
        .write_all(
            chunked(&fits)
                .replace("Host", "Connection: close\r\nHost")
                .as_bytes(),
        )
        .unwrap();
    assert_eq!(Reply::read(&mut stream).status, 200);
}

#[test]
fn a_client_that_sends_far_too_much_can_still_read_the_refusal() {
    let server = Server::open(Limits {
        body: 1000,
        ..Limits::default()
    });
    let mut stream = server.connect();
    let length = 8 << 20;
    let head = format!(
        "POST /number HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server has answered long before the end.
    stream.write_all(&vec![b' '; length]).unwrap();
    assert_eq!(Reply::read(&mut stream).status, 413);
}

#[test]
fn a_head_that_never_ends_is_cut_off_and_silence_before_it_too() {
    let server = Server::open(Limits {
        head: short(),
        ..Limits::default()
    });
    let reply = server.raw("GET /health HTTP/1.1\r\nHost: local");
    assert_eq!(reply.status, 408);
    assert!(reply.error().contains("head of the request"), "{reply:?}");
    // Nobody asked for anything: the connection just ends.
    assert_eq!(server.raw("").status, 0);
    // The same between two requests.
    let mut stream = server.connect();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let reply = Reply::read(&mut stream);
    assert_eq!((reply.status, &*reply.body), (200, "well"));
}

#[test]
fn a_body_that_stops_coming_is_refused() {
    let server = Server::open(Limits {
        silence: short(),
        ..Limits::default()
    });
    let head = "POST /number HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n";
    let reply = server.raw(format!("{head}{{\"num"));
    assert_eq!(reply.status, 408);
    assert!(
        reply.error().contains("nothing more of the request body came"),
        "{reply:?}"
    );
}

#[test]
fn a_body_that_comes_in_drops_is_refused_in_the_end() {
    let server = Server::open(Limits {
        request: short(),
        ..Limits::default()
    });
    let mut stream = server.connect();
    let head = "POST /number HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let drops = std::thread::spawn(move || {
        // Until the server closes, which it does long before the end.
        for _ in 0..10_000 {
            if writer.write_all(b" ").is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let mut bytes = vec![0; 12];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes, b"HTTP/1.1 408");
    drop(stream);
    drops.join().unwrap();
}

#[test]
fn an_answer_that_takes_too_long_is_given_up() {
    let server = Server::open(Limits {
        request: short(),
        ..Limits::default()
    });
    let reply = server.ask("GET /gate", &[], "");
    assert_eq!(reply.status, 503);
    assert!(
        reply.error().contains("no answer within 0.15 seconds"),
        "{reply:?}"
    );
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[test]
fn a_client_that_takes_nothing_is_given_up() {
    let server = Server::open(Limits {
        silence: short(),
        ..Limits::default()
    });
    let mut stream = server.connect();
    stream
        .write_all(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    wait_until("the answer ends", || server.shared.dropped.load(Ordering::SeqCst));
}

#[test]
fn too_many_requests_at_a_time_are_told_to_come_again() {
    let server = Server::open(Limits {
        concurrency: 2,
        ..Limits::default()
    });
    let mut under_way: Vec<TcpStream> = (0..2).map(|_| server.connect()).collect();
    for stream in &mut under_way {
        stream
            .write_all(server.request("GET /gate", &[], "").as_bytes())
            .unwrap();
    }
    wait_until("both wait", || server.shared.waiting.load(Ordering::SeqCst) == 2);
    let reply = server.ask("GET /who", &[], "");
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    assert!(reply.error().contains("2 requests are under way"), "{reply:?}");
    // Whoever watches over the server still hears from it.
    assert_eq!(server.ask("GET /health", &[], "").status, 200);
    server.shared.gate.add_permits(2);
    for stream in &mut under_way {
        assert_eq!(Reply::read(stream).body, "through");
    }
    assert_eq!(server.ask("GET /who", &[], "").status, 200);
}

#[test]
fn an_answer_keeps_its_place_until_it_is_taken() {
    let server = Server::open(Limits {
        concurrency: 1,
        ..Limits::default()
    });
    let mut stream = server.connect();
    stream
        .write_all(server.request("GET /endless", &[], "").as_bytes())
        .unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(server.ask("GET /who", &[], "").status, 503);
    drop(stream);
    wait_until("the place is free", || {
        server.ask("GET /who", &[], "").status == 200
    });
}

/// Nobody can tell where the next request begins when a body was not read: the connection ends, and the answer says so.
#[test]
fn the_end_of_a_connection_is_announced() {
    let server = Server::open(Limits::default());
    server.shared.gate.add_permits(1);
    let head = "Host: localhost\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n";
    for (request, status) in [
        ("POST /gate", 200),
        ("POST /number", 415),
        ("POST /nowhere", 404),
        ("GET /number", 405),
    ] {
        let reply = server.raw(format!("{request} HTTP/1.1\r\n{head}"));
        let said = (reply.status, reply.header("connection"));
        assert_eq!(said, (status, Some("close")), "{request}");
    }
    let foreign = head.replace("localhost", "elsewhere");
    let reply = server.raw(format!("POST /number HTTP/1.1\r\n{foreign}"));
    assert_eq!((reply.status, reply.header("connection")), (403, Some("close")));
    // Who sends all of it, or nothing, can go on.
    let mut stream = server.connect();
    let whole = "POST /number HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n\
                 {\"number\":1}";
    let bare = "GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let last = server.request("GET /health", &[], "");
    stream
        .write_all(format!("{whole}{bare}{last}").as_bytes())
        .unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    let answers = answers.to_ascii_lowercase();
    assert_eq!(answers.matches("http/1.1 200").count(), 3, "{answers}");
    assert_eq!(answers.matches("connection: close").count(), 1, "{answers}");
}
