"""Knowledge as data: loading, checking and running the rules of ``rules/``."""
