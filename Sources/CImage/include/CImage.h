int cimage_placeholder(void);
