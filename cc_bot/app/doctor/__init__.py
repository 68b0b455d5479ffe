"""`cc-bot doctor`: finds problems in the setup, and says how to fix them.

Read-only, so the bot may be running. A check that crashes or times out becomes a finding.
"""
