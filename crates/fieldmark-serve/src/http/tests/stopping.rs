//! The end of a server.

use super::*;

#[test]
fn requests_under_way_are_answered_and_new_ones_refused() {
    let mut server = Server::open(Limits::default());
    let mut idle = server.connect();
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut begin = [0; 12];
    idle.read_exact(&mut begin).unwrap();
    let mut under_way = server.connect();
    under_way
        .write_all(b"GET /gate HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    wait_until("it waits", || server.shared.waiting.load(Ordering::SeqCst) == 1);
    server.stop.ask();
    // An open connection without a request ends at once.
    assert_eq!(Reply::read(&mut idle).body, "well");
    wait_until("nothing is accepted", || {
        TcpStream::connect(server.address).is_err()
    });
    server.shared.gate.add_permits(1);
    let reply = Reply::read(&mut under_way);
    assert_eq!((reply.status, &*reply.body), (200, "through"));
    assert_eq!(server.running.ended(), Ended { cut_off: 0 });
}

#[test]
fn requests_that_do_not_end_are_cut_off() {
    let mut server = Server::open(Limits {
        shutdown: Duration::from_millis(50),
        ..Limits::default()
    });
    let mut under_way = server.connect();
    under_way
        .write_all(server.request("GET /gate", &[], "").as_bytes())
        .unwrap();
    wait_until("it waits", || server.shared.waiting.load(Ordering::SeqCst) == 1);
    server.stop.ask();
    assert_eq!(server.running.ended(), Ended { cut_off: 1 });
}

#[test]
fn whoever_asks_twice_does_not_wait() {
    let mut server = Server::open(Limits {
        shutdown: LONG,
        ..Limits::default()
    });
    let mut under_way = server.connect();
    under_way
        .write_all(server.request("GET /gate", &[], "").as_bytes())
        .unwrap();
    wait_until("it waits", || server.shared.waiting.load(Ordering::SeqCst) == 1);
    let began = Instant::now();
    server.stop.ask();
    server.stop.now();
    assert_eq!(server.running.ended(), Ended { cut_off: 1 });
    assert!(began.elapsed() < LONG);
}
