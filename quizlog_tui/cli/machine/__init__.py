"""Commands about this machine: settings, doctor, sandbox."""
