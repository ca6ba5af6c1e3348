"""Times in text: how people name them, one module a language, and the calendar behind them."""
