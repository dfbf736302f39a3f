//! Where everything stands in a picture.
//!
//! Neighbours in a row and neighbours in a column are joined by straight lines. Every other factor is a *comb*: a
//! horizontal bar in a lane above the lowest row of its variables, with a leg to each of them. Legs end at the nodes of
//! the rows beside the lane; to nodes further up they run in lanes beside the column. So no line crosses a node that
//! it does not belong to, except for bars that lie below the bar of another layer per instance.

use super::{Drawing, Factor, Place};
use std::collections::{BTreeMap, HashSet};

/// Half the height of a node.
pub(super) const RADIUS: f64 = 17.0;
/// Half the side of the square of a factor.
pub(super) const SQUARE: f64 = 4.5;
/// Most characters of a label in a node; the whole is in its title.
pub(super) const LABEL: usize = 14;
/// The width of a character of the text in nodes, of names and of captions, about.
pub(super) const NARROW: f64 = 6.1;
pub(super) const CHARACTER: f64 = 6.9;
/// Between lanes above rows, and beside columns.
const LANE: f64 = 13.0;
const SIDE_LANE: f64 = 8.0;
const MARGIN: f64 = 14.0;
/// Between a node and the lanes at its right, and between these and the next column.
const SIDE_ROOM: f64 = 14.0;
const COLUMN_ROOM: f64 = 34.0;
/// Under a row: room for the factors of single variables and those to the next row.
const FOOT: f64 = 36.0;
const CAPTION: f64 = 34.0;
const BAR: f64 = 2.0 * RADIUS + 14.0;

pub(super) type Point = (f64, f64);

/// Places in the picture; those of variables and factors in the order of the drawing.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub width: f64,
    /// Height without the legend.
    pub height: f64,
    pub nodes: Vec<Node>,
    pub factors: Vec<Route>,
    /// The middle of each row, and of each bar.
    pub rows: Vec<f64>,
    pub bars: Vec<f64>,
    pub columns: Vec<f64>,
    /// Where names of positions stand.
    pub foot: f64,
}

/// A variable: a circle, or something longer with round ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub middle: Point,
    pub half_width: f64,
}

/// A factor: lines between its square and its variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    pub lines: Vec<Vec<Point>>,
    pub square: Point,
}

/// How a factor is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Of layers per instance alone, at their left.
    Left(usize),
    /// Of one variable, beside its foot.
    Single(usize),
    /// Straight between neighbours in a row.
    Along,
    /// Straight down in a column.
    Down,
    /// From the right side of one node to that of another in the same column, in a lane beside it.
    Beside(usize),
    /// A bar above a row, in a lane.
    Comb { row: usize, lane: usize },
}

/// A leg that runs in a lane beside a column, by factor and place in its scope.
type SideLanes = BTreeMap<(usize, usize), usize>;

struct Plan<'a> {
    drawing: &'a Drawing,
    ways: Vec<Way>,
    side: SideLanes,
    /// Lanes above each row, rows of single factors under each, lanes beside columns, places at the left.
    lanes: Vec<usize>,
    singles: Vec<usize>,
    side_lanes: usize,
    left: usize,
}

impl Layout {
    pub fn new(drawing: &Drawing) -> Self {
        let plan = Plan::new(drawing);
        let mut layout = plan.frame();
        layout.factors = plan.routes(&layout);
        layout
    }
}

impl<'a> Plan<'a> {
    fn new(drawing: &'a Drawing) -> Self {
        let rows = drawing.rows.len();
        let mut plan = Self {
            drawing,
            ways: vec![Way::Left(0); drawing.factors.len()],
            side: BTreeMap::new(),
            lanes: vec![0; rows],
            singles: vec![0; rows],
            side_lanes: 0,
            left: 0,
        };
        let combs = plan.straight_ways();
        plan.comb_lanes(combs);
        plan.lanes_beside_columns();
        plan
    }

    fn place(&self, variable: usize) -> Place {
        self.drawing.variables[variable].place
    }

    fn cells(&self, factor: &Factor) -> Vec<(usize, usize)> {
        let places = factor.scope.iter().map(|&variable| self.place(variable));
        places
            .filter_map(|place| match place {
                Place::Cell { row, column } => Some((row, column)),
                Place::Bar(_) => None,
            })
            .collect()
    }

