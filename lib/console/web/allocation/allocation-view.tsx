import { useState } from 'preact/hooks';
import type { GroupAnswer, GroupsAnswer, MovesAnswer } from '../api/answers.js';
import { type Path, pathOf } from '../api/call.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { anyChange } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { useSettled } from '../live/use-settled.js';
import { hasWords } from '../parts/has-words.js';
import { count } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { changeQuery, replaceQuery, route } from '../parts/router.js';
import { whyNot } from '../live/session.js';
import { confirmAction } from './allocation-actions.js';
import { MovesPanel } from './moves-panel.js';
import { NodesPanel } from './nodes-panel.js';
import { OwnersTable } from './owners-table.js';

/** The allocation groups of the answering node: nodes by resources. */
export function AllocationView({ groups }: { readonly groups: GroupsAnswer['groups'] }) {
  const wanted = route.value.query.get('group');
  const chosen = groups.find(({ name }) => name === wanted) ?? groups[0];
  if (!chosen) return <Empty>The answering node takes part in no allocation group.</Empty>;
  return (
    <>
      {groups.length > 1 && (
        <div class="filters" role="group" aria-label="Group">
          {groups.map(({ name, unowned }) => (
            <button
              type="button"
              key={name}
              aria-pressed={name === chosen.name}
              onClick={() => replaceQuery({ group: name })}
            >
              <span class="name">{name}</span> {unowned === undefined && <span class="bad">can't be read</span>}
              {unowned !== undefined && unowned > 0 && <span class="number bad">{unowned} without an owner</span>}
            </button>
          ))}
        </div>
      )}
      <Group key={chosen.name} name={chosen.name} />
    </>
  );
}

function Group({ name }: { readonly name: string }) {
  const query = useLive(pathOf('group', { params: { group: name } }), anyChange);
  const [action, setAction] = useState<Action>();
  const moves = useLive(useSettled(movesPath(name)), anyChange, SELDOM);
  const done = async () => void (await Promise.all([query.load(), moves.load()]));
  return (
    <Loaded query={query}>
      {(group) => (
        <>
          <Faults group={group} />
          <Doubt group={group} onAction={setAction} done={done} />
          <NodesPanel group={group} onAction={setAction} done={done} />
          <Resources group={group} onAction={setAction} done={done} />
          <MovesPanel group={group} query={moves} />
          {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
        </>
      )}
    </Loaded>
  );
}

/** With the filters in the address. */
function movesPath(group: string): Path<MovesAnswer> {
  const { query } = route.value;
  const filters = { resource: query.get('moved') ?? '', node: query.get('of') ?? '' };
  return pathOf('moves', { params: { group }, query: filters });
}

function Faults({ group: { unowned, total, isRecovering, faults } }: { readonly group: GroupAnswer }) {
  return (
    <>
      {unowned > 0 && (
        <p class="panel bad" role="alert">
          <strong>
            {unowned} of {count(total, 'resource')} without an owner
          </strong>
          {isRecovering && ': the owner map is new or was lost, and every member must confirm it first'}.
        </p>
      )}
      {faults.map((fault) => (
        <p class="attention" key={fault}>
          <Icon name="warning" /> {fault}
        </p>
      ))}
    </>
  );
}

interface GroupProps {
  readonly group: GroupAnswer;
  readonly onAction: (action: Action) => void;
  readonly done: () => Promise<void>;
}

/** The set that an operator may confirm. */
function Doubt({ group, onAction, done }: GroupProps) {
  const { doubt } = group;
  if (!doubt) return null;
  return (
    <p class="attention">
      <Icon name="warning" /> {doubt.node} read only {doubt.left} of {count(doubt.known, 'known resource')}, so all
      stay.{' '}
      {whyNot('operate') === undefined && (
        <button type="button" class="small" onClick={() => onAction(confirmAction(group, doubt, done))}>
          Count the smaller set…
        </button>
      )}
    </p>
  );
}

function Resources({ group, onAction, done }: GroupProps) {
  const search = route.value.query.get('search') ?? '';
  const { name, resources, total } = group;
  const found = resources.filter(({ id, node, from, pinnedTo }) => hasWords([id, node, from, pinnedTo], search));
  return (
    <section class="panel filling owners" aria-labelledby="resources-title">
      <h2 id="resources-title">
        Resources <span class="second number">{count(total, 'resource')}</span>
      </h2>
      <Search
        label="Search resources and nodes"
        value={search}
        onValue={(value) => changeQuery({ group: name, search: value })}
      />
      {search !== '' && <ResultCount shown={found.length} all={resources.length} one="resource" />}
      {found.length > 0 ? (
        <OwnersTable group={group} resources={found} onAction={onAction} done={done} />
      ) : (
        <Empty>{total === 0 ? 'The group has no resources.' : 'Nothing matches.'}</Empty>
      )}
      {resources.length < total && (
        <p class="second">
          The first {count(resources.length, 'resource')} of {total}.
        </p>
      )}
    </section>
  );
}
