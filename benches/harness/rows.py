"""The rows of the table: what is compared, the ratio, and the bar that it is held against."""

from dataclasses import dataclass
from statistics import median

from .runs import Times

# Peak memory of `crfsuite learn` (0.12.2) on the same attribute file, measured once and not in this run. Unlike
# python-crfsuite it has no interpreter in its process.
COMMAND_LINE_BYTES = 203e6


@dataclass(frozen=True)
class Bar:
    """What a ratio should reach: at least, or at most, this much."""

    at_least: bool
    bar: float
    stretch: float | None = None

    def verdict(self, ratio):
        def reached(mark):
            return mark is not None and (ratio >= mark if self.at_least else ratio <= mark)

        return "stretch" if reached(self.stretch) else "bar" if reached(self.bar) else "SHORT"

    def shown(self, unit):
        sign = "≥" if self.at_least else "≤"
        marks = [self.bar] if self.stretch is None else [self.bar, self.stretch]
        return " / ".join(f"{sign} {mark:g}{unit}" for mark in marks)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    fieldmark: str
    peer: str
    ratio: float
    bar: Bar
    unit: str = "×"
    form: str = ".2f"
    note: str = ""

    def cells(self, judged):
        ratio = f"{self.ratio:{self.form}}{self.unit}"
        verdict = self.bar.verdict(self.ratio) if judged else "–"
        return [self.work, self.fieldmark, self.peer, ratio, self.bar.shown(self.unit), verdict]


def seconds(times):
    return f"{times.median:.4f} s (best {times.best:.4f})"


def megabytes(count):
    return f"{count / 1e6:,.0f} MB"


def per_iteration(work, one, peer):
    """Medians decide. CRFsuite's are processor time; by the clock they can only be longer."""
    ours, theirs = Times.of(one), Times.of(peer)
    clock = min(median(run["wall_seconds"]) for run in peer)
    counts = (one[0]["features"], peer[0]["features"])
    features = f"{counts[0]:,}" if counts[0] == counts[1] else f"{counts[0]:,} and {counts[1]:,} (THEY DIFFER)"
    note = f"{features} features; best iterations: {theirs.best / ours.best:.2f}×"
    note += f"; CRFsuite's median by the clock: {clock:.4f} s"
    ratio = theirs.median / ours.median
    return Row(work, seconds(ours), seconds(theirs), ratio, Bar(True, 6, 10), note=note)


def sparse_iterations(runs):
    work = "1. seconds per L-BFGS iteration, chunking attributes, one thread"
    yield per_iteration(work, runs.sparse["one"], runs.sparse["peer"])


def two_threads(runs):
    one, two = Times.of(runs.sparse["one"]), Times.of(runs.sparse["two"])
    losses = [[i["loss"] for i in runs.sparse[threads][0]["iterations"]] for threads in ("one", "two")]
    same = "the same to the last bit" if losses[0] == losses[1] else "NOT THE SAME"
    note = f"best iterations: {one.best / two.best:.2f}×; losses with one and with two threads: {same}"
    work = "2. the same, two threads (against our one)"
    yield Row(work, seconds(two), f"ours: {seconds(one)}", one.median / two.median, Bar(True, 1.8, 1.95), note=note)


def dense_iterations(runs):
    work = "3. seconds per iteration, dense features, one thread"
    yield per_iteration(work, runs.dense["one"], runs.dense["peer"])


def reading(runs):
    def ours(threads):
        return min(run["read_seconds"] + run["prepare_seconds"] for run in runs.sparse[threads])

    def theirs(*parts):
        return min(sum(run[f"{part}_seconds"] for part in parts) for run in runs.sparse["peer"])

    one, bar = f"{ours('one'):.3f} s", Bar(True, 5, 10)
    note = "CRFsuite without parsing the file: objects made of strings"
    note += f" {theirs('convert'):.3f} s, append {theirs('append'):.3f} s, features {theirs('generation'):.3f} s"
    note += f"; fieldmark with two threads: {ours('two'):.3f} s"
    work = "4. reading the attribute file and building features, one thread; CRFsuite from lists of strings"
    lists = theirs("convert", "append", "generation")
    yield Row(work, one, f"{lists:.3f} s", lists / ours("one"), bar, note=note)
    ready = theirs("append", "generation")
    work = "4a. the same; CRFsuite from ready-made ItemSequence objects"
    yield Row(work, one, f"{ready:.3f} s", ready / ours("one"), bar)


def tagging(runs):
    found = runs.tagging
    ours = f"{found['fieldmark']:,.0f} tokens/s"
    note = f"fieldmark reads the file; {found['load_seconds']:.3f} s for start and model are not counted"
    lists = f"{found['lists']:,.0f} tokens/s"
    work = "5. tagging from attributes, one thread"
    ratio = found["fieldmark"] / found["lists"]
    yield Row(f"{work}; CRFsuite from lists of strings", ours, lists, ratio, Bar(True, 5, 10), note=note)
    ready = f"{found['ready']:,.0f} tokens/s"
    ratio = found["fieldmark"] / found["ready"]
    work = "5a. the same; CRFsuite from ready-made ItemSequence objects"
    yield Row(work, ours, ready, ratio, Bar(True, 5, 10))


