"""What joint forces change by beyond springs, damping and actuators along joints."""
