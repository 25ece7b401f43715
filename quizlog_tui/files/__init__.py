"""Files and folders on this machine: paths, temporary folders, untrusted files, digests."""
