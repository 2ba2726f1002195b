/* What is asked of members of an ensemble, and room for what becomes of them: for the loop in members.h, and for
   lanes. */
#ifndef DA_ASKED_OF_MEMBERS_H
#define DA_ASKED_OF_MEMBERS_H

/* As the structure in kernel/members.py. */
typedef struct {
    long count;                          /* of members */
    long points;                         /* output times of each, at least two */
    long apart;                          /* from the times of one to those of the next: points; 0: all have the same */
    long paced;                          /* the same for the pace: 1 or 0 */
    long order;                          /* of Taylor series in lanes; 0: as the tolerance says */
    const double *y0, *p, *atol, *times; /* rows of DA_NY, DA_NP, DA_NE and, see above, points numbers */
    const da_pace *pace;
    double rtol;
    int method, project;
    da_requests *events;       /* of the member at hand; NULL where the model has none */
    const volatile int *stop;  /* of each: after so many steps its run ends; 0: never */
    const volatile int *cancel; /* not zero: no further member begins */
    volatile long *current;    /* the member at hand */
    double *out;               /* rows of points × DA_NY; what comes after the end of a run is left alone. Of lanes
                                  NULL where nobody reads it */
    double *report;            /* room for one: DA_REPORT_SIZE */
    /* What becomes of each: its status; the first DA_MEMBER_HEAD numbers of its report; the state where it ended; of
       its events how many there were, which one ended it, at which kink it was stuck; and of each event, how often,
       first and last. */
    int *status;
    double *head, *last;
    long *passages;
    int *ended, *stuck;
    double *counts, *first, *latest;
} da_members;

#define DA_MEMBER_HEAD DA_REPORT_CHANGES

#endif
