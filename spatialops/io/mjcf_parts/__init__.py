"""Parts of a compiled MuJoCo model, each in terms of what is here."""
