"""The HTTP application: paths, schemas, errors, access and the guard before them."""
