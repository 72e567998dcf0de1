"""The text under diagnosis: read as it is shown, however long it is; searched, filtered, followed."""
