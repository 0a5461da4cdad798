/* A number of our own: only that it is the one asked for is tested. */
#define JPI$_CPUTIM 1031
