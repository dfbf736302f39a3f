//! A file is replaced as a whole or not at all, whatever happens to the process that writes it.

use fieldmark_core::container::{Container, ContainerErrorKind, ContainerWriter, atomic_write};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_error_while_writing_leaves_the_old_file_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    let fail = |file: &mut dyn Write| {
        file.write_all(&[b'x'; 200_000])?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    };
    let error = atomic_write(&path, fail).unwrap_err();
    assert_eq!(error.kind(), ContainerErrorKind::Io);
    assert!(error.to_string().contains("free some space"), "{error}");
    assert!(names_in(directory.path()).is_empty());

    atomic_write(&path, |file| file.write_all(b"old")).unwrap();
    atomic_write(&path, fail).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names_in(directory.path()), ["report.json"]);
}

#[test]
fn a_panic_while_writing_leaves_the_old_file_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    fs::write(&path, "old").unwrap();
    let write = || atomic_write(&path, |_| panic!("while writing"));
    assert!(std::panic::catch_unwind(write).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names_in(directory.path()), ["report.json"]);
}

#[test]
fn places_that_cannot_be_written_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing").join("model.fmk");
    let error = ContainerWriter::new().write_to(&missing).unwrap_err();
    assert!(error.to_string().contains("make the directory first"), "{error}");
    let error = ContainerWriter::new().write_to(directory.path()).unwrap_err();
    assert!(
        error.to_string().contains("give the name of a file in it"),
        "{error}"
    );
    assert!(ContainerWriter::new().write_to("").is_err());

    let path = directory.path().join("kept.fmk");
    fs::write(&path, "old").unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let error = ContainerWriter::new().write_to(&path).unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().join("real.fmk");
    let link = directory.path().join("link.fmk");
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("real.fmk", &link).unwrap();
    atomic_write(&link, |file| file.write_all(b"new")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);

    let plain = directory.path().join("plain");
    fs::write(&plain, "").unwrap();
    let fresh = directory.path().join("fresh");
    atomic_write(&fresh, |_| Ok(())).unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(
        mode(&fresh),
        mode(&plain),
        "a new file has the permissions of any new file"
    );

    atomic_write("/dev/null", |file| file.write_all(b"gone")).unwrap();
    assert!(
        !fs::metadata("/dev/null").unwrap().is_file(),
        "a device was replaced by a file"
    );
}

const TARGET: &str = "FIELDMARK_TEST_WRITE_UNTIL_KILLED";

/// A model of many sections that all hold the same number, so that a mixture of two files shows.
fn model(number: u64) -> ContainerWriter<'static> {
    let mut writer = ContainerWriter::new();
    for section in 0..40 {
        writer.add_u64s(&format!("section {section}"), vec![number; 10_000]);
    }
    writer
}

/// Not a test of its own: the process that [`a_killed_writer_never_damages_the_file`] kills.
#[test]
fn write_until_killed() {
    let Some(path) = std::env::var_os(TARGET) else {
        return;
    };
    let models = [model(1), model(2)];
    for model in models.iter().cycle() {
        model.write_to(&path).unwrap();
    }
}

#[test]
fn a_killed_writer_never_damages_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    model(0).write_to(&path).unwrap();
    for delay in 0..8 {
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "write_until_killed"])
            .env(TARGET, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // The first file of the child shows that it is writing; it is killed somewhere in the next ones.
        while fs::metadata(&path).unwrap().modified().unwrap() == before {
            assert_eq!(child.try_wait().unwrap(), None, "the writer stopped");
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_micros(700 * delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let container = Container::open(&path).unwrap();
        let number = container.u64s("section 0").unwrap()[0];
        assert!((1..=2).contains(&number));
        assert!(
            container
                .sections()
                .all(|s| container.u64s(s.name).unwrap().iter().all(|n| *n == number))
        );
    }
}

/// What a killed writer leaves behind goes with the next write, but never the file of a writer at work.
#[test]
fn files_left_behind_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    let hidden = || -> Vec<String> {
        let names = names_in(directory.path()).into_iter();
        names.filter(|name| name.starts_with(".fieldmark-")).collect()
    };
    // The name of a new file, seen from inside a write.
    let mut left = String::new();
    atomic_write(&path, |_| {
        left = hidden().remove(0);
        Ok(())
    })
    .unwrap();
    let stale = directory.path().join(&left);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let leave = |time| {
        let file = fs::File::create(&stale).unwrap();
        file.set_modified(time).unwrap();
        file
    };

    leave(old);
    atomic_write(directory.path().join("other.json"), |_| Ok(())).unwrap();
    assert_eq!(hidden(), [left.clone()], "it belongs to another file");
    atomic_write(&path, |_| Ok(())).unwrap();
    assert_eq!(hidden(), [""; 0]);

    leave(std::time::SystemTime::now());
    atomic_write(&path, |_| Ok(())).unwrap();
    assert_eq!(hidden(), [left.clone()], "too young to be sure");

    let writer = leave(old);
    writer.lock().unwrap();
    atomic_write(&path, |_| Ok(())).unwrap();
    assert_eq!(hidden(), [left.clone()], "someone writes it");
    drop(writer);
    atomic_write(&path, |_| Ok(())).unwrap();
    assert_eq!(hidden(), [""; 0]);

    // A writer at work on the very same file, however long it takes.
    atomic_write(&path, |file| {
        file.write_all(b"outer")?;
        file.flush()?;
        let name = directory.path().join(hidden().remove(0));
        fs::File::options().write(true).open(&name)?.set_modified(old)?;
        atomic_write(&path, |file| file.write_all(b"inner")).unwrap();
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"outer");
}
