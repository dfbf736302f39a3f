//! Examples for the help of `fieldmark tag`.

pub const EXAMPLES: &str = "\
Examples:
  fieldmark tag names.fmk notes.txt
  fieldmark tag names.fmk notes.txt --output found.jsonl
  fieldmark tag names.fmk notes.txt --output notes.html

  What else could it be? At most one name in a sentence; known names stay:
      fieldmark tag names.fmk notes.txt --nbest 3
      fieldmark tag names.fmk notes.txt --marginals
      fieldmark tag names.fmk notes.txt --rule 'at-most 1 PER'
      fieldmark tag names.fmk found.jsonl --fix-labels

  fieldmark tag --model chunker.fmk test.txt > tagged.txt
  fieldmark tag --model chunker.fmk --scheme iob2 --spans test.txt
  fieldmark tag --model chunker.fmk --nbest 3 --json test.txt

  A graph: labels of all layers with probabilities, and with another engine:
      fieldmark tag joint.fmk notes.txt --probs
      fieldmark tag joint.fmk notes.txt --nbest 3
      fieldmark tag joint.fmk notes.txt --pair-marginals
      fieldmark tag joint.fmk notes.txt --marginals --inference 'engine=\"gibbs\", samples=5000'

  How probable are the gold labels, and what else could have been?
      fieldmark tag --model chunker.fmk --log-probs test.txt
      fieldmark tag --model chunker.fmk --max-marginals test.txt
      fieldmark tag --model chunker.fmk --pair-marginals test.txt

  No more than one person in a sentence, and no place without a person:
      fieldmark tag --model ner.fmk --rule 'at-most 1 PER; LOC implies PER' test.txt

  Lines that are no tokens stay as they are:
      fieldmark tag --model ner.fmk --skip-lines -DOCSTART- test.txt

  Some labels are known (`?` is open, `A|B` is A or B):
      fieldmark tag --model ner.fmk --fix-labels partly.txt";
