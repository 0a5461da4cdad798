/* Prototypes of the system services that LOCKLAB.C calls, as the System Services Reference Manual has them. */
#ifndef STARLET
#define STARLET
struct dsc$descriptor_s;
unsigned int sys$enqw(unsigned int efn, unsigned int lkmode, void *lksb, unsigned int flags, void *resnam,
                      unsigned int parid, void (*astadr)(int), unsigned long long astprm, void (*blkast)(int),
                      unsigned int acmode, unsigned int rsdm_id);
unsigned int sys$deq(unsigned int lkid, void *valblk, unsigned int acmode, unsigned int flags);
unsigned int sys$gettim(void *timadr);
unsigned int sys$getjpiw(unsigned int efn, unsigned int *pidadr, void *prcnam, void *itmlst, void *iosb,
                         void (*astadr)(int), unsigned long long astprm);
unsigned int sys$setpri(unsigned int *pidadr, void *prcnam, unsigned int pri, unsigned int *prvpri);
#endif
