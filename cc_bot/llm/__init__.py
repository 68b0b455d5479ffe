"""Language models: their interface (`model.py`), models on servers, chains of these, and an offline model."""
