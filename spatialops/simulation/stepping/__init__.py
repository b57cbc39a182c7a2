"""One step of time stepping, compiled.

Contacts, impacts, integration, correction, and the loop over many.
"""
