"""Tools that the model can call. One file for each group; `registry` discovers them."""
