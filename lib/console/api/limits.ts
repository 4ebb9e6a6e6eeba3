/* Limits of requests, which the command line applies, too. It must not load the rest of the console. */

/** Entries of a journal that one answer shows: as many as a journal holds. */
export const MOST_SHOWN = 10_000;
/** Characters of the name of a job or node in a query. */
export const LONGEST_SOUGHT = 1000;
