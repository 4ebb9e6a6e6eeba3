import { useState } from 'preact/hooks';
import type { TaskGroupAnswer } from '../api/answers.js';
import { call, pathOf } from '../api/call.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { anyChange } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { count } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { Distance } from '../parts/time.js';
import { hrefOf, route } from '../parts/router.js';
import { whyNot } from '../live/session.js';
import { GroupCounts, GroupState } from './group-state.js';
import { typeHref } from '../parts/task-links.js';
import { TaskBranch, Unreadable } from './task-tree.js';
import { useNodeNames } from './use-node-names.js';

/** Members of one page. */
const PAGE = 50;

/** A group with its members, and their sub-tasks below them. */
export function GroupPage({ type, group }: { readonly type: string; readonly group: string }) {
  const from = route.value.query.get('from') ?? '1';
  const params = { id: `${type}[${group}]` };
  const query = useLive(pathOf('taskGroup', { params, query: { limit: PAGE, from } }), anyChange);
  return (
    <>
      <a class="back" href={typeHref(type)}>
        <Icon name="back" /> Tasks of type {type}
      </a>
      <Loaded query={query}>
        {(answer) => (
          <>
            <Summary answer={answer} onChange={() => query.load()} />
            <Members answer={answer} />
          </>
        )}
      </Loaded>
    </>
  );
}

interface SummaryProps {
  readonly answer: TaskGroupAnswer;
  readonly onChange: () => Promise<void>;
}

function Summary({ answer: { group, handler, isHandlerUnreadable }, onChange }: SummaryProps) {
  const [action, setAction] = useState<Action>();
  const { stopped, state } = group;
  const nameOf = useNodeNames();
  return (
    <section class="summary" aria-label="State">
      <GroupState group={group} />
      {stopped && (
        <p class="panel warning">
          Stopped by <strong>{stopped.by}</strong>, <Distance at={stopped.at} />
          {stopped.reason ? <>: “{stopped.reason}”</> : '.'}
        </p>
      )}
      <GroupCounts group={group} />
      {handler && (
        <ul class="tree" aria-label="Handler of the group">
          <TaskBranch task={handler} nameOf={nameOf} />
        </ul>
      )}
      {isHandlerUnreadable && (
        <p>
          The task of its handler <Unreadable />
        </p>
      )}
      {state === 'open' && !stopped && whyNot('operate') === undefined && (
        <div class="buttons actions">
          <button type="button" class="danger" onClick={() => setAction(() => stopAction(group.id, onChange))}>
            <Icon name="remove" /> Stop the group…
          </button>
        </div>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </section>
  );
}

function stopAction(id: string, done: () => Promise<void>): Action {
  return {
    title: `Stop ${id}`,
    explanation:
      'All members that have not ended end as cancelled, also those that are submitted later. The signals of those that run abort. Then the handler of the group runs.',
    verb: 'Stop the group',
    isDangerous: true,
    run: async (reason) => {
      const { because } = await call('cancelTaskGroup', { params: { id }, body: { reason } });
      await done();
      return `${id}: ${because}.`;
    },
  };
}

function Members({ answer: { group, members, missing, leftOut, next } }: { readonly answer: TaskGroupAnswer }) {
  const nameOf = useNodeNames();
  const { path, query } = route.value;
  return (
    <section class="panel" aria-labelledby="members-title">
      <h2 id="members-title">
        Members <span class="second number">{group.total === undefined ? '' : count(group.total, 'member')}</span>
      </h2>
      {members.length === 0 && <Empty>No member of this page is in the store.</Empty>}
      <ul class="tree" aria-label="Members">
        {members.map((task) => (
          <TaskBranch key={task.id} task={task} nameOf={nameOf} />
        ))}
      </ul>
      {missing.length > 0 && (
        <p class="second">
          {count(missing.length, 'number')} of this page not in the store: not submitted yet, or forgotten (
          {missing.slice(0, 10).join(', ')}
          {missing.length > 10 && ', …'}).
        </p>
      )}
      {leftOut > 0 && (
        <p class="attention">
          <Icon name="warning" /> {count(leftOut, 'member')} can’t be read by this node.
        </p>
      )}
      {(next !== undefined || query.get('from') !== null) && (
        <nav class="pager" aria-label="Pages of the members">
          {query.get('from') !== null && <a href={hrefOf(path)}>First page</a>}
          {next !== undefined && <a href={hrefOf(path, { from: String(next) })}>Next page</a>}
        </nav>
      )}
    </section>
  );
}
