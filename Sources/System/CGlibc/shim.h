#include <malloc.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
