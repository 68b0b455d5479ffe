"""Commands: functions from a caller and options to a Reply, which front ends render."""
