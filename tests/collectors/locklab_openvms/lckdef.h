/* Modes in their documented order; the flags are bits of our own: only which of them are set together is tested. */
#define LCK$K_NLMODE 0
#define LCK$K_CRMODE 1
#define LCK$K_CWMODE 2
#define LCK$K_PRMODE 3
#define LCK$K_PWMODE 4
#define LCK$K_EXMODE 5
#define LCK$M_VALBLK 1
#define LCK$M_CONVERT 2
#define LCK$M_SYNCSTS 8
#ifndef WITHOUT_XVALBLK
#define LCK$M_XVALBLK 4096
#endif