    /// Finds what needs no lane; gives the factors that do.
    fn straight_ways(&mut self) -> Vec<usize> {
        let mut taken = HashSet::new();
        let mut singles: BTreeMap<usize, usize> = BTreeMap::new();
        let mut combs = Vec::new();
        for (number, factor) in self.drawing.factors.iter().enumerate() {
            let cells = self.cells(factor);
            let pair = (factor.scope.len() == 2).then(|| &cells[..]);
            self.ways[number] = match (pair, &cells[..]) {
                (_, []) => {
                    self.left += 1;
                    Way::Left(self.left - 1)
                }
                (None, [(row, _)]) if factor.scope.len() == 1 => {
                    let count = singles.entry(factor.scope[0]).or_default();
                    *count += 1;
                    self.singles[*row] = self.singles[*row].max(*count);
                    Way::Single(*count - 1)
                }
                (Some([one, other]), _) if one.0 == other.0 && one.1.abs_diff(other.1) == 1 => {
                    if !taken.insert(pair_of(factor)) {
                        combs.push(number);
                        continue;
                    }
                    Way::Along
                }
                (Some([one, other]), _) if one.1 == other.1 => {
                    let is_straight = one.0.abs_diff(other.0) == 1 && taken.insert(pair_of(factor));
                    if is_straight { Way::Down } else { Way::Beside(0) }
                }
                // With a layer per instance.
                (Some([(0, _)]), _) if taken.insert(pair_of(factor)) => Way::Down,
                (Some([_]), _) => Way::Beside(0),
                _ => {
                    combs.push(number);
                    continue;
                }
            };
        }
        combs
    }

    /// Gives each comb a lane in which no other is in its way; short ones lie lowest.
    fn comb_lanes(&mut self, mut combs: Vec<usize>) {
        let extent = |plan: &Self, number: usize| {
            let cells = plan.cells(&plan.drawing.factors[number]);
            let columns = || cells.iter().map(|cell| cell.1);
            let row = cells.iter().map(|cell| cell.0).max().unwrap_or(0);
            (row, columns().min().unwrap_or(0), columns().max().unwrap_or(0))
        };
        combs.sort_by_key(|&number| {
            let (_, first, last) = extent(self, number);
            (last - first, first, number)
        });
        let mut lanes: Vec<Vec<Vec<(usize, usize)>>> = vec![Vec::new(); self.lanes.len()];
        for number in combs {
            let (row, first, last) = extent(self, number);
            let lane = free_lane(&mut lanes[row], (first, last));
            self.ways[number] = Way::Comb { row, lane };
        }
        self.lanes = lanes.iter().map(Vec::len).collect();
    }

    /// Gives lanes beside columns to factors and legs that need them.
    fn lanes_beside_columns(&mut self) {
        let mut lanes: Vec<Vec<Vec<(usize, usize)>>> = vec![Vec::new(); self.drawing.columns.len()];
        for number in 0..self.ways.len() {
            let factor = &self.drawing.factors[number];
            let lowest = self.cells(factor).iter().map(|cell| cell.0).max().unwrap_or(0);
            match self.ways[number] {
                Way::Beside(_) => {
                    let cells = self.cells(factor);
                    let column = cells[0].1;
                    // Rows count from 1, so that bars are row 0.
                    let top = if cells.len() == 2 {
                        1 + cells[0].0.min(cells[1].0)
                    } else {
                        0
                    };
                    self.ways[number] = Way::Beside(free_lane(&mut lanes[column], (top, lowest + 1)));
                }
                Way::Comb { .. } => {
                    let first_column = self.cells(factor).iter().map(|cell| cell.1).min();
                    for (place, &variable) in factor.scope.iter().enumerate() {
                        let (top, column) = match self.place(variable) {
                            Place::Cell { row, column } if row + 1 < lowest => (row + 1, column),
                            Place::Bar(_) if lowest > 0 => (0, first_column.unwrap_or(0)),
                            _ => continue,
                        };
                        let lane = free_lane(&mut lanes[column], (top, lowest + 1));
                        self.side.insert((number, place), lane);
                    }
                }
                _ => {}
            }
        }
        self.side_lanes = lanes.iter().map(Vec::len).max().unwrap_or(0);
    }

