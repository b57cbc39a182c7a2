"""Side-by-side benchmarks against Pinocchio and MuJoCo; `spatialops bench` runs them."""
