"""Laws of single pairs, in linearised steps."""
