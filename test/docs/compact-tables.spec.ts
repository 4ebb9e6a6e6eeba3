import { format, resolveConfig } from 'prettier';
import { ROOT } from './snippets.js';

async function formatted(text: string): Promise<string> {
  const config = await resolveConfig(`${ROOT}README.md`);
  return format(text, { ...config, parser: 'markdown' });
}

describe('A table of Markdown, formatted', () => {
  it('has no padding, and keeps its alignment', async () => {
    const padded = '| option    | of  | default |\n|:----------|:---:|--------:|\n| `a \\| b`  |     |    `5s` |\n';
    await expect(formatted(padded)).resolves.toBe(
      '| option | of | default |\n| :-- | :-: | --: |\n| `a \\| b` |  | `5s` |\n',
    );
  });

  it('in a list stands below its point', async () => {
    const nested = '- point\n\n  | a   | b   |\n  | --- | --- |\n  | c   | d   |\n';
    await expect(formatted(nested)).resolves.toBe('- point\n\n  | a | b |\n  | --- | --- |\n  | c | d |\n');
  });
});
