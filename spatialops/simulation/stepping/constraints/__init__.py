"""What holds a mechanism besides contacts.

Loops, stops and dry friction of joints, torsion and rolling, positions.
"""
