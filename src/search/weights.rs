//! What each feature weighs. Made by `benches/retrieval/run.sh fit`; see there.

use super::rank::FEATURES;

/// In the order of `rank::NAMES`.
pub(super) const WEIGHTS: [f32; FEATURES] = [
    0.192, 1.948, 0.479, 0.418, 1.283, 3.346, -0.586, 3.755, 2.060, 0.613, 0.578, 2.307, -0.158,
    1.502,
];
