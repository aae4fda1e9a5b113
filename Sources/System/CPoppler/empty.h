// A module map needs a header.
