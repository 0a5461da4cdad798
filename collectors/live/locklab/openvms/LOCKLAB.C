/* Lockwright's lock laboratory for OpenVMS.

   UNTRIED on OpenVMS: written from manuals; compiled and run against a stand-in for the system services only.
   Read it before you run it, and run it on a TEST NODE that nobody uses: it drives the lock manager to its limit.

   LOCKLAB.COM runs it. By itself:

     LOCKLAB WORKER  log parent names lvb settle seconds tail interval   locks and counts; figures go to `log`
     LOCKLAB LATENCY log parent names pairs                              one process alone: time of a lock operation
     LOCKLAB IDLE    summary cpus                                        is the node idle enough to measure it?
     LOCKLAB HEAD    settings                                            the remarks and the heading of the table
     LOCKLAB ROW     settings summary prefix processes seconds latency   one row of the table

   A worker takes new : converted : dequeued locks as 1 : 2 : 1. It holds one sub-lock at a time, so no deadlock can
   arise, and its parent in null mode: the sub-locks of all workers are one tree, which one node masters. All times are
   seconds; `lvb` is the size of the value block in bytes: 0, 16 or 64. A worker ends by itself at its time, and within
   a second of a file LOCKLAB.STOP in its directory. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <descrip.h>
#include <jpidef.h>
#include <lckdef.h>
#include <ssdef.h>
#include <starlet.h>

#define EFN 1
#define LOWER_PRIORITY 2        /* below the 4 of people at terminals: they come first */
#define LOOPS_BETWEEN_CLOCKS 64 /* loops between two looks at the clock: some milliseconds */
#define STOP_FILE "LOCKLAB.STOP"
#define UNITS 10000000.0        /* of 100 ns, in a second: VMS time */
#define TICKS 100.0             /* of CPU time in a second: JPI$_CPUTIM counts 10 ms */
#define MOST_WORKERS 64

#define BUSY_BEFORE 10.0   /* % of all CPUs: a node busier than this is in use (Lockwright's figure) */
#define STARVED 60.0       /* % of all CPUs in MP synch: no more load from here on (Lockwright's figure) */
#define LATE 1.25          /* times the seconds asked: a worker that sees its clock so late was starved (the same) */
#define MODES_ERROR 2.0    /* %: modes and 100 x CPUs may differ by this */
#define ENQ_DEQ_ERROR 1.0  /* %: what is locked and what is released */
#define OWN_ERROR 3.0      /* %: our own counts and those of MONITOR */

static const char *HEADING =
    "series,node,model,clock_mhz,cores,threads,release,dlm,dlm_cpu,stopped_cpus,reshashtbl,lockidtbl,lvb_bytes,"
    "nodes,master,processes,seconds,samples,idle,interrupt,mpsynch,kernel,exec,super,user,enq,convert,deq,total,"
    "blkast,own_ops,latency_us";
static const char *SETTINGS[] = {
    "series", "node",       "model",     "clock_mhz", "cores", "threads", "release", "dlm", "dlm_cpu", "stopped_cpus",
    "reshashtbl", "lockidtbl", "lvb_bytes", "nodes",  "master"};
#define MANY_SETTINGS (sizeof SETTINGS / sizeof SETTINGS[0])

/* ------------------------------------------------------------- pure parts */

