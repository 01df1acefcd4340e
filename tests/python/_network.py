"""A small network for tests."""

SCENARIO = """
[scenario]
name = "two"
question = "How fast is it?"
duration = "2 s"

[[node]]
name = ["near", "far"]

[[link]]
between = ["near", "far"]
rate = "10 Mbit/s"
delay = "5 ms"
queue = "20 packets"

[[content]]
name = "/film"
at = "far"
size = "1 MB"

[[consumer]]
at = "near"
name = "/film"
control = "aimd"
"""
