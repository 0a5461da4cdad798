/* Numbers of our own but for their lowest bit, which is set where a service succeeded. */
#define SS$_NORMAL 1
#define SS$_SYNCH 1673
#define SS$_VALNOTVALID 2544
#define SS$_EXENQLM 10772
#define SS$_IVLOCKID 8588
