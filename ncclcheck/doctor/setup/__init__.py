"""The use case "two fresh shells, and a verified bandwidth": a guide whose every step is really checked."""