/* Marsaglia's xorshift of 32 bits: never 0 where it does not begin with 0. */
static unsigned int next_random(unsigned int *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* The mode of a lock: each of the five that exclude something as often as the others. */
static unsigned int mode_of(unsigned int random)
{
    static const unsigned int modes[] = {LCK$K_CRMODE, LCK$K_CWMODE, LCK$K_PRMODE, LCK$K_PWMODE, LCK$K_EXMODE};
    return modes[(random >> 8) % 5];
}

/* The mean of a line of a MONITOR summary: the second of its four figures. -1: the line has not four. */
static double mean_of(const char *line)
{
    char *end;
    double figure, mean = -1.0;
    int at;

    for (at = 0; at < 4; at++) {
        figure = strtod(line, &end);
        if (end == line || figure < 0.0 || !(*end == '\0' || isspace((unsigned char)*end)))
            return -1.0; /* words, asterisks, columns that touch or are empty: not measured */
        if (at == 1)
            mean = figure;
        line = end;
    }
    return mean;
}

typedef struct {
    double interrupt, mpsynch, kernel, exec, super, user, compatibility, idle; /* % of one CPU */
    double enq, convert, deq, blkast;                                         /* per second */
} summary_t;

/* Read a summary of MONITOR MODES,LOCK: figures that it does not have stay -1. Gives 0 where it cannot be read. */
static int read_summary(const char *name, summary_t *sum)
{
    struct {
        const char *page, *label;
        double *figure;
    } wanted[12];
    char line[256], page[8] = "";
    const char *at;
    FILE *file = fopen(name, "r");
    int one;

#define WANTED(number, of, text, field)  \
    sum->field = -1.0, wanted[number].page = of, wanted[number].label = text, wanted[number].figure = &sum->field
    WANTED(0, "MODES", "Interrupt St", interrupt);
    WANTED(1, "MODES", "MP Synchronization", mpsynch);
    WANTED(2, "MODES", "Kernel Mode", kernel);
    WANTED(3, "MODES", "Executive Mode", exec);
    WANTED(4, "MODES", "Supervisor Mode", super);
    WANTED(5, "MODES", "User Mode", user);
    WANTED(6, "MODES", "Compatibility Mode", compatibility);
    WANTED(7, "MODES", "Idle Time", idle);
    WANTED(8, "LOCK", "New ENQ Rate", enq);
    WANTED(9, "LOCK", "Converted ENQ Rate", convert);
    WANTED(10, "LOCK", "DEQ Rate", deq);
    WANTED(11, "LOCK", "Blocking AST Rate", blkast);
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strstr(line, "OpenVMS Monitor Utility") != NULL)
            page[0] = '\0';
        else if (strstr(line, "TIME IN PROCESSOR MODES") != NULL)
            strcpy(page, "MODES");
        else if (strstr(line, "LOCK MANAGEMENT STATISTICS") != NULL)
            strcpy(page, strstr(line, "DISTRIBUTED") == NULL ? "LOCK" : "");
        for (at = line; isspace((unsigned char)*at); at++)
            ;
        for (one = 0; one < 12; one++)
            if (strcmp(page, wanted[one].page) == 0 && strncmp(at, wanted[one].label, strlen(wanted[one].label)) == 0
                && *wanted[one].figure < 0.0) {
                at += strlen(wanted[one].label);
                while (*at != '\0' && !isspace((unsigned char)*at)) /* the rest of `Interrupt State` or `Stack` */
                    at++;
                *wanted[one].figure = mean_of(at);
                break;
            }
    }
    fclose(file);
    return 1;
}

/* What all CPUs did together, in per cent of one: -1 where a mode is missing. Compatibility mode: VAX. */
static double modes_of(const summary_t *sum)
{
    if (sum->interrupt < 0 || sum->mpsynch < 0 || sum->kernel < 0 || sum->exec < 0 || sum->super < 0 || sum->user < 0
        || sum->idle < 0)
        return -1.0;
    return sum->interrupt + sum->mpsynch + sum->kernel + sum->exec + sum->super + sum->user + sum->idle
           + (sum->compatibility > 0 ? sum->compatibility : 0.0);
}

static double apart_percent(double one, double other)
{
    double most = one > other ? one : other, less = one > other ? other : one;
    return most > 0.0 ? 100.0 * (most - less) / most : 0.0;
}

