/** @returns a function that calls `action` the first time, and does nothing after that */
export function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
