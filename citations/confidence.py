"""How likely an answer's first citation is right, as calibrated. Pure."""