/* Text for a cell: what ends a cell or begins a formula is taken out. */
static void safe_cell(char *text)
{
    char *from = text, *to = text;

    while (*from == '=' || *from == '+' || *from == '-' || *from == '@' || isspace((unsigned char)*from))
        from++;
    for (; *from != '\0'; from++)
        if (isprint((unsigned char)*from))
            *to++ = strchr(",;\"|#", *from) != NULL ? ' ' : *from;
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

/* The value of `name` in a file of lines `name=value`; empty where it is not there. */
static void setting(const char *settings, const char *name, char *value, size_t most)
{
    char line[256];
    size_t length = strlen(name);
    FILE *file = fopen(settings, "r");

    value[0] = '\0';
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == '=') {
            strncpy(value, line + length + 1, most - 1);
            value[most - 1] = '\0';
            safe_cell(value);
        }
    fclose(file);
}

/* What the workers counted themselves, per second, all together: -1 where one has not measured. */
static double own_rate(const char *prefix, int processes, double *slowest, double *cpu)
{
    char name[256], line[256];
    double rate = 0.0, seconds, ticks;
    unsigned int enq, convert, deq, blkast, waited;
    FILE *file;
    int one, found;

    *slowest = *cpu = 0.0;
    for (one = 1; one <= processes; one++) {
        sprintf(name, "%.200s_%d.LOG", prefix, one);
        if ((file = fopen(name, "r")) == NULL)
            return -1.0;
        found = 0;
        while (fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, "measured,%lf,%u,%u,%u,%u,%u,%lf", &seconds, &enq, &convert, &deq, &blkast, &waited,
                       &ticks) == 7
                && seconds > 0.0) {
                found = 1;
                rate += ((double)enq + convert + deq) / seconds;
                *slowest = seconds > *slowest ? seconds : *slowest;
                *cpu += ticks / TICKS;
            }
        fclose(file);
        if (!found)
            return -1.0;
    }
    return rate;
}

static void cell(double figure, const char *format)
{
    putchar(',');
    if (figure >= 0.0)
        printf(format, figure);
}

