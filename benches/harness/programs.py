"""The two programs: building and calling fieldmark, installing and calling python-crfsuite."""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from . import corpora

WORKER = Path(__file__).with_name("crfsuite_worker.py")


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
        metadata = run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=corpora.ROOT)
        name = "fieldmark.exe" if os.name == "nt" else "fieldmark"
        return Path(json.loads(metadata)["target_directory"]) / "release" / name

    def version(self):
        return run([self.path, "--version"]).strip()

    def train(self, data, model, *options):
        """Trains and returns the report."""
        report = model.with_suffix(".json")
        run([self.path, "--quiet", "train", "--model", model, "--report", report, *options, data])
        return json.loads(report.read_text(encoding="utf-8"))

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
