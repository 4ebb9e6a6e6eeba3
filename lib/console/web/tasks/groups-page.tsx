import { useState } from 'preact/hooks';
import type { Columns } from '../../lists/column.js';
import type { FoundGroupsAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChange } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Field } from '../parts/field.js';
import { count } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { Distance } from '../parts/time.js';
import { goTo } from '../parts/router.js';
import { GroupCounts, GroupState } from './group-state.js';
import { GroupLink, TypeLink, groupHref } from '../parts/task-links.js';
import { WorkViews } from '../parts/work-views.js';

/** The groups of the first tasks of each state. */
export function GroupsPage() {
  const query = useLive(pathOf('taskGroups'), anyChange, SELDOM);
  return (
    <>
      <WorkViews isOfTasks />
      <p class="lead">
        Groups that have tasks among the first 100 of each state: those that have not ended first, then the newest. Open
        any other group by its name.
      </p>
      <OpenGroup />
      <Loaded query={query}>
        {({ groups, isCut, leftOut }) => (
          <>
            {groups.length > 0 ? <GroupTable groups={groups} /> : <Empty>No group was found.</Empty>}
            {isCut && <p class="second">There may be more: only the first tasks of each state were searched.</p>}
            {leftOut > 0 && (
              <p class="attention">
                <Icon name="warning" /> {count(leftOut, 'group')} can’t be read by this node: of a newer version, or
                corrupt.
              </p>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

type Group = FoundGroupsAnswer['groups'][number];

const COLUMNS: Columns<Group> = {
  group: { title: 'Group', value: ({ group }) => group, firstOrder: 'ascending' },
  type: { title: 'Type', value: ({ type }) => type, firstOrder: 'ascending' },
  state: { title: 'State', value: ({ state }) => state, firstOrder: 'ascending' },
  ended: { title: 'Members', value: ({ ended }) => ended, firstOrder: 'descending' },
  begun: { title: 'Begun', value: ({ begunAt }) => begunAt, firstOrder: 'descending' },
};

const CELLS: Cells<Group> = {
  group: { show: (group) => <GroupLink group={group} /> },
  type: { show: ({ type }) => <TypeLink type={type} /> },
  state: { show: (group) => <GroupState group={group} /> },
  ended: { show: (group) => <GroupCounts group={group} />, class: '' },
  begun: { show: ({ begunAt }) => <Distance at={begunAt} />, isNamed: true },
};

function GroupTable({ groups }: Pick<FoundGroupsAnswer, 'groups'>) {
  return (
    <section class="panel filling" aria-label="Groups of tasks">
      <PlainTable label="Groups" columns={COLUMNS} rows={groups} keyOf={({ id }) => id} cells={CELLS} />
    </section>
  );
}

function OpenGroup() {
  const [type, setType] = useState('');
  const [name, setName] = useState('');
  return (
    <form
      class="toolbar panel"
      aria-label="Open a group"
      onSubmit={(event) => {
        event.preventDefault();
        goTo(groupHref({ type: type.trim(), group: name }));
      }}
    >
      <Field label="Type" value={type} onValue={setType} />
      <Field label="Group" value={name} onValue={setName} />
      <button type="submit" disabled={!/^[\w.-]{1,64}$/.test(type.trim()) || name === ''}>
        Open
      </button>
    </form>
  );
}
