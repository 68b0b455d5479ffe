"""`cc-bot doctor`: finds what is wrong with the setup, and says how to fix it.

It changes nothing, so a bot may run meanwhile. A check that breaks or takes too long becomes a finding.
"""