    /// Where rows, columns and nodes are.
    fn frame(&self) -> Layout {
        let drawing = self.drawing;
        let letters = |texts: &mut dyn Iterator<Item = &String>| {
            texts.map(|text| text.chars().count()).max().unwrap_or(0)
        };
        let cells = drawing
            .variables
            .iter()
            .filter(|variable| matches!(variable.place, Place::Cell { .. }));
        let texts = cells.flat_map(|variable| [&variable.text, &variable.gold]);
        let label = letters(&mut texts.into_iter()).min(LABEL);
        let half_width = RADIUS.max(label as f64 * NARROW / 2.0 + 7.0);
        let names = letters(&mut drawing.rows.iter().chain(&drawing.bars)).min(2 * LABEL);
        let left = MARGIN + names as f64 * CHARACTER + 16.0 + self.left as f64 * LANE + COLUMN_ROOM;
        let pitch = 2.0 * half_width + SIDE_ROOM + SIDE_LANE * self.side_lanes as f64 + COLUMN_ROOM;
        let columns: Vec<f64> = (0..drawing.columns.len())
            .map(|column| left + half_width + pitch * column as f64)
            .collect();
        let mut y = CAPTION + MARGIN;
        let bars: Vec<f64> = (0..drawing.bars.len())
            .map(|bar| y + RADIUS + BAR * bar as f64)
            .collect();
        if !bars.is_empty() {
            y += BAR * bars.len() as f64 + FOOT - 24.0 + 10.0 * bars.len() as f64;
        }
        let mut rows = Vec::new();
        for (row, &lanes) in self.lanes.iter().enumerate() {
            y += LANE * lanes as f64 + RADIUS;
            rows.push(y);
            y += RADIUS + FOOT + LANE * self.singles[row].saturating_sub(3) as f64;
        }
        let side = match self.side_lanes {
            0 => 0.0,
            lanes => SIDE_ROOM + SIDE_LANE * lanes as f64,
        };
        let end = columns.last().map_or(left + 140.0, |x| x + half_width + side);
        let caption = MARGIN + drawing.caption.chars().count() as f64 * CHARACTER;
        let nodes = drawing.variables.iter().map(|variable| match variable.place {
            Place::Cell { row, column } => Node {
                middle: (columns[column], rows[row]),
                half_width,
            },
            Place::Bar(bar) => Node {
                middle: ((left + end) / 2.0, bars[bar]),
                half_width: (end - left) / 2.0,
            },
        });
        Layout {
            width: end.max(caption) + MARGIN,
            height: y + if columns.is_empty() { 0.0 } else { 34.0 },
            nodes: nodes.collect(),
            factors: Vec::new(),
            rows,
            bars,
            columns,
            foot: y,
        }
    }

    fn routes(&self, layout: &Layout) -> Vec<Route> {
        let legs = self.leg_offsets();
        let mut sides: BTreeMap<usize, usize> = BTreeMap::new();
        let mut routes = Vec::with_capacity(self.ways.len());
        for (number, &way) in self.ways.iter().enumerate() {
            let factor = &self.drawing.factors[number];
            let node = |place: usize| layout.nodes[factor.scope[place]];
            routes.push(match way {
                Way::Left(place) => self.left_of_bars(layout, factor, place),
                Way::Single(place) => single(node(0), place),
                Way::Along => self.along(node(0), node(1)),
                Way::Down => self.down(layout, factor),
                Way::Beside(lane) => self.beside(layout, factor, lane, &mut sides),
                Way::Comb { row, lane } => self.comb(layout, number, (row, lane), &legs, &mut sides),
            });
        }
        routes
    }

    fn left_of_bars(&self, layout: &Layout, factor: &Factor, place: usize) -> Route {
        let ends: Vec<Point> = factor
            .scope
            .iter()
            .map(|&variable| {
                let node = layout.nodes[variable];
                (node.middle.0 - node.half_width + RADIUS, node.middle.1)
            })
            .collect();
        let x = ends[0].0 - RADIUS - 16.0 - LANE * place as f64;
        let (top, foot) = extremes(ends.iter().map(|end| end.1));
        let mut lines: Vec<Vec<Point>> = ends.iter().map(|&(end, y)| vec![(x, y), (end, y)]).collect();
        lines.push(vec![(x, top), (x, foot)]);
        // Not at a bar, where legs of other factors pass.
        let y = if top == foot { top } else { (top + foot) / 2.0 };
        Route {
            lines,
            square: (x, y),
        }
    }

    fn along(&self, one: Node, other: Node) -> Route {
        let (left, right) = if one.middle.0 < other.middle.0 {
            (one, other)
        } else {
            (other, one)
        };
        // Between the lanes beside the left column and the factors of single variables of the right one.
        let x = right.middle.0 - right.half_width - COLUMN_ROOM / 2.0;
        Route {
            lines: vec![vec![left.middle, right.middle]],
            square: (x, left.middle.1),
        }
    }

