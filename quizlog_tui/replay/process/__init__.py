"""One quiz process: how it is started, and the messages to and from it."""
