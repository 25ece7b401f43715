"""A durable queue of tasks in a database, worked by one process or by several machines."""
