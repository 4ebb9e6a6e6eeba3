import type { MigrationStep, NodeIdentity } from '../api/answers.js';
import { PlainTable } from '../parts/plain-table.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';

/** Maximum number of rows. The others are counted. */
const MOST_SHOWN = 200;

/** Shows the holders that no longer match, and the nodes that could take over. */
export function StepTable({ steps }: { readonly steps: readonly MigrationStep[] }) {
  return (
    <>
      <PlainTable
        label="Steps of the migration"
        columns={['Semaphore', 'Patterns', 'Moves away from', 'Could take over']}
      >
        {steps.slice(0, MOST_SHOWN).map((step) => (
          <Step key={step.name} step={step} />
        ))}
      </PlainTable>
      {steps.length > MOST_SHOWN && <p class="second">and {steps.length - MOST_SHOWN} more</p>}
    </>
  );
}

function Step({ step: { name, from, to, moving, candidates, candidateCount } }: { readonly step: MigrationStep }) {
  return (
    <tr>
      <td>
        <SemaphoreLink name={name} />
      </td>
      <td>
        <ul class="changes">
          <Change label="Group" before={from.groupPattern} after={to.groupPattern} />
          <Change label="Acquirer" before={from.acquirerPattern} after={to.acquirerPattern} />
        </ul>
      </td>
      <td data-label="Moves away from">{someOf(acquirersOf(moving), moving.length) || 'none'}</td>
      <td data-label="Could take over">
        {candidateCount > 0 ? (
          someOf(acquirersOf(candidates), candidateCount)
        ) : (
          <span class="attention">no living node</span>
        )}
      </td>
    </tr>
  );
}

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

function someOf(names: readonly string[], total: number): string {
  const shown = names.slice(0, 4);
  const more = total - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