/* Whether nothing else runs on the node. */
static int idle(const char *name, double cpus)
{
    summary_t sum;
    double busy;

    if (!read_summary(name, &sum) || sum.idle < 0.0 || cpus < 1.0) {
        printf("# not started: MONITOR did not show how idle the node is\n");
        return EXIT_FAILURE;
    }
    busy = 100.0 - sum.idle / cpus;
    if (busy > BUSY_BEFORE) {
        printf("# not started: %.0f %% of the CPUs are busy already, so this node is in use\n", busy);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int head(const char *settings)
{
    char cpus[32], names[32];

    setting(settings, "cpus", cpus, sizeof cpus);
    setting(settings, "names", names, sizeof names);
    printf("# Lockwright's lock laboratory for OpenVMS (untried on OpenVMS when it was written)\n");
    printf("# cpus: %s, active when it began; %s names; LCK$M_SYNCSTS was used\n", cpus, names);
    printf("# own_ops: operations per second by our own counts; latency_us: of one operation, one process alone\n");
    printf("%s\n", HEADING);
    return EXIT_SUCCESS;
}

/* Print one row; a row that fails a check is printed as a remark with the reason. Fails where no more load may come. */
static int row(const char *settings, const char *summary, const char *prefix, int processes, double asked,
               const char *latency)
{
    char value[80];
    summary_t sum;
    double cpus, own, slowest, cpu, modes, total, figure = -1.0;
    const char *wrong = NULL;
    FILE *file;
    size_t one;

    setting(settings, "cpus", value, sizeof value);
    cpus = atof(value);
    if (processes < 1 || processes > MOST_WORKERS || cpus < 1.0 || !read_summary(summary, &sum)) {
        printf("# %d processes: MONITOR wrote no summary, nothing was measured\n", processes);
        return EXIT_FAILURE;
    }
    own = own_rate(prefix, processes, &slowest, &cpu);
    modes = modes_of(&sum);
    total = sum.enq < 0 || sum.convert < 0 || sum.deq < 0 ? -1.0 : sum.enq + sum.convert + sum.deq;
    if (total < 0.0)
        wrong = "MONITOR LOCK has no figures";
    else if (modes >= 0.0 && apart_percent(modes, 100.0 * cpus) > MODES_ERROR)
        wrong = "the modes do not add up to all CPUs";
    else if (apart_percent(sum.enq, sum.deq) > ENQ_DEQ_ERROR)
        wrong = "enqueues and dequeues are more than 1 % apart";
    else if (own < 0.0)
        wrong = "a process ended before its time, see its log";
    else if (apart_percent(own, total) > OWN_ERROR)
        wrong = "our own counts and MONITOR are more than 3 % apart, something else locked, too";
    if (processes == 1 && (file = fopen(latency, "r")) != NULL) {
        if (fscanf(file, "latency_us,%lf", &figure) != 1)
            figure = -1.0;
        fclose(file);
    }
    if (wrong != NULL)
        printf("# %d processes: %s; this row is not to be used: ", processes, wrong);
    for (one = 0; one < MANY_SETTINGS; one++) {
        setting(settings, SETTINGS[one], value, sizeof value);
        printf("%s%s", one ? "," : "", value);
    }
    printf(",%d", processes);
    cell(own < 0.0 ? -1.0 : slowest, "%.1f");
    putchar(','); /* how many samples MONITOR took its summary does not say */
    cell(sum.idle, "%.1f");
    cell(sum.interrupt, "%.1f");
    cell(sum.mpsynch, "%.1f");
    cell(sum.kernel, "%.1f");
    cell(sum.exec, "%.1f");
    cell(sum.super, "%.1f");
    cell(sum.user, "%.1f");
    cell(sum.enq, "%.1f");
    cell(sum.convert, "%.1f");
    cell(sum.deq, "%.1f");
    cell(total, "%.1f");
    cell(sum.blkast, "%.1f");
    cell(own, "%.0f");
    cell(figure, "%.2f");
    putchar('\n');
    if (own >= 0.0)
        printf("# %d processes: %.1f CPU seconds by $GETJPI CPUTIM while they measured\n", processes, cpu);
    if (own < 0.0 || sum.mpsynch < 0.0) {
        printf("# stopped: this step was not measured whole\n");
        return EXIT_FAILURE;
    }
    if (sum.mpsynch > STARVED * cpus || slowest > LATE * asked) {
        printf("# stopped: MP synch %.0f %% of one CPU with %.0f CPUs, %.0f s for %.0f s asked: more load could "
               "starve the console\n",
               sum.mpsynch, cpus, slowest, asked);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/* ------------------------------------------------- what calls the system */

typedef struct {
    unsigned short status, reserved;
    unsigned int id;
    unsigned char value[64];
} lock_status;

typedef struct {
    unsigned int enq, convert, deq, waited;
} counts_t;

static volatile unsigned int asked_to_release; /* blocking ASTs; the main loop releases at once in any case */

static void blocking(int unused)
{
    (void)unused;
    asked_to_release++;
}

/* A value block that nobody has filled yet, or only in part, is granted with one of these. */
static int granted(unsigned int status)
{
    if (status & 1)
        return 1;
#ifdef SS$_XVALNOTVALID
    if (status == SS$_XVALNOTVALID)
        return 1;
#endif
    return status == SS$_VALNOTVALID;
}

static double now(void)
{
    unsigned long long time = 0;

    sys$gettim((void *)&time);
    return (double)time / UNITS;
}

/* CPU time of this process in ticks of 10 ms; -1 where it cannot be had. */
static double cpu_ticks(void)
{
    unsigned int ticks = 0;
    unsigned short length = 0;
    struct {
        unsigned short size, code;
        void *buffer;
        void *length;
        unsigned int end;
    } items;

    items.size = sizeof ticks;
    items.code = JPI$_CPUTIM;
    items.buffer = &ticks;
    items.length = &length;
    items.end = 0;
    return sys$getjpiw(EFN, 0, 0, (void *)&items, 0, 0, 0) & 1 ? (double)ticks : -1.0;
}

/* Ask for a lock or a conversion and wait for it. Gives 0, and the status in `lock`, where it was refused. */
static int locked(unsigned int mode, lock_status *lock, unsigned int flags, struct dsc$descriptor_s *name,
                  unsigned int parent, int block, counts_t *count)
{
    unsigned int status = sys$enqw(EFN, mode, (void *)lock, flags | LCK$M_SYNCSTS, (void *)name, parent, 0, 0,
                                   block ? blocking : 0, 0, 0);

    if (!(status & 1)) {
        lock->status = (unsigned short)status;
        return granted(status);
    }
    if (status != SS$_SYNCH)
        count->waited++;
    return granted(lock->status);
}

static void name_in(struct dsc$descriptor_s *name, char *text, size_t length)
{
    name->dsc$w_length = (unsigned short)length;
    name->dsc$b_dtype = DSC$K_DTYPE_T;
    name->dsc$b_class = DSC$K_CLASS_S;
    name->dsc$a_pointer = text;
}

/* The lock on the parent, in null mode: sub-locks of the same name below it meet, whichever process has them. */
static int parent_of(char *text, lock_status *lock, counts_t *count)
{
    struct dsc$descriptor_s name;

    name_in(&name, text, strlen(text) < 31 ? strlen(text) : 31);
    return locked(LCK$K_NLMODE, lock, 0, &name, 0, 0, count);
}

static int refused(FILE *log, const char *what, const lock_status *lock)
{
    fprintf(log, "# %s was refused, status %u\n", what, (unsigned int)lock->status);
    fclose(log);
    return EXIT_FAILURE;
}

/* One new lock in null mode, up, down, released: 1 : 2 : 1. Gives what was refused, or nothing. */
static const char *one_loop(unsigned int number, unsigned int mode, unsigned int flags, unsigned int parent,
                            lock_status *lock, counts_t *count)
{
    struct dsc$descriptor_s name;

    name_in(&name, (char *)&number, sizeof number);
    if (!locked(LCK$K_NLMODE, lock, 0, &name, parent, 0, count))
        return "a new lock";
    count->enq++;
    if (!locked(mode, lock, LCK$M_CONVERT | flags, 0, 0, 1, count))
        return "a conversion up";
    count->convert++;
    if (!locked(LCK$K_NLMODE, lock, LCK$M_CONVERT | flags, 0, 0, 0, count))
        return "a conversion down";
    count->convert++;
    lock->status = (unsigned short)sys$deq(lock->id, 0, 0, 0);
    if (!(lock->status & 1))
        return "a dequeue";
    count->deq++;
    return NULL;
}

static int stop_asked(void)
{
    FILE *file = fopen(STOP_FILE, "r");

    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* Lock for settle + seconds + tail, count the `seconds` in the middle; `interval`: seconds between lines of counts. */
static int worker(const char *log_name, char *parent, unsigned int names, int lvb, double settle, double seconds,
                  double tail, double interval)
{
    lock_status above, lock;
    counts_t count = {0, 0, 0, 0}, first = {0, 0, 0, 0};
    double began, passed = 0.0, next, looked = 0.0, from = -1.0, first_cpu = 0.0;
    unsigned int state, loops = 0, flags = 0, first_blocked = 0;
    const char *what;
    int done = 0;
    FILE *log = fopen(log_name, "w");

    if (log == NULL)
        return EXIT_FAILURE;
    memset(&above, 0, sizeof above);
    memset(&lock, 0, sizeof lock);
    if (lvb >= 16)
        flags |= LCK$M_VALBLK;
    if (lvb == 64) {
#ifdef LCK$M_XVALBLK
        flags |= LCK$M_XVALBLK;
#else
        fprintf(log, "# no value blocks of 64 bytes on this system\n");
        fclose(log);
        return EXIT_FAILURE;
#endif
    }
    sys$setpri(0, 0, LOWER_PRIORITY, 0);
    if (!parent_of(parent, &above, &count))
        return refused(log, "the parent", &above);
    began = now();
    next = interval;
    state = (unsigned int)(unsigned long long)(began * 1000.0) ^ above.id * 2654435761u;
    state = state ? state : 1u;
    count.waited = 0;
    while (passed < settle + seconds + tail) {
        unsigned int number = next_random(&state) % names;

        what = one_loop(number, mode_of(next_random(&state)), flags, above.id, &lock, &count);
        if (what != NULL)
            return refused(log, what, &lock);
        if (++loops % LOOPS_BETWEEN_CLOCKS)
            continue;
        passed = now() - began;
        if (from < 0.0 && passed >= settle) {
            from = passed;
            first = count;
            first_blocked = asked_to_release;
            first_cpu = cpu_ticks();
        }
        if (!done && from >= 0.0 && passed >= from + seconds) {
            done = 1;
            fprintf(log, "measured,%.3f,%u,%u,%u,%u,%u,%.0f\n", passed - from, count.enq - first.enq,
                    count.convert - first.convert, count.deq - first.deq, asked_to_release - first_blocked,
                    count.waited - first.waited, cpu_ticks() - first_cpu);
            fflush(log);
        }
        if (passed >= next) {
            fprintf(log, "counted,%.3f,%u,%u,%u,%u,%u,%.0f\n", passed, count.enq, count.convert, count.deq,
                    asked_to_release, count.waited, cpu_ticks());
            next += interval;
        }
        if (passed >= looked + 1.0) {
            looked = passed;
            if (stop_asked())
                break;
        }
    }
    sys$deq(above.id, 0, 0, 0);
    fclose(log);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The time of one lock operation, from so many pairs of enqueue and dequeue by this process alone. */
static int latency(const char *log_name, char *parent, unsigned int names, unsigned int pairs)
{
    lock_status above, lock;
    counts_t count = {0, 0, 0, 0};
    struct dsc$descriptor_s name;
    unsigned int state = 2463534242u, number, one;
    double began;
    FILE *log = fopen(log_name, "w");

    if (log == NULL)
        return EXIT_FAILURE;
    memset(&above, 0, sizeof above);
    memset(&lock, 0, sizeof lock);
    if (!parent_of(parent, &above, &count))
        return refused(log, "the parent", &above);
    began = now();
    for (one = 0; one < pairs; one++) {
        number = next_random(&state) % names;
        name_in(&name, (char *)&number, sizeof number);
        if (!locked(mode_of(next_random(&state)), &lock, 0, &name, above.id, 0, &count))
            return refused(log, "a new lock", &lock);
        lock.status = (unsigned short)sys$deq(lock.id, 0, 0, 0);
        if (!(lock.status & 1))
            return refused(log, "a dequeue", &lock);
    }
    fprintf(log, "latency_us,%.4f\n", 1e6 * (now() - began) / (2.0 * pairs));
    sys$deq(above.id, 0, 0, 0);
    fclose(log);
    return EXIT_SUCCESS;
}

/* ------------------------------------------------------------------ main */

static int is(const char *word, const char *wanted)
{
    while (*word && toupper((unsigned char)*word) == *wanted)
        word++, wanted++;
    return *word == '\0' && *wanted == '\0';
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int names = argc > 4 ? atoi(argv[4]) : 0, lvb = argc > 5 ? atoi(argv[5]) : 0;

    if (is(what, "WORKER") && argc == 10 && names > 0 && (lvb == 0 || lvb == 16 || lvb == 64) && atof(argv[7]) > 0.0
        && atof(argv[9]) > 0.0)
        return worker(argv[2], argv[3], (unsigned int)names, lvb, atof(argv[6]), atof(argv[7]), atof(argv[8]),
                      atof(argv[9]));
    if (is(what, "LATENCY") && argc == 6 && names > 0 && lvb > 0)
        return latency(argv[2], argv[3], (unsigned int)names, (unsigned int)lvb);
    if (is(what, "IDLE") && argc == 4)
        return idle(argv[2], atof(argv[3]));
    if (is(what, "HEAD") && argc == 3)
        return head(argv[2]);
    if (is(what, "ROW") && argc == 8)
        return row(argv[2], argv[3], argv[4], atoi(argv[5]), atof(argv[6]), argv[7]);
    fprintf(stderr, "LOCKLAB: run LOCKLAB.COM, or see the head of LOCKLAB.C\n");
    return EXIT_FAILURE;
}
