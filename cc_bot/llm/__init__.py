"""Language models: their interface (`model.py`), and a server, a chain and an offline model behind it."""
