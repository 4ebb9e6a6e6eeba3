/** The API's address. It is relative to this script, so that it works below any prefix of the application. */
export const apiBase = new URL('../api/', import.meta.url);
