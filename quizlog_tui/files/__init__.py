"""Files and folders on this machine: paths, temporary folders, files of strangers, digests."""
