//! `fieldmark train`, interrupted, killed and resumed.

mod common;
use common::{PROGRAM, Place, errors, output};
use std::process::Stdio;
use std::time::Duration;

/// Killed without warning while it trains, a run that is resumed gives the very same model.
#[test]
fn killed_and_resumed_gives_the_same_model() {
    let place = Place::with_data();
    // More data, so that there is time to be killed in.
    place.write("big.txt", place.read("train.txt").repeat(400));
    let train = "train --template template.txt --c2 0.0001 --epsilon 0 --period 0 --max-iterations 60 --threads 1 \
                 --checkpoint-every 1 --resume";
    place.run(&format!("{train} --model whole.fmk big.txt"));
    assert!(
        !place.path("whole.fmk.checkpoint").exists(),
        "removed when training is done"
    );

    let checkpoint = place.path("cut.fmk.checkpoint");
    let mut kills = 0;
    for _ in 0..200 {
        let mut child = std::process::Command::new(PROGRAM)
            .args(train.split_whitespace())
            .args(["--model", "cut.fmk", "big.txt"])
            .current_dir(place.root())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let before = modified(&checkpoint);
        // Until there is a newer checkpoint; then some more, to hit any moment of an iteration.
        while modified(&checkpoint) == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(3 * (kills % 7)));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if kills == 5 {
            break;
        }
    }
    assert!(kills > 0, "the run was over before it could be killed");
    let events = place.run(&format!("{train} --json --model cut.fmk big.txt"));
    let first = events
        .lines()
        .find(|line| line.contains("\"event\":\"iteration\""))
        .unwrap();
    let first: serde_json::Value = serde_json::from_str(first).unwrap();
    assert!(
        first["iteration"].as_u64().unwrap() > 1,
        "it went on from the checkpoint: {first}"
    );
    assert!(place.bytes("whole.fmk") == place.bytes("cut.fmk"));
}

fn modified(path: &std::path::Path) -> Option<std::time::SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// Ctrl-C ends the iteration, saves the model, and the run can go on.
#[cfg(unix)]
#[test]
fn interrupted_training_saves_the_model() {
    let place = Place::with_data();
    place.write("big.txt", place.read("train.txt").repeat(400));
    let train = "train --template template.txt --c2 0.0001 --epsilon 0 --period 0 --max-iterations 5000 --threads 1 \
                 --checkpoint-every 1 --model m.fmk big.txt";
    let child = std::process::Command::new(PROGRAM)
        .args(train.split_whitespace())
        .current_dir(place.root())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.path("m.fmk.checkpoint").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    let done = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{text}");
    assert!(
        text.contains("stopped on request") && text.contains("--resume"),
        "{text}"
    );
    assert!(place.path("m.fmk.checkpoint").exists());
    place.run("tag --model m.fmk test.txt");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let place = Place::with_data();
    place.write("m.fmk.checkpoint", "not a checkpoint");
    let error = place.refuse("train --resume --model m.fmk train.txt");
    assert!(
        error.contains("m.fmk.checkpoint: this is a text file")
            && error.contains("expected a checkpoint")
            && !error.contains("model"),
        "{error}"
    );
    place.run("train --model m.fmk.checkpoint train.txt");
    let error = place.refuse("train --resume --model m.fmk train.txt");
    assert!(error.contains("this is no checkpoint"), "{error}");
}

/// A run that is killed after its first checkpoint.
fn leave_a_checkpoint(place: &Place) {
    let mut child = std::process::Command::new(PROGRAM)
        .args(
            "train --template template.txt --c2 0.0001 --epsilon 0 --period 0 --checkpoint-every 1"
                .split(' '),
        )
        .args(["--max-iterations", "1000000", "--model", "m.fmk", "train.txt"])
        .current_dir(place.root())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !place.path("m.fmk.checkpoint").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_resumed_run_says_where_it_goes_on() {
    let place = Place::with_data();
    while !place.path("m.fmk.checkpoint").exists() {
        leave_a_checkpoint(&place);
    }
    let checkpoint = place.bytes("m.fmk.checkpoint");
    let resume = |more: &str| {
        place.write("m.fmk.checkpoint", &checkpoint);
        let train = "train --template template.txt --c2 0.0001 --epsilon 0 --period 0 --resume --model m.fmk";
        place
            .command(&format!("{train} {more} train.txt"))
            .done()
            .success()
    };
    let events = output(resume("--json --max-iterations 1"));
    let prepared = events.lines().find(|line| line.contains("prepared")).unwrap();
    let prepared: serde_json::Value = serde_json::from_str(prepared).unwrap();
    let after = prepared["resumed_after"].as_u64().unwrap();
    assert!(after >= 1, "{prepared}");
    let text = errors(&resume("--max-iterations 1"));
    let nothing =
        format!("resumed after iteration {after}; --max-iterations is 1, so nothing is left to do\n");
    assert!(text.contains(&nothing), "{text}");
    // A limit that was passed long ago is more likely a slip than the wish to lose the state of the run.
    assert_eq!(place.bytes("m.fmk.checkpoint"), checkpoint);
    let text = errors(&resume(&format!("--max-iterations {}", after + 1)));
    assert!(!place.path("m.fmk.checkpoint").exists(), "this run did something");
    assert!(
        text.contains(&format!("resumed after iteration {after}\n")),
        "{text}"
    );
}

#[test]
fn a_damaged_checkpoint_is_called_a_checkpoint() {
    let place = Place::with_data();
    // A run that ends before it can be killed takes its checkpoint with it.
    while !place.path("m.fmk.checkpoint").exists() {
        leave_a_checkpoint(&place);
    }
    let mut bytes = place.bytes("m.fmk.checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    for length in [bytes.len(), bytes.len() / 2, 10] {
        place.write("m.fmk.checkpoint", &bytes[..length]);
        let error = place.refuse(
            "train --template template.txt --c2 0.0001 --epsilon 0 --period 0 --resume --model m.fmk train.txt",
        );
        assert!(
            error.contains("m.fmk.checkpoint: the checkpoint is damaged: ")
                && !error.contains("model file")
                && !error.contains("train the model again"),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_is_no_checkpoint_is_left_alone() {
    let place = Place::with_data();
    place.write("keep.txt", "precious");
    let message = place.refuse("train --template template.txt --model m.fmk --checkpoint keep.txt train.txt");
    assert!(message.contains("is no checkpoint"), "{message}");
    // Counting writes no checkpoints.
    place.write("keep.fmk.checkpoint", "precious");
    place.run("train --algorithm hmm --template template.txt --model keep.fmk train.txt");
    assert_eq!(place.read("keep.fmk.checkpoint"), "precious");
    assert_eq!(place.read("keep.txt"), "precious");
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_noticed_before_training() {
    let place = Place::with_data();
    for (name, expected) in [
        (
            "no/where",
            "no/where: cannot write: the directory no does not exist",
        ),
        (".", "this is a directory"),
    ] {
        let error = place.refuse(&format!(
            "train --template template.txt --checkpoint {name} --model m.fmk train.txt"
        ));
        assert!(error.contains(expected), "{error}");
    }
    assert!(!place.path("m.fmk").exists());
}
