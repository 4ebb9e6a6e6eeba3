import { openOperator } from '../../../lib/cli/open-operator.js';
import { call } from '../../../test/cli/command-line.js';
import { TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { OPERATOR_TASKS, type Scene, useOperatorScene } from '../../page/operator-scene.js';
import { until } from '../../../test/support/apps.js';
import { documentedTasks, essenceOf, idsIn } from './operator-tasks.js';

/** An entry of the audit log is there a moment after the change. */
async function untilLogged({ get }: Scene, [command, id]: readonly string[]): Promise<void> {
  if (command === 'undo') await until(async () => (await get('/api/audit')).text.includes(id!));
}

describe('the tasks of an operator in docs/operations.md', () => {
  const begin = useOperatorScene(useConsoles());
  const tasks = documentedTasks();

  it('are the tasks that the tests do', () => {
    expect([...tasks.keys()].toSorted()).toEqual(Object.keys(OPERATOR_TASKS).toSorted());
  });

  it.each(Object.entries(OPERATOR_TASKS))(
    '"%s" has the outputs of its commands, and their number',
    async (heading, arrange) => {
      const { commands, transcript } = tasks.get(heading)!;
      expect(transcript.length).toBe(commands);
      const scene = await begin();
      await arrange(scene);
      // An id in the text stands for the one of this run, as the outputs show it.
      const ids = new Map<string, string>();
      for (const { args, output } of transcript) {
        const given = args.map((word) => ids.get(word) ?? word);
        await untilLogged(scene, given);
        const target = ['--url', scene.url, '--token', TOKENS.define];
        const { exitCode, out, err } = await call([...given, ...target], { open: openOperator });
        expect({ exitCode, err, out: essenceOf(out) }).toEqual({ exitCode: 0, err: '', out: essenceOf(output) });
        const shown = idsIn(out);
        for (const [index, id] of idsIn(output).entries()) ids.set(id, shown[index]!);
      }
    },
  );
});
