"""The programs: building and calling fieldmark, installing and calling python-crfsuite, building and calling crfs."""

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from . import corpora

WORKER = Path(__file__).with_name("crfsuite_worker.py")
LOSS = re.compile(r"loss(?: =|:) ([^,\s]+)")
PROGRAMS = corpora.ROOT / "benches" / "programs"


class Failed(Exception):
    """A program that a benchmark needs did not do its work."""


def progress(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def run(command, cwd=None, output=subprocess.PIPE):
    """Runs a command and returns what it prints."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, cwd=cwd, stdout=output, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    except OSError as error:
        raise Failed(f"cannot run {command[0]}: {error}") from error
    if done.returncode != 0:
        raise Failed(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stderr.strip()[-4000:]}")
    return done.stdout


def run_for_peak(command):
    """Runs a command and returns the largest resident memory of its process, in bytes."""
    command = [str(part) for part in command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise Failed(f"`{' '.join(command)}` ended with {process.returncode}:\n{message.strip()[-4000:]}")
    return 1024 * usage.ru_maxrss


def executable(directory, name):
    """The program that a release build of the workspace in `directory` makes."""
    metadata = run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=directory)
    name = name + ".exe" if os.name == "nt" else name
    return Path(json.loads(metadata)["target_directory"]) / "release" / name


class Fieldmark:
    """The `fieldmark` command; built in release unless a path is given."""

    def __init__(self, path=None):
        self.built = path is None
        self.path = self.build() if self.built else Path(path).resolve()
        if not self.path.is_file():
            raise Failed(f"{self.path}: there is no such program")

    @staticmethod
    def build():
        progress("building fieldmark")
        run(["cargo", "build", "--release", "--locked"], cwd=corpora.ROOT)
        return executable(corpora.ROOT, "fieldmark")

    def version(self):
        return run([self.path, "--version"]).strip()

    def train(self, data, model, *options):
        """Trains and returns the report, with the peak of memory at the end of the process: the model is written, too."""
        report = model.with_suffix(".json")
        peak = run_for_peak([self.path, "--quiet", "train", "--model", model, "--report", report, *options, data])
        return json.loads(report.read_text(encoding="utf-8")) | {"process_peak_bytes": peak}

    def tag(self, data, model, *options):
        return run([self.path, "--quiet", "tag", "--model", model, *options, data])

    def tag_seconds(self, data, model, *options):
        """Wall-clock seconds of a whole run whose output nobody reads."""
        command = [self.path, "--quiet", "tag", "--model", model, *options, data]
        started = time.perf_counter()
        run(command, output=subprocess.DEVNULL)
        return time.perf_counter() - started

    def chunk_f1(self, gold, predicted, scratch):
        """F1 of chunks in per cent, as conlleval counts it."""
        with scratch.open("w", encoding="utf-8") as file:
            for right, guess in zip(gold, predicted, strict=True):
                file.writelines(f"{a} {b}\n" for a, b in zip(right, guess, strict=True))
                file.write("\n")
        report = json.loads(run([self.path, "eval", "--json", scratch]))
        return 100 * report["spans"]["total"]["f1"]


class CrfSuite:
    """python-crfsuite in a virtual environment of its own, each call in a process of its own."""

    def __init__(self):
        directory = corpora.cache_directory() / "venv-{}.{}".format(*sys.version_info)
        self.python = directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if not self.installed():
            progress("installing python-crfsuite")
            run([sys.executable, "-m", "venv", "--clear", directory])
            run([self.python, "-m", "pip", "install", "--quiet", "python-crfsuite"])

    def installed(self):
        if not self.python.is_file():
            return False
        probe = [str(self.python), "-c", "import pycrfsuite"]
        return subprocess.run(probe, capture_output=True).returncode == 0

    def call(self, command, *arguments):
        return json.loads(run([self.python, WORKER, command, *arguments]))

    def train(self, data, model, **options):
        pairs = [f"{key.replace('__', '.')}={value}" for key, value in options.items()]
        return self.call("train", data, model, *pairs)


class Crfs:
    """The crate crfs, through `programs/src/bin/crfs.rs`."""

    def __init__(self):
        self.path = built("crfs")

    @staticmethod
    def version():
        """Of the crate that was built, from the lock file."""
        lock = (PROGRAMS / "Cargo.lock").read_text(encoding="utf-8")
        return lock.split('name = "crfs"\nversion = "', 1)[1].split('"', 1)[0]

    def train(self, data, model, count):
        """Number of features; loss and seconds of each of `count` iterations.

        crfs tells no times: an iteration takes from one of its lines to the next. It numbers the start as iterations
        0 and 1, and the loss of the last iteration is in its line about the final loss.
        """
        command = [str(part) for part in (self.path, "train", data, model, count + 1)]
        features, started, iterations = None, None, []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
            for line in process.stdout:
                now = time.perf_counter()
                if line.startswith("Number of features: "):
                    features = int(line.split(": ")[1])
                elif line.startswith("Iteration 1:"):
                    started = now
                elif started and line.startswith(("Iteration ", "Final loss")):
                    loss = float(LOSS.search(line)[1])
                    iterations.append({"loss": loss, "seconds": now - started})
                    started = now
        if process.returncode != 0 or len(iterations) != count:
            raise Failed(f"`{' '.join(command)}` ended with {process.returncode} after {len(iterations)} iterations")
        return {"features": features, "iterations": iterations}

    def tag(self, data, model, repeats):
        """Seconds from the file and from ready-made attributes, and tokens."""
        lines = run([self.path, "tag", data, model, repeats]).splitlines()
        return {name: float(value) for name, value in (line.split("\t") for line in lines)}


class Likelihood:
    """The log-likelihood of gold labels by fieldmark's library, through `programs/src/bin/likelihood.rs`."""

    def __init__(self):
        self.path = built("likelihood")

    def of(self, data, model):
        """The log-probability of each sequence's labels (None if a label is unknown), and the sum of all others."""
        *lines, total = run([self.path, model, data]).splitlines()
        return [None if line == "unknown" else float(line) for line in lines], float(total.split("\t")[1])


def built(name):
    """A program of `benches/programs`. Its lock file follows the dependencies of fieldmark, so it may change."""
    progress(f"building {name}")
    run(["cargo", "build", "--release", "--bin", name], cwd=PROGRAMS)
    return executable(PROGRAMS, name)


def labels_of(output):
    """Lists of labels from `one per line, a blank line after each sequence`."""
    return [block.split("\n") for block in output.strip("\n").split("\n\n")]


def machine():
    """What the machine is, in lines of text."""
    cpu, memory = platform.processor() or platform.machine(), None
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        cpu = next(line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name"))
        total = next(
            line.split()[1]
            for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("MemTotal")
        )
        memory = f"{int(total) / 1024**2:.0f} GiB of memory"
    except (OSError, StopIteration):
        pass
    parts = [cpu, f"{os.cpu_count()} logical cores", memory, f"{platform.system()} {platform.machine()}"]
    return ", ".join(part for part in parts if part)


def commit():
    """The commit that was measured, and whether the sources differ from it."""
    try:
        name = run(["git", "rev-parse", "--short", "HEAD"], cwd=corpora.ROOT).strip()
        changed = run(["git", "status", "--porcelain", "--", "crates", "Cargo.lock"], cwd=corpora.ROOT).strip()
        return name + (" with changes" if changed else "")
    except Failed:
        return "unknown"


def versions(fieldmark, crfsuite):
    """The versions of everything that was measured, in lines of text."""
    peer = crfsuite.call("versions")
    return [
        f"{fieldmark.version()} ({f'commit {commit()}' if fieldmark.built else 'a program given by --fieldmark'})",
        run(["rustc", "--version"]).strip(),
        f"python-crfsuite {peer['package']} (CRFsuite {peer['crfsuite']}), Python {peer['python']}",
    ]
