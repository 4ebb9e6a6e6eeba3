import type { BodyOf, GroupAnswer, PlanAnswer } from '../api/answers.js';
import { call } from '../api/call.js';
import type { Action } from '../forms/action-dialog.js';

/* The orders of the allocation view. */

type Done = () => Promise<void>;
type SetInDoubt = NonNullable<GroupAnswer['doubt']>;

/** Says what would move. Changes nothing. */
export function planOf(group: string, body: BodyOf<'planAllocation'>): Promise<PlanAnswer> {
  return call('planAllocation', { params: { group }, body });
}

/** Loads what would move, so that the dialog can show it. */
export async function drainAction({ name }: GroupAnswer, node: string, done: Done): Promise<Action> {
  const { sentences } = await planOf(name, { drain: [node] });
  return {
    title: `Drain ${node}`,
    explanation: (
      <>
        All resources of {node} go to other nodes, and it gets no new ones, until the drain is ended.
        <Sentences sentences={sentences} />
      </>
    ),
    verb: 'Drain',
    run: (reason) =>
      order(call('drain', { params: { group: name }, body: { node, reason } }), `${node} is being drained.`, done),
  };
}

export function undrainAction({ name }: GroupAnswer, node: string, done: Done): Action {
  return {
    title: `End the drain of ${node}`,
    explanation: `${node} gets its share of the resources again.`,
    verb: 'End the drain',
    run: (reason) =>
      order(
        call('undrain', { params: { group: name }, body: { node, reason } }),
        `${node} gets resources again.`,
        done,
      ),
  };
}

/** Keeps a resource where it is, or on the first node if it has no owner. */
export function pinAction(group: GroupAnswer, { id, node }: GroupAnswer['resources'][number], done: Done): Action {
  const target = node ?? group.nodes[0]?.node ?? '';
  let chosen = target;
  return {
    title: `Pin ${id}`,
    explanation: (
      <>
        While a node of that name lives, {id} stays on it, also after a restart.
        <label class="choice" for="pin-node">
          Node
        </label>
        <select id="pin-node" onChange={(event) => (chosen = event.currentTarget.value)}>
          {[...new Set(group.nodes.map((each) => each.node))].map((name) => (
            <option key={name} value={name} selected={name === target}>
              {name}
            </option>
          ))}
        </select>
      </>
    ),
    verb: 'Pin',
    run: (reason) => {
      const body = { resource: id, node: chosen, reason };
      return order(call('pin', { params: { group: group.name }, body }), `${id} is pinned to ${chosen}.`, done);
    },
  };
}

export function unpinAction({ name }: GroupAnswer, resource: string, done: Done): Action {
  return {
    title: `Unpin ${resource}`,
    explanation: `${resource} may go to any node again.`,
    verb: 'Unpin',
    run: (reason) =>
      order(
        call('unpin', { params: { group: name }, body: { resource, reason } }),
        `${resource} is not pinned any more.`,
        done,
      ),
  };
}

/** Lets the set in doubt count, as the page shows it. */
export function confirmAction({ name }: GroupAnswer, { node, left, known }: SetInDoubt, done: Done): Action {
  return {
    title: 'Count the smaller set',
    explanation: `${node} read only ${left} of ${known} known resources. The other ${known - left} lose their owners. If ${node} reads still fewer by then, all stay.`,
    verb: 'Count the smaller set',
    run: (reason) =>
      order(
        call('confirmResources', { params: { group: name }, body: { left, reason } }),
        'The set counts as soon as it was read once more.',
        done,
        'Nothing was changed: the set is another one by now, or no longer in doubt.',
      ),
  };
}

function Sentences({ sentences }: { readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return <> Nothing moves now.</>;
  return (
    <ul class="changes">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

/** Waits for the answer, and says what became of the order. */
async function order(
  given: Promise<{ readonly done: boolean }>,
  message: string,
  done: Done,
  unchanged = 'Nothing was changed: it is so already.',
): Promise<string> {
  const answer = await given;
  await done();
  return answer.done ? message : unchanged;
}
