"""Physical truth, measured: closed forms and independent references beside the engine."""
