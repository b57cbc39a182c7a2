"""Contacts of shapes whose points and normals move by more than one body's pose alone."""
