/* A stand-in for the system services that LOCKLAB.C calls, in one process: it holds the program to the rules of the
   lock manager and reports, at the end, what was asked. A breach of a rule ends the program with status 99.

   FAIL_ENQ=n in the environment refuses the n-th request; CLOCK=n lets n microseconds pass at each look at the clock;
   BLOCK=n calls the blocking AST at each n-th conversion that names one, SLOW=n grants each n-th request later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descrip.h"
#include "jpidef.h"
#include "lckdef.h"
#include "ssdef.h"
#include "starlet.h"

struct lksb {
    unsigned short status, reserved;
    unsigned int id;
    unsigned char value[64];
};
static struct {
    unsigned int id, parent, mode;
} held[4];
static unsigned int next_id = 65537, requests, most_held, news, converts, deqs, modes[6], flags_seen, priority, opened;
static unsigned long long clock_100ns = 4000000000000000ULL;

static unsigned int of(const char *name)
{
    return getenv(name) ? (unsigned int)strtoul(getenv(name), 0, 10) : 0;
}

static void report(void)
{
    FILE *file = getenv("REPORT") ? fopen(getenv("REPORT"), "w") : NULL;
    int left = 0, one;

    for (one = 0; one < 4; one++)
        left += held[one].id != 0;
    if (file) {
        fprintf(file, "new %u\nconvert %u\ndeq %u\nleft %d\nmost %u\nflags %u\npriority %u\n", news, converts, deqs,
                left, most_held, flags_seen, priority);
        for (one = 1; one < 6; one++)
            fprintf(file, "mode%d %u\n", one, modes[one]);
        fclose(file);
    }
}

static void breach(const char *what)
{
    fprintf(stderr, "%s\n", what);
    _Exit(99);
}

static int place(unsigned int id)
{
    int one;

    for (one = 0; one < 4; one++)
        if (held[one].id == id)
            return one;
    return -1;
}

unsigned int sys$enqw(unsigned int efn, unsigned int lkmode, void *block, unsigned int flags, void *resnam,
                      unsigned int parid, void (*astadr)(int), unsigned long long astprm, void (*blkast)(int),
                      unsigned int acmode, unsigned int rsdm_id)
{
    struct lksb *lksb = block;
    struct dsc$descriptor_s *name = resnam;
    unsigned int slow = of("SLOW"), blocks = of("BLOCK");
    int at, one, many = 0;

    if (!opened++)
        atexit(report);
    if (efn > 63 || lkmode > 5 || astadr || astprm || acmode || rsdm_id)
        breach("an argument that the program has no use for");
    if (!(flags & LCK$M_SYNCSTS))
        breach("SYNCSTS is not set");
    if (++requests == of("FAIL_ENQ"))
        return SS$_EXENQLM;
    flags_seen |= flags;
    if (flags & LCK$M_CONVERT) {
        if ((at = place(lksb->id)) < 0)
            breach("a conversion of a lock that is not held");
        if (name || parid)
            breach("a conversion with a name");
        held[at].mode = lkmode;
        converts++;
        if (lkmode)
            modes[lkmode]++;
        if (lkmode && !blkast)
            breach("a conversion up without a blocking AST");
        if (blkast && blocks && converts % blocks == 0)
            blkast(0);
    } else {
        if (!name || name->dsc$w_length < 1 || name->dsc$w_length > 31 || name->dsc$b_class != DSC$K_CLASS_S)
            breach("a name of no length or of more than 31 bytes");
        if (parid && place(parid) < 0)
            breach("a parent that is not held");
        if (parid && name->dsc$w_length != 4)
            breach("a name below the parent that is no longword");
        if ((at = place(0)) < 0)
            breach("more locks at once than the program says");
        held[at].id = lksb->id = next_id++;
        held[at].parent = parid;
        held[at].mode = lkmode;
        news += parid != 0;
        if (parid && lkmode)
            modes[lkmode]++;
    }
    for (one = 0; one < 4; one++)
        many += held[one].id != 0;
    most_held = (unsigned int)many > most_held ? (unsigned int)many : most_held;
    lksb->status = flags & LCK$M_VALBLK && requests % 5 == 0 ? SS$_VALNOTVALID : SS$_NORMAL;
    return slow && requests % slow == 0 ? SS$_NORMAL : SS$_SYNCH;
}

unsigned int sys$deq(unsigned int lkid, void *valblk, unsigned int acmode, unsigned int flags)
{
    int at = lkid ? place(lkid) : -1, one;

    if (at < 0)
        return SS$_IVLOCKID;
    for (one = 0; one < 4; one++)
        if (held[one].parent == lkid)
            breach("a parent is released before its sub-lock");
    if (valblk || acmode || flags)
        breach("an argument of a dequeue that the program has no use for");
    deqs += held[at].parent != 0;
    held[at].id = held[at].parent = 0;
    return SS$_NORMAL;
}

unsigned int sys$gettim(void *timadr)
{
    clock_100ns += 10ULL * of("CLOCK");
    *(unsigned long long *)timadr = clock_100ns;
    return SS$_NORMAL;
}

unsigned int sys$getjpiw(unsigned int efn, unsigned int *pidadr, void *prcnam, void *itmlst, void *iosb,
                         void (*astadr)(int), unsigned long long astprm)
{
    struct {
        unsigned short size, code;
        void *buffer;
        void *length;
        unsigned int end;
    } *items = itmlst;

    if (efn > 63 || pidadr || prcnam || iosb || astadr || astprm || items->code != JPI$_CPUTIM || items->size != 4
        || items->end)
        breach("an item list that is not CPUTIM alone");
    *(unsigned int *)items->buffer = (unsigned int)((clock_100ns - 4000000000000000ULL) / 200000); /* half of the time */
    return SS$_NORMAL;
}

unsigned int sys$setpri(unsigned int *pidadr, void *prcnam, unsigned int pri, unsigned int *prvpri)
{
    if (pidadr || prcnam || prvpri)
        breach("the priority of another process");
    priority = pri;
    return SS$_NORMAL;
}
