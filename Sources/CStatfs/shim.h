#include <sys/statfs.h>
#include <sys/xattr.h>
