int cimage_placeholder(void) { return 0; }
