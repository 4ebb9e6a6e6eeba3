/** The API stands beside the assets this script was loaded from, under whatever prefix the application mounts it. */
export const apiBase = new URL('../api/', import.meta.url);
