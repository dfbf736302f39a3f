"""The weights of a CRFsuite model, as a text that `fieldmark inspect --load` reads.

`Tagger.info()` knows the names of labels and attributes but rounds weights to six digits. The model file holds
them as they are: its header ends with the places of five parts, and the first of these parts lists the features
as (kind, source, target, weight), a state feature leading from an attribute to a label and a transition from a
label to a label.
"""

import struct

HEADER = struct.Struct("<4sI4s9I")
PART = struct.Struct("<4sII")
FEATURE = struct.Struct("<IIId")
STATE, TRANSITION = 0, 1


def features(path):
    """The features of a model file: (kind, source, target, weight)."""
    with open(path, "rb") as file:
        content = file.read()
    magic, _, kind, _version, *rest = HEADER.unpack_from(content)
    if (magic, kind) != (b"lCRF", b"FOMC"):
        raise ValueError(f"{path} is no first-order model of CRFsuite")
    start = rest[3]
    name, _, count = PART.unpack_from(content, start)
    if name != b"FEAT":
        raise ValueError(f"{path} has no features where its header says")
    first = start + PART.size
    return list(FEATURE.iter_unpack(content[first : first + count * FEATURE.size]))


def escape(name):
    for symbol, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        name = name.replace(symbol, escaped)
    return name


def names(table):
    """Names by number."""
    ordered = sorted((int(number), name) for name, number in table.items())
    return [name for _, name in ordered]


def frame_of(dump):
    """The lines of a dump before its labels and from its end on: options of the model, and how input is read."""
    with open(dump, encoding="utf-8", newline="\n") as file:
        lines = file.readlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("label\t"))
    return lines[:first], lines[lines.index("end\n") :]


def write_dump(model, info, frame, output):
    """Writes the dump; how many weights of each kind it has, and how far they are from the rounded ones.

    `frame` is the dump of another model, with the same options.
    """
    head, tail = frame_of(frame)
    labels, attributes = names(info.labels), names(info.attributes)
    found = features(model)
    transitions = sorted((source, to, weight) for kind, source, to, weight in found if kind == TRANSITION)
    states = sorted((source, to, weight) for kind, source, to, weight in found if kind == STATE)
    if (len(transitions), len(states)) != (len(info.transitions), len(info.state_features)):
        raise ValueError("Tagger.info() and the model file disagree on the number of features")
    rounding = [abs(w - info.transitions[labels[a], labels[b]]) for a, b, w in transitions]
    rounding += [abs(w - info.state_features[attributes[a], labels[b]]) for a, b, w in states]
    with open(output, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(head)
        file.writelines(f"label\t{escape(label)}\n" for label in labels)
        for source, to, weight in transitions:
            file.write(f"tuple\t{escape(labels[source])}\t{escape(labels[to])}\t{weight!r}\n")
        for source, to, weight in states:
            file.write(f"state\t{escape(attributes[source])}\t{escape(labels[to])}\t{weight!r}\n")
        file.writelines(tail)
    return {"transitions": len(transitions), "states": len(states), "rounding": max(rounding)}