    fn down(&self, layout: &Layout, factor: &Factor) -> Route {
        let mut ends: Vec<(Place, Node)> = factor
            .scope
            .iter()
            .map(|&variable| (self.place(variable), layout.nodes[variable]))
            .collect();
        ends.sort_by(|one, other| one.1.middle.1.total_cmp(&other.1.middle.1));
        let (upper, lower) = (ends[0], ends[1]);
        // Lines from several bars into one row lie side by side.
        let (shift, square) = match upper.0 {
            Place::Bar(bar) => {
                let shift = 4.0 * bar as f64 - 2.0 * (layout.bars.len() - 1) as f64;
                let last = layout.bars.last().copied().unwrap_or(0.0);
                (shift, last + RADIUS + 15.0 + 10.0 * bar as f64)
            }
            Place::Cell { .. } => (0.0, upper.1.middle.1 + RADIUS + 15.0),
        };
        let x = lower.1.middle.0 + shift;
        Route {
            lines: vec![vec![(x, upper.1.middle.1), (x, lower.1.middle.1)]],
            square: (x, square),
        }
    }

    /// Where a line enters the right side of a node, one below the other; `down` if it comes from below.
    fn entry(&self, node: Node, variable: usize, down: bool, sides: &mut BTreeMap<usize, usize>) -> Point {
        let count = sides.entry(2 * variable + usize::from(down)).or_default();
        let y = (5.0 + 3.0 * *count as f64).min(RADIUS - 3.0);
        *count += 1;
        (node.middle.0, node.middle.1 + if down { y } else { -y })
    }

    fn side_x(&self, layout: &Layout, column: usize, lane: usize) -> f64 {
        let half_width = self.half_width(layout);
        layout.columns[column] + half_width + SIDE_ROOM + SIDE_LANE * lane as f64 - 4.0
    }

    fn half_width(&self, layout: &Layout) -> f64 {
        let mut variables = self.drawing.variables.iter().zip(&layout.nodes);
        let cell = variables.find(|(variable, _)| matches!(variable.place, Place::Cell { .. }));
        cell.map_or(RADIUS, |(_, node)| node.half_width)
    }

    fn beside(
        &self,
        layout: &Layout,
        factor: &Factor,
        lane: usize,
        sides: &mut BTreeMap<usize, usize>,
    ) -> Route {
        let mut ends: Vec<usize> = factor.scope.clone();
        ends.sort_by(|&one, &other| {
            layout.nodes[one]
                .middle
                .1
                .total_cmp(&layout.nodes[other].middle.1)
        });
        let (upper, lower) = (ends[0], ends[1]);
        let Place::Cell { column, .. } = self.place(lower) else {
            return Route::default();
        };
        let x = self.side_x(layout, column, lane);
        let end = self.entry(layout.nodes[lower], lower, false, sides);
        let top = layout.nodes[upper].middle.1;
        let start = match self.place(upper) {
            Place::Bar(_) => vec![(x, top)],
            Place::Cell { .. } => {
                let start = self.entry(layout.nodes[upper], upper, true, sides);
                vec![start, (x, start.1)]
            }
        };
        let under = match self.place(upper) {
            Place::Bar(_) => layout.bars.last().copied().unwrap_or(top),
            Place::Cell { .. } => top,
        };
        let line = [start, vec![(x, end.1), end]].concat();
        Route {
            lines: vec![line],
            // Neighbouring lanes are closer than squares are wide.
            square: (x, under + RADIUS + 8.0 + 10.0 * (lane % 3) as f64),
        }
    }

