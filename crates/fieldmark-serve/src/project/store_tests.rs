use super::super::{Assertion, Borders, Project};
use super::*;

fn store() -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::open(&folder.path().join("p")).unwrap();
    (folder, project)
}

fn assertion(start: u32, end: u32) -> Assertion {
    Assertion {
        start,
        end,
        kind: Some(1),
        borders: Borders::Open,
    }
}

#[test]
fn what_is_stored_is_there_when_the_project_is_opened_again() {
    let (folder, mut project) = store();
    let store = project.store_mut();
    let user = store.user("ada").unwrap();
    assert_eq!(store.user("ada").unwrap(), user);
    let mut document = Document::new("note", "Ada met <b>Grace</b> 👩🏽‍⚕️.");
    document.meta.insert("date".into(), "today".into());
    let cut = Cut {
        tokens: vec![0..3, 4..7],
        sentences: std::iter::once(0..2).collect(),
    };
    let first = store
        .add_documents(
            &[
                (document.clone(), cut.clone()),
                (Document::default(), Cut::default()),
            ],
            |id| id == 1,
        )
        .unwrap();
    let deed = Deed::Assert {
        assertions: vec![assertion(0, 1)],
    };
    let action = store
        .record(&NewAction {
            request: "r1",
            user,
            document: Some(first),
            question: Some("t-1-0"),
            seconds: Some(1.5),
            deed: &deed,
        })
        .unwrap();
    let kind = Type {
        id: 1,
        name: "PER".into(),
        key: "1".into(),
        colour: 3,
        removed: false,
    };
    store.add_type(&kind, user, "r2").unwrap();
    let other = Type {
        name: "LOC".into(),
        ..kind.clone()
    };
    assert!(
        store.add_type(&other, user, "r3").is_err(),
        "the number has an owner"
    );
    store.add_token(user, "hash").unwrap();
    store.set_meta("a", "1").unwrap();
    store.set_meta("a", "2").unwrap();
    store.add_resource("list", b"x").unwrap();
    store.add_point(10, 5, "{}").unwrap();
    drop(project);

    let project = Project::open(&folder.path().join("p")).unwrap();
    let store = project.store();
    assert_eq!(store.users().unwrap(), [(user, "ada".to_owned())]);
    assert_eq!(store.repeated(user, "r1").unwrap(), Some(action.clone()));
    assert_eq!(store.repeated(user, "r3").unwrap(), None);
    let mut actions = Vec::new();
    store
        .for_each_action(|action| {
            actions.push(action);
            Ok(())
        })
        .unwrap();
    assert_eq!(actions[0], action);
    assert_eq!(actions[1].deed, Deed::Type { id: 1 });
    let found = store.document(first).unwrap().unwrap();
    assert_eq!((found.document, found.cut, found.held_out), (document, cut, true));
    let mut count = 0;
    store
        .for_each_document(first + 1, |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 1);
    assert_eq!(store.types().unwrap(), [kind]);
    assert_eq!(store.tokens().unwrap(), [("hash".to_owned(), "ada".to_owned())]);
    assert_eq!(store.meta("a").unwrap().as_deref(), Some("2"));
    assert_eq!(store.resources().unwrap(), [("list".to_owned(), b"x".to_vec())]);
    assert_eq!(store.points().unwrap(), ["{}"]);
}

#[test]
fn a_request_is_stored_once() {
    let (_folder, mut project) = store();
    let store = project.store_mut();
    let (ada, bob) = (store.user("ada").unwrap(), store.user("bob").unwrap());
    let deed = Deed::SkipQuestion { token: 0 };
    let mut record = |user| {
        store.record(&NewAction {
            request: "same",
            user,
            document: None,
            question: None,
            seconds: None,
            deed: &deed,
        })
    };
    record(ada).unwrap();
    assert!(record(ada).is_err());
    record(bob).unwrap();
}

#[test]
fn many_actions_are_stored_all_or_none() {
    let (_folder, mut project) = store();
    let store = project.store_mut();
    let user = store.user("ada").unwrap();
    let deed = Deed::SkipQuestion { token: 0 };
    let new = |request| NewAction {
        request,
        user,
        document: None,
        question: None,
        seconds: None,
        deed: &deed,
    };
    assert!(store.record_all(&[new("a"), new("b"), new("a")]).is_err());
    assert_eq!(store.repeated(user, "b").unwrap(), None);
    assert_eq!(store.record_all(&[new("a"), new("b")]).unwrap().len(), 2);
}

#[test]
fn one_server_at_a_time() {
    let (folder, project) = store();
    let again = Project::open(&folder.path().join("p"));
    assert!(again.unwrap_err().to_string().contains("another fieldmark"));
    // People can be added beside it.
    Project::database_beside(&folder.path().join("p"))
        .unwrap()
        .user("bob")
        .unwrap();
    assert_eq!(project.store().users().unwrap().len(), 1);
    drop(project);
    assert!(Project::open(&folder.path().join("p")).is_ok());
    assert!(Project::database_beside(folder.path()).is_err());
}

/// Everything of a project of the first version is there, and requests can be told apart from then on.
#[test]
fn a_project_of_an_older_program_is_opened() {
    let (folder, mut project) = store();
    let store = project.store_mut();
    let user = store.user("ada").unwrap();
    let deed = Deed::SkipQuestion { token: 0 };
    let new = |request| NewAction {
        request,
        user,
        document: None,
        question: None,
        seconds: None,
        deed: &deed,
    };
    let action = store.record(&new("old")).unwrap();
    drop(project);
    let path = folder.path().join("p/project.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("DROP TABLE requests; PRAGMA user_version = 1;")
        .unwrap();
    drop(connection);
    let mut project = Project::open(&folder.path().join("p")).unwrap();
    let store = project.store_mut();
    assert_eq!(store.repeated(user, "old").unwrap(), Some(action));
    assert_eq!(store.content(user, "old").unwrap(), None);
    store
        .atomically(|writing| {
            writing.keep_content(user, "new", "print")?;
            writing.record(&new("new"))
        })
        .unwrap();
    assert_eq!(store.content(user, "new").unwrap().as_deref(), Some("print"));
    let twice = store.atomically(|writing| writing.keep_content(user, "new", "other"));
    assert!(twice.is_err());
}

#[test]
fn a_project_of_a_later_program_is_refused() {
    let (folder, project) = store();
    drop(project);
    let path = folder.path().join("p/project.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = Project::open(&folder.path().join("p")).unwrap_err().to_string();
    assert!(error.contains("version 99") && error.contains("newer"), "{error}");
    std::fs::write(
        &path,
        "this is no database, but a text that is longer than a header",
    )
    .unwrap();
    assert!(Project::open(&folder.path().join("p")).is_err());
}

#[test]
fn the_disk_is_waited_for() {
    let (_folder, project) = store();
    let pragma = |name: &str| -> String {
        let connection = &project.store().connection;
        let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| {
            row.get::<_, rusqlite::types::Value>(0)
        });
        format!("{:?}", value.unwrap())
    };
    assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
    assert_eq!(pragma("synchronous"), "Integer(2)");
}
