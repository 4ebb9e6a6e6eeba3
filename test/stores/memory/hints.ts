/** Hints of the tasks with these numbers, from the first to before the last. */
export const hintsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `w|mail|1|${String(from + index).padStart(16, '0')}|3f2a|{}`);
