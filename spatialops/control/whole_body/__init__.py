"""Tasks in strict order and bounds of joints, motors and contacts, by quadratic programs."""
