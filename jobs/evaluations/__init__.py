"""Makes whole runs: of an experiment, of shipped labels, of answers written elsewhere; opens and exports them."""