    /// The places at which legs of combs enter the upper and the lower side of nodes, by factor and place in its scope.
    fn leg_offsets(&self) -> BTreeMap<(usize, usize), f64> {
        /// Lines to the left of the middle, to its right, and at the foot.
        #[derive(Default)]
        struct Legs([Vec<(usize, (usize, usize))>; 3]);
        let mut nodes: BTreeMap<usize, Legs> = BTreeMap::new();
        for (number, &way) in self.ways.iter().enumerate() {
            let Way::Comb { row: lowest, lane } = way else {
                continue;
            };
            let factor = &self.drawing.factors[number];
            let cells = self.cells(factor);
            let last = cells.iter().map(|cell| cell.1).max().unwrap_or(0);
            for (place, &variable) in factor.scope.iter().enumerate() {
                let Place::Cell { row, column } = self.place(variable) else {
                    continue;
                };
                let side = match () {
                    () if row + 1 == lowest => 2,
                    () if row < lowest => continue,
                    () if column == last && cells.len() > 1 => 0,
                    () => 1,
                };
                nodes.entry(variable).or_default().0[side].push((lane, (number, place)));
            }
        }
        let most = RADIUS - 4.0;
        let mut offsets = BTreeMap::new();
        for Legs(sides) in nodes.into_values() {
            for (side, mut legs) in sides.into_iter().enumerate() {
                // The lowest lane is outermost, so that its bar does not cross the legs of the others.
                legs.sort_by_key(|leg| std::cmp::Reverse(leg.0));
                let (first, sign) = [(4.0, -1.0), (4.0, 1.0), (6.0, 1.0)][side];
                let step = ((most - first) / (legs.len().max(2) - 1) as f64).min(5.0);
                for (rank, (_, key)) in legs.into_iter().enumerate() {
                    offsets.insert(key, sign * (first + step * rank as f64));
                }
            }
        }
        offsets
    }

    fn comb(
        &self,
        layout: &Layout,
        number: usize,
        (row, lane): (usize, usize),
        offsets: &BTreeMap<(usize, usize), f64>,
        sides: &mut BTreeMap<usize, usize>,
    ) -> Route {
        let factor = &self.drawing.factors[number];
        let y = layout.rows[row] - RADIUS - 11.0 - LANE * lane as f64;
        let first_column = self.cells(factor).iter().map(|cell| cell.1).min().unwrap_or(0);
        let mut lines = Vec::new();
        let mut feet = Vec::new();
        for (place, &variable) in factor.scope.iter().enumerate() {
            let node = layout.nodes[variable];
            let beside = self.side.get(&(number, place));
            let line = match (self.place(variable), beside) {
                (Place::Cell { column, .. }, Some(&lane)) => {
                    let x = self.side_x(layout, column, lane);
                    let start = self.entry(node, variable, true, sides);
                    vec![start, (x, start.1), (x, y)]
                }
                (Place::Cell { .. }, None) => {
                    let x = node.middle.0 + offsets.get(&(number, place)).copied().unwrap_or(0.0);
                    vec![(x, node.middle.1), (x, y)]
                }
                (Place::Bar(_), Some(&lane)) => {
                    let x = self.side_x(layout, first_column, lane);
                    vec![(x, node.middle.1), (x, y)]
                }
                (Place::Bar(_), None) => {
                    let x = layout.columns[first_column] + self.half_width(layout) - 2.0;
                    vec![(x, node.middle.1), (x, y)]
                }
            };
            feet.extend(line.last().map(|point| point.0));
            lines.push(line);
        }
        let (left, right) = extremes(feet.into_iter());
        match &mut lines[..] {
            // One line, so that its corners are round.
            [one, other] => {
                one.extend(other.iter().rev());
                lines.truncate(1);
            }
            _ => lines.push(vec![(left, y), (right, y)]),
        }
        Route {
            lines,
            square: ((left + right) / 2.0, y),
        }
    }
}

/// The variables of a factor, whatever their order. The first factor of a pair is a straight line.
fn pair_of(factor: &Factor) -> Vec<usize> {
    let mut pair = factor.scope.clone();
    pair.sort_unstable();
    pair
}

/// A factor of one variable, beside the foot of its node.
fn single(node: Node, place: usize) -> Route {
    let (x, y) = node.middle;
    let left = x - node.half_width;
    let square = match place {
        0 => (left + 2.0, y + 23.0),
        1 => (left - 11.0, y + 16.0),
        2 => (left - 10.0, y + 30.0),
        more => (left + 2.0, y + 23.0 + LANE * (more - 2) as f64),
    };
    Route {
        lines: vec![vec![(left + RADIUS, y), square]],
        square,
    }
}

/// The first lane that is free for an interval, which takes it.
fn free_lane(lanes: &mut Vec<Vec<(usize, usize)>>, (start, end): (usize, usize)) -> usize {
    let is_free = |lane: &Vec<(usize, usize)>| lane.iter().all(|other| other.1 < start || end < other.0);
    let lane = lanes.iter().position(is_free).unwrap_or(lanes.len());
    if lane == lanes.len() {
        lanes.push(Vec::new());
    }
    lanes[lane].push((start, end));
    lane
}

fn extremes(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
        (low.min(number), high.max(number))
    })
}
