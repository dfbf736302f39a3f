//! [`EngineChoice`]: an engine as a value of a config.

use crate::exact::{JunctionTree, ProductChain, Tree};
use crate::loopy::{LoopyBp, LoopyOptions};
use crate::{
    Beliefs, Decoding, DualDecoder, DualOptions, Engine, Error, FactorGraph, Gibbs, GibbsOptions,
    MaxMarginals,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which engine answers, with its options.
///
/// ```
/// use fieldmark_graph::EngineChoice;
///
/// let choice: EngineChoice = serde_json::from_str(r#"{"engine": "loopy", "damping": 0.2}"#)?;
/// let engine = choice.engine();
/// assert!(engine.is_ok());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "engine", rename_all = "kebab-case")]
pub enum EngineChoice {
    /// Exact: belief propagation where there is no cycle, a product chain or a junction tree elsewhere.
    Exact(ExactOptions),
    /// Exact: variable by variable along a chain whose states are combinations of labels.
    ProductChain(ExactOptions),
    /// Exact: messages between cliques, in log space.
    JunctionTree(ExactOptions),
    /// Loopy belief propagation.
    Loopy(LoopyOptions),
    /// Loopy belief propagation in single precision.
    LoopySingle(LoopyOptions),
    /// Gibbs sampling.
    Gibbs(GibbsOptions),
    /// Decoding with a bound.
    Dual(DualOptions),
}

/// Options of exact engines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExactOptions {
    /// Bytes that tables may take; what needs more is refused.
    pub budget: u64,
}

impl Default for ExactOptions {
    fn default() -> Self {
        Self { budget: 1 << 29 }
    }
}

impl Default for EngineChoice {
    fn default() -> Self {
        EngineChoice::Exact(ExactOptions::default())
    }
}

impl EngineChoice {
    /// The engine, which has memory of its own: make one for each thread.
    pub fn engine(&self) -> Result<Box<dyn Engine + Send>, Error> {
        Ok(match self {
            EngineChoice::Exact(options) => Box::new(Exact::new(options)),
            EngineChoice::ProductChain(options) => Box::new(ProductChain::with_budget(options.budget)),
            EngineChoice::JunctionTree(options) => Box::new(JunctionTree::with_budget(options.budget)),
            EngineChoice::Loopy(options) => Box::new(LoopyBp::<f64>::new(options.clone())?),
            EngineChoice::LoopySingle(options) => Box::new(LoopyBp::<f32>::new(options.clone())?),
            EngineChoice::Gibbs(options) => Box::new(Gibbs::new(options.clone())?),
            EngineChoice::Dual(options) => Box::new(DualDecoder::new(options.clone())?),
        })
    }

    /// The same engine for max-marginals and the best labellings, if it is exact.
    pub fn max_marginals(&self) -> Option<Box<dyn MaxMarginals + Send>> {
        Some(match self {
            EngineChoice::Exact(options) => Box::new(Exact::new(options)),
            EngineChoice::ProductChain(options) => Box::new(ProductChain::with_budget(options.budget)),
            EngineChoice::JunctionTree(options) => Box::new(JunctionTree::with_budget(options.budget)),
            _ => return None,
        })
    }

    /// The options of an exact engine.
    pub fn exact(&self) -> Option<&ExactOptions> {
        match self {
            EngineChoice::Exact(options)
            | EngineChoice::ProductChain(options)
            | EngineChoice::JunctionTree(options) => Some(options),
            _ => None,
        }
    }

    /// Whether it knows log Z, exactly or approximately.
    pub fn knows_log_z(&self) -> bool {
        !matches!(self, EngineChoice::Gibbs(_) | EngineChoice::Dual(_))
    }
}

/// The cheapest exact engine for each graph.
struct Exact {
    tree: Tree,
    /// With a junction tree of its own.
    chain: ProductChain,
}

/// Entries of a chain that take as long as one of a junction tree.
const CHAIN_ENTRIES: u64 = 8;
/// A chain with tables of so many entries at each variable is quicker than a look at what a junction tree would need.
const FEW_ENTRIES: u64 = 1 << 10;

impl Exact {
    fn new(options: &ExactOptions) -> Self {
        Self {
            tree: Tree::new(),
            chain: ProductChain::with_budget(options.budget),
        }
    }

    /// Whether a chain is quicker than a junction tree and there is memory for it; if so, it is prepared.
    fn takes_chain(&mut self, graph: &FactorGraph) -> bool {
        let Ok(work) = self.chain.plan(graph) else {
            return false;
        };
        let is_quick = work <= FEW_ENTRIES.saturating_mul(graph.variables() as u64)
            || match self.chain.junction_tree().cost(graph) {
                Ok(cost) => work <= (cost.bytes / size_of::<f64>() as u64).saturating_mul(CHAIN_ENTRIES),
                Err(_) => true,
            };
        is_quick && self.chain.prepare(graph).is_ok()
    }
}

impl Engine for Exact {
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        if graph.trees().is_some() {
            return self.tree.sum(graph);
        }
        if self.takes_chain(graph) {
            return self.chain.sum_prepared(graph);
        }
        self.chain.junction_tree().sum(graph)
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        if graph.trees().is_some() {
            return self.tree.max(graph);
        }
        if self.takes_chain(graph) {
            return self.chain.max_prepared(graph);
        }
        self.chain.junction_tree().max(graph)
    }
}

impl MaxMarginals for Exact {
    fn max_marginals(&mut self, graph: &FactorGraph) -> Result<&[f64], Error> {
        if graph.trees().is_some() {
            return self.tree.max_marginals(graph);
        }
        if self.takes_chain(graph) {
            return self.chain.max_marginals(graph);
        }
        self.chain.junction_tree().max_marginals(graph)
    }
}
