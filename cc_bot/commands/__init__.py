"""Commands: each is a function that takes its caller and its options and returns a Reply, which Discord, the
terminal and the web pages render."""
