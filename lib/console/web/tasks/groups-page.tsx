import { useState } from 'preact/hooks';
import type { FoundGroupsAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChange } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Field } from '../parts/field.js';
import { count } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { type Columns, sorted } from '../parts/sorting.js';
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

const COLUMNS: Columns<FoundGroupsAnswer['groups'][number]> = {
  group: { title: 'Group', by: ({ group }) => group },
  type: { title: 'Type', by: ({ type }) => type },
  state: { title: 'State', by: ({ state }) => state },
  ended: { title: 'Members', by: ({ ended }) => ended, first: 'descending' },
  begun: { title: 'Begun', by: ({ begunAt }) => begunAt, first: 'descending' },
};

function GroupTable({ groups }: Pick<FoundGroupsAnswer, 'groups'>) {
  return (
    <section class="panel filling" aria-label="Groups of tasks">
      <PlainTable label="Groups" columns={COLUMNS}>
        {sorted(groups, COLUMNS).map((group) => (
          <tr key={group.id}>
            <td>
              <GroupLink group={group} />
            </td>
            <td>
              <TypeLink type={group.type} />
            </td>
            <td>
              <GroupState group={group} />
            </td>
            <td>
              <GroupCounts group={group} />
            </td>
            <td class="number" data-label="Begun">
              <Distance at={group.begunAt} />
            </td>
          </tr>
        ))}
      </PlainTable>
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
