import { count } from '../parts/format.js';
import type { LivePreview } from './use-preview.js';

/** Maximum number of nodes that are shown. The others are counted. */
const MOST_SHOWN = 30;

/** Shows which living nodes the patterns match, so that users can check their patterns. */
export function PreviewPanel({ preview: { nodes, problem, hasFaults } }: { readonly preview: LivePreview }) {
  if (problem !== undefined) return <p class="preview second">{problem}</p>;
  if (hasFaults) return <p class="preview second">Correct the faults to see which nodes match.</p>;
  if (nodes === undefined) return <p class="preview second">The matching nodes appear here.</p>;
  const matching = nodes.filter(({ matches }) => matches).length;
  return (
    <div class="preview">
      <p role="status" class={matching === 0 ? 'attention' : undefined}>
        {matching} of {count(nodes.length, 'living node')} {matching === 1 ? 'matches' : 'match'}
        {matching === 0 && ': nothing would run'}
      </p>
      <ul class="node-chips">
        {nodes.slice(0, MOST_SHOWN).map(({ group, acquirer, instance, matches, mismatch }) => (
          <li key={instance} class={matches ? 'match' : 'mismatch'}>
            <span aria-hidden="true">{matches ? '✓' : '✗'}</span> {group} / {acquirer}
            <span class="visually-hidden">{matches ? ' matches' : ` does not match by its ${mismatch}`}</span>
          </li>
        ))}
        {nodes.length > MOST_SHOWN && <li>and {nodes.length - MOST_SHOWN} more</li>}
      </ul>
    </div>
  );
}
