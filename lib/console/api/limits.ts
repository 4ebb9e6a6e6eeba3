/* Limits and names that the command line and the page share with the server. This file imports nothing, so it loads nothing else. */

/** Entries of a journal that one answer shows: as many as a journal holds. */
export const MOST_SHOWN = 10_000;
/** Characters of the name of a job or node in a query. */
export const LONGEST_SOUGHT = 1000;
/** Header with which the page says that a request is its own. Its value is the port in the page's address, '' without one. */
export const PAGE_HEADER = 'x-gatekeeper-page';
