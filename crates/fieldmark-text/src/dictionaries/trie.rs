//! [`Trie`]: strings of bytes in a tree, read from left to right byte by byte.
//!
//! The tree ends where a string has become the only one: the rest of that string is compared directly, so that
//! there are at most about two nodes per string. Nodes are numbered level by level; the children of a node then
//! have consecutive numbers, and the edge with number `i` leads to node `i + 1`, which need not be stored.

/// A set of distinct strings with numbers in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Trie {
    keys: Vec<u8>,
    /// Where each key ends in `keys`.
    ends: Vec<u32>,
    nodes: Vec<Node>,
    /// The byte on each edge, those of one node together and rising.
    labels: Vec<u8>,
    /// The child of the root on each byte, or 0.
    first: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its first edge; the next node tells where its edges end.
    edges: u32,
    /// The key that ends here or, in a leaf, the only key that is left.
    key: u32,
}

const NO_KEY: u32 = u32::MAX;

/// A place in the tree: a node and how many bytes led there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    node: u32,
    pub depth: u32,
}

impl Trie {
    /// A tree of keys that rise strictly and are not empty, with less than 2^32 bytes in all.
    pub fn new<'a>(sorted: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut trie = Self {
            first: vec![0; 256],
            ..Self::default()
        };
        for key in sorted {
            trie.keys.extend_from_slice(key);
            trie.ends.push(trie.keys.len() as u32);
        }
        trie.grow();
        trie
    }

    fn grow(&mut self) {
        // Ranges of keys with a common beginning of the given length, one for each node to come.
        let mut level = vec![(0..self.len() as u32, 0_usize)];
        let mut next = Vec::new();
        while !level.is_empty() {
            for (keys, depth) in level.drain(..) {
                self.add_node(keys, depth, &mut next);
            }
            std::mem::swap(&mut level, &mut next);
        }
        for edge in 0..self.nodes.get(1).map_or(0, |node| node.edges) {
            self.first[usize::from(self.labels[edge as usize])] = edge + 1;
        }
        // So that every node has a next one.
        self.nodes.push(Node {
            edges: self.labels.len() as u32,
            key: NO_KEY,
        });
        self.nodes.shrink_to_fit();
        self.labels.shrink_to_fit();
    }

    fn add_node(
        &mut self,
        keys: std::ops::Range<u32>,
        depth: usize,
        next: &mut Vec<(std::ops::Range<u32>, usize)>,
    ) {
        let (mut at, end) = (keys.start, keys.end);
        let is_root = depth == 0;
        let mut node = Node {
            edges: self.labels.len() as u32,
            key: NO_KEY,
        };
        if at < end && (self.key(at).len() == depth || (end - at == 1 && !is_root)) {
            node.key = at;
            at += 1;
        }
        self.nodes.push(node);
        while at < end {
            let label = self.key(at)[depth];
            let start = at;
            while at < end && self.key(at)[depth] == label {
                at += 1;
            }
            self.labels.push(label);
            next.push((start..at, depth + 1));
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The key with a number.
    pub fn key(&self, number: u32) -> &[u8] {
        let at = number as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start as usize..self.ends[at] as usize]
    }

    /// Goes on by a byte; `false` if no key does.
    #[inline]
    pub fn step(&self, cursor: &mut Cursor, byte: u8) -> bool {
        if cursor.depth == 0 {
            let child = self.first.get(usize::from(byte)).copied().unwrap_or(0);
            *cursor = Cursor {
                node: child,
                depth: 1,
            };
            return child != 0;
        }
        let (edges, node) = self.edges(cursor.node);
        let labels = &self.labels[edges.0..edges.1];
        if labels.is_empty() {
            let is_next = self.key(node.key).get(cursor.depth as usize) == Some(&byte);
            cursor.depth += 1;
            return is_next;
        }
        let found = if labels.len() < 8 {
            labels.iter().position(|&label| label == byte)
        } else {
            memchr::memchr(byte, labels)
        };
        match found {
            Some(at) => {
                cursor.node = (edges.0 + at) as u32 + 1;
                cursor.depth += 1;
                true
            }
            None => false,
        }
    }

    /// The key that ends here.
    #[inline]
    pub fn accepted(&self, cursor: Cursor) -> Option<u32> {
        if cursor.depth == 0 {
            return None;
        }
        let (edges, node) = self.edges(cursor.node);
        let ends =
            node.key != NO_KEY && (edges.0 < edges.1 || self.key(node.key).len() == cursor.depth as usize);
        ends.then_some(node.key)
    }

    #[inline]
    fn edges(&self, node: u32) -> ((usize, usize), Node) {
        let at = node as usize;
        let edges = (self.nodes[at].edges as usize, self.nodes[at + 1].edges as usize);
        (edges, self.nodes[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    impl Trie {
        fn get(&self, key: &[u8]) -> Option<u32> {
            let mut cursor = Cursor::default();
            let found = key.iter().all(|&byte| self.step(&mut cursor, byte));
            found.then(|| self.accepted(cursor)).flatten()
        }
    }

    #[test]
    fn a_tree_of_nothing_accepts_nothing() {
        let trie = Trie::new([]);
        assert_eq!(trie.len(), 0);
        assert_eq!(trie.get(b""), None);
        assert_eq!(trie.get(b"a"), None);
        assert_eq!(Trie::default().get(b"a"), None);
    }

    #[test]
    fn tails_are_not_grown() {
        let trie = Trie::new([
            b"interleukin-2".as_slice(),
            b"interleukin-4",
            b"tumor necrosis factor",
        ]);
        assert_eq!(trie.nodes.len() - 1, "interleukin-".len() + 4);
    }

    proptest! {
        #[test]
        fn as_a_set(keys in prop::collection::btree_set("[a-c]{1,5}|[a-p][ab]", 0..40), asked in prop::collection::vec("[a-c]{0,6}|[a-p][ab]?", 0..40)) {
            let keys: BTreeSet<String> = keys;
            let trie = Trie::new(keys.iter().map(|key| key.as_bytes()));
            for (number, key) in keys.iter().enumerate() {
                prop_assert_eq!(trie.get(key.as_bytes()), Some(number as u32));
                prop_assert_eq!(trie.key(number as u32), key.as_bytes());
            }
            for word in asked {
                prop_assert_eq!(trie.get(word.as_bytes()).is_some(), keys.contains(&word), "{}", word);
                let mut cursor = Cursor::default();
                let goes_on = word.bytes().all(|byte| trie.step(&mut cursor, byte));
                let begins = keys.iter().any(|key| key.starts_with(&word));
                prop_assert_eq!(goes_on, begins || word.is_empty());
            }
        }
    }
}
