"""Documents as text, and the process that reads them."""
