"""Between the app and whatever it is shown on: a terminal of any kind, a browser, or none."""
