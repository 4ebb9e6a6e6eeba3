import { MIGRATION_COLUMNS } from '../../lists/changes.js';
import { type Columns, withoutValue } from '../../lists/column.js';
import { someOf } from '../../lists/texts.js';
import type { MigrationStep, NodeIdentity } from '../api/answers.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';

/** Maximum number of rows. The others are counted. */
const MOST_SHOWN = 200;

/** Shows the holders that no longer match, and the nodes that could take over. */
export function StepTable({ steps }: { readonly steps: readonly MigrationStep[] }) {
  return (
    <>
      <PlainTable
        label="Steps of the migration"
        columns={COLUMNS}
        rows={steps.slice(0, MOST_SHOWN)}
        keyOf={({ name }) => name}
        cells={CELLS}
      />
      {steps.length > MOST_SHOWN && <p class="second">and {steps.length - MOST_SHOWN} more</p>}
    </>
  );
}

const { name, moving, candidates } = MIGRATION_COLUMNS;
const COLUMNS: Columns<MigrationStep> = { name, patterns: withoutValue('Patterns'), moving, candidates };

/** Number of nodes that a cell names. */
const MOST_NAMED = 4;

const CELLS: Cells<MigrationStep> = {
  name: { show: (step) => <SemaphoreLink name={step.name} /> },
  patterns: {
    show: ({ from, to }) => (
      <ul class="changes">
        <Change label="Group" before={from.groupPattern} after={to.groupPattern} />
        <Change label="Acquirer" before={from.acquirerPattern} after={to.acquirerPattern} />
      </ul>
    ),
  },
  moving: {
    show: (step) => someOf(acquirersOf(step.moving), step.moving.length, MOST_NAMED) || 'none',
    isNamed: true,
  },
  candidates: {
    show: (step) =>
      someOf(acquirersOf(step.candidates), step.candidateCount, MOST_NAMED) || (
        <span class="attention">no living node</span>
      ),
    isNamed: true,
  },
};

function Change({ label, before, after }: { readonly label: string; readonly before: string; readonly after: string }) {
  if (before === after) return null;
  return (
    <li>
      {label}: <del>{before}</del> <ins>{after}</ins>
    </li>
  );
}

function acquirersOf(nodes: readonly NodeIdentity[]): string[] {
  return nodes.map(({ acquirer }) => acquirer);
}
