import { PassThrough } from 'node:stream';
import { eventually } from '../contract/eventually.js';
import { isEnd, onKeys } from '../../sample-app/src/run/keys.js';

const CTRL_C = '\u0003';

/** Standard input, as a terminal or not. */
function standardInput(isTTY: boolean) {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  return { input, modes, asStream: input as unknown as typeof process.stdin };
}

describe('the keys of the sample', () => {
  it('come without Enter from a terminal, which is as it was afterwards', async () => {
    const { input, modes, asStream } = standardInput(true);
    const keys: string[] = [];
    const end = onKeys((key) => keys.push(key), asStream);
    input.write('1');
    input.write(`w${CTRL_C}`);
    await eventually('three keys', () => keys.length === 3);
    expect(keys).toEqual(['1', 'w', CTRL_C]);
    expect(modes).toEqual([true]);
    end();
    expect(modes).toEqual([true, false]);
    expect(input.isPaused()).toBe(true);
  });

  it('are the characters of lines where standard input is no terminal', async () => {
    const { input, modes, asStream } = standardInput(false);
    const keys: string[] = [];
    const end = onKeys((key) => keys.push(key), asStream);
    input.write('1\n w\r\n');
    await eventually('two keys', () => keys.length === 2);
    end();
    expect(keys).toEqual(['1', 'w']);
    expect(modes).toEqual([]);
  });

  it('end the sample with q and Ctrl-C', () => {
    expect(['q', CTRL_C, '1', 'w'].filter(isEnd)).toEqual(['q', CTRL_C]);
  });
});
