"""From a fix to a changed file, and back: ``plan`` (pure), ``apply`` (backup, atomic replace, undo), ``record``."""
