"""From a schedule to a circuit."""
