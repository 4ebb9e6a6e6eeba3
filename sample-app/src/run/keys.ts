const CTRL_C = '\u0003';

/**
 * Calls for each key of the terminal, without Enter; Ctrl-C included, which is no signal then. Where standard input is no
 * terminal, for each character of it.
 *
 * @returns a function that ends it, and gives the terminal back
 */
export function onKeys(press: (key: string) => void, input = process.stdin): () => void {
  const read = (text: string) => [...text].filter((key) => key === CTRL_C || key.trim() !== '').forEach(press);
  if (input.isTTY) input.setRawMode(true);
  input.setEncoding('utf8').on('data', read);
  return () => {
    input.off('data', read).pause();
    if (input.isTTY) input.setRawMode(false);
  };
}

/** Whether the key asks for the end. */
export function isEnd(key: string): boolean {
  return key === 'q' || key === CTRL_C;
}
