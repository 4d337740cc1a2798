"""Settings: the types of a configuration file; an unknown key is an error."""