def memory(runs):
    ours = min(max(run["peak_rss_bytes"], run["process_peak_bytes"]) for run in runs.sparse["one"])
    theirs = min(run["peak_rss_bytes"] for run in runs.sparse["peer"])
    before = min(run["rss_before_bytes"] for run in runs.sparse["peer"])
    work = "6. peak memory in training, chunking attributes"
    peer, bar = f"{megabytes(theirs)}, of which {megabytes(before)} before the first sequence", Bar(False, 1, 0.6)
    yield Row(work, megabytes(ours), peer, ours / theirs, bar, note="python-crfsuite is fed sequence by sequence")
    if runs.effort.sentences is None:
        peer = f"{megabytes(COMMAND_LINE_BYTES)} (measured separately)"
        ratio = ours / COMMAND_LINE_BYTES
        yield Row("6a. the same, against CRFsuite's command line", megabytes(ours), peer, ratio, bar)


def convergence(runs):
    ours, theirs = runs.converged["fieldmark"], runs.converged["peer"]
    difference = abs(ours[-1]["loss"] / theirs[-1]["loss"] - 1)

    def shown(iterations):
        return f"{iterations[-1]['loss']:.6f} ({len(iterations)} iterations)"

    work = "7. loss at convergence, c2 = 1 (ratio: relative difference)"
    yield Row(work, shown(ours), shown(theirs), difference, Bar(False, 1e-6), unit="", form=".1e")


def chunk_f1(runs):
    ours, theirs = runs.converged["fieldmark_f1"], runs.converged["peer_f1"]
    work = "8. chunk F1 on the test side at convergence (ratio: difference)"
    yield Row(work, f"{ours:.2f}", f"{theirs:.2f}", ours - theirs, Bar(True, 0), unit=" points", form=".3f")


def higher_orders(runs):
    def total(order):
        return min(sum(i["seconds"] for i in report["iterations"]) for report in runs.orders[order])

    first = Times.of(runs.orders[1])
    count = runs.effort.order_iterations
    for order, bar in ((2, Bar(False, 10, 5)), (3, Bar(False, 60, 30))):
        times = Times.of(runs.orders[order])
        report = runs.orders[order][0]
        features = f"{report['features']:,} features, order 1 has {runs.orders[1][0]['features']:,}"
        note = f"per iteration: {times.median:.4f} s, {times.median / first.median:.2f}× order 1; {features}"
        work = f"9. order {order}: seconds for {count} iterations on CoNLL-2003, one thread (against our order 1)"
        ratio = total(order) / total(1)
        yield Row(work, f"{total(order):.2f} s", f"ours: {total(1):.2f} s", ratio, bar, note=note)


def crate_crfs(runs):
    """The bars are about CRFsuite; here it is only asked who is faster."""
    found, bar = runs.crfs, Bar(True, 1)
    ours, theirs = Times.of(found["one"]), Times.of(found["crfs"])
    counts = [found[name][0]["features"] for name in ("one", "crfs")]
    note = f"{counts[0]:,} and {counts[1]:,} features"
    for number in (1, runs.effort.crfs_iterations):
        losses = [found[name][0]["iterations"][number - 1]["loss"] for name in ("one", "crfs")]
        note += f"; loss after iteration {number}: {losses[0]:.6f} and {losses[1]:.6f}"
    work = "10. crate crfs: seconds per L-BFGS iteration, chunking attributes, one thread"
    ratio = theirs.median / ours.median
    yield Row(work, seconds(ours), f"crfs: {seconds(theirs)}", ratio, bar, note=note)
    ours = f"{found['fieldmark']:,.0f} tokens/s"
    for work, way in (
        ("10a. crate crfs: tagging from the attribute file, one thread", "file"),
        ("10b. the same; crfs from attributes in memory", "ready"),
    ):
        peer = f"crfs: {found[way]:,.0f} tokens/s"
        yield Row(work, ours, peer, found["fieldmark"] / found[way], bar)


ROWS = {
    1: sparse_iterations,
    2: two_threads,
    3: dense_iterations,
    4: reading,
    5: tagging,
    6: memory,
    7: convergence,
    8: chunk_f1,
    9: higher_orders,
    10: crate_crfs,
}


def table(rows, judged):
    """The rows as Markdown, and their notes below. Ratios are held against the bars if they are to be judged."""
    lines = ["| work | fieldmark | peer (CRFsuite unless named) | ratio | bar / stretch | reached |", "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row.cells(judged)) + " |" for row in rows]
    notes = [f"- {row.work.split(':')[0].split(',')[0]}: {row.note}" for row in rows if row.note]
    return "\n".join([*lines, "", *notes, ""])
