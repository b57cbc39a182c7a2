"""Steps that impacts cut into pieces: their derivatives, part by part."""
