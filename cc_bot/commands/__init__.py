"""Commands: functions from a caller and options to a Reply, which Discord, the terminal and the web pages
render."""
