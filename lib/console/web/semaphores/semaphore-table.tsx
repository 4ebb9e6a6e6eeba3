import { useMemo, useRef } from 'preact/hooks';
import { heldBy } from '../../lists/semaphores.js';
import { formatDuration } from '../../../operate/insight/format-duration.js';
import type { HolderOverview, SemaphoreOverview } from '../api/answers.js';
import { isNarrow } from '../live/screen.js';
import { count, digits } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { scheduleText } from '../parts/schedule-text.js';
import { Expression } from '../parts/schedule.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { Heads, SortChoice } from '../parts/sorting.js';
import { Countdown, Distance } from '../parts/time.js';
import { Unheard } from '../parts/unheard.js';
import { Outcome } from '../parts/outcome.js';
import type { Choice } from './choice.js';
import { COLUMNS } from './columns.js';
import { ConditionBadges } from './condition-badges.js';
import { type Kind, kindOf } from './kind.js';
import { leaveBy, useReturn } from './list-place.js';
import { useVisibleRows } from './visible-rows.js';

interface SemaphoreTableProps {
  readonly semaphores: readonly SemaphoreOverview[];
  /** Absent: the user may not change any. */
  readonly choice: Choice | undefined;
}

/**
 * A table that has only its visible rows in the document. Roles are explicit, because a row is a card on a narrow
 * screen.
 */
export function SemaphoreTable({ semaphores, choice }: SemaphoreTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end, rowHeight } = useVisibleRows(body, semaphores.length);
  const names = useMemo(() => semaphores.map(({ name }) => name), [semaphores]);
  const reached = useReturn({ list: body, names, rowHeight });
  const chooseAll = choice && <ChooseAll choice={choice} all={semaphores.length} />;
  return (
    <>
      {isNarrow.value && (
        <div class="list-head">
          {chooseAll && <label>{chooseAll} All</label>}
          <SortChoice columns={COLUMNS} />
        </div>
      )}
      <table class="rows semaphores" role="table" aria-label="Semaphores" aria-rowcount={semaphores.length + 1}>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {choice && (
              <th role="columnheader" class="cell-choose">
                {isNarrow.value ? 'Choose' : chooseAll}
              </th>
            )}
            <Heads columns={COLUMNS} />
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          <Gap height={first * rowHeight} />
          {semaphores.slice(first, end).map((semaphore, index) => (
            <Row
              key={semaphore.name}
              semaphore={semaphore}
              index={first + index + 2}
              reached={reached}
              choice={choice}
            />
          ))}
          <Gap height={(semaphores.length - end) * rowHeight} />
        </tbody>
      </table>
    </>
  );
}

/** Chooses all rows of the list, also those that are not in view. */
function ChooseAll({ choice: { chosen, chooseAll }, all }: { readonly choice: Choice; readonly all: number }) {
  const isSome = chosen.length > 0 && chosen.length < all;
  return (
    <input
      type="checkbox"
      aria-label={`Choose all ${digits(all)} shown`}
      checked={chosen.length === all}
      indeterminate={isSome}
      onChange={(event) => chooseAll(event.currentTarget.checked)}
    />
  );
}

function Gap({ height }: { readonly height: number }) {
  return height > 0 ? <tr role="presentation" class="gap" style={{ height: `${height}px` }} /> : null;
}

interface RowProps {
  readonly semaphore: SemaphoreOverview;
  readonly index: number;
  readonly reached: (name: string, link: HTMLElement | null) => void;
  readonly choice: Choice | undefined;
}

function Row({ semaphore, index, reached, choice }: RowProps) {
  const { name, jobs, lastRun, next } = semaphore;
  const names = jobs.map(({ job }) => job).join(', ') || NO_JOB[kindOf(semaphore)];
  return (
    <tr role="row" aria-rowindex={index}>
      {choice && (
        <td role="cell" class="cell-choose">
          <input
            type="checkbox"
            aria-label={`Choose ${name}`}
            checked={choice.has(name)}
            onChange={(event) => choice.choose(name, event.currentTarget.checked)}
          />
        </td>
      )}
      <td role="cell" class="cell-name">
        <SemaphoreLink
          name={name}
          title={name}
          link={(link) => reached(name, link)}
          onOpen={(link) => leaveBy(name, link)}
        />
        <span class="second" title={names}>
          {names}
        </span>
      </td>
      <td role="cell" class="cell-state">
        <State semaphore={semaphore} />
      </td>
      <td role="cell" class="cell-held" data-label="Held">
        <Holders semaphore={semaphore} />
      </td>
      <td role="cell" class="cell-last" data-label="Last run">
        {lastRun ? (
          <>
            <span class="badges">
              <Outcome outcome={lastRun.outcome} />
            </span>
            <span class="second">
              <Distance at={lastRun.at} />
              {lastRun.took !== undefined && ` · ${formatDuration(lastRun.took)}`}
            </span>
          </>
        ) : (
          <span class="second">no run yet</span>
        )}
      </td>
      <td role="cell" class="cell-next" data-label="Next">
        {next === undefined ? <span class="second">none</span> : <Distance at={next} />}
        {next !== undefined && <Schedules semaphore={semaphore} />}
      </td>
    </tr>
  );
}

const NO_JOB: Record<Kind, string> = { schedule: '', lock: 'no job', leader: 'leadership', queue: 'tasks' };

function State({ semaphore }: { readonly semaphore: SemaphoreOverview }) {
  const attention = semaphore.problem ?? semaphore.warnings.map(({ sentence }) => sentence).join(' ');
  return (
    <>
      <ConditionBadges semaphore={semaphore} />
      {attention ? (
        <span class="second attention" title={attention}>
          <Icon name="warning" /> {attention}
        </span>
      ) : (
        <span class="second" title={semaphore.pause?.reason}>
          {semaphore.pause?.reason}
        </span>
      )}
    </>
  );
}

function Holders({ semaphore }: { readonly semaphore: SemaphoreOverview }) {
  const holders = heldBy(semaphore);
  const first = holders.find(({ isUnheard }) => isUnheard) ?? holders[0];
  const permits = semaphore.definition?.permits ?? 0;
  return (
    <>
      <span class={holders.length > 0 ? 'number' : 'number second'}>
        {holders.length} of {count(permits, 'permit')}
      </span>
      {first && (
        <span class="second">
          <Holder holder={first} />
          {holders.length > 1 && ` and ${holders.length - 1} more`}
        </span>
      )}
    </>
  );
}

function Holder({ holder }: { readonly holder: HolderOverview }) {
  return (
    // The mark comes first: the cell cuts the end of a long name.
    <span class="holder" title={`${holder.group} / ${holder.acquirer}`}>
      {holder.isUnheard && (
        <>
          <Unheard />{' '}
        </>
      )}
      {holder.acquirer} · <Countdown until={holder.expiresAt} />
    </span>
  );
}

function Schedules({ semaphore: { jobs } }: { readonly semaphore: SemaphoreOverview }) {
  const schedules = jobs.flatMap(({ schedule }) => (schedule ? [schedule] : []));
  const [first, ...others] = schedules;
  return (
    first && (
      <span class="second" title={schedules.map(scheduleText).join(', ')}>
        <Expression {...first} />
        {others.length > 0 && ` and ${others.length} more`}
      </span>
    )
  );
}
