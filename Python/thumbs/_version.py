"""The version of the package, which is that of the command."""
VERSION = "0.1.0"
