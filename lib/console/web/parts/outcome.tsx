import type { RunEntry } from '../api/answers.js';
import { Badge, type Tone } from './badge.js';

const OUTCOMES: Record<RunEntry['outcome'], readonly [Tone, string]> = {
  ok: ['good', 'The run ended well'],
  failed: ['bad', 'The run threw an error'],
  crashed: ['bad', 'The node of the run no longer lives, and has written no end of it'],
  lost: ['warning', 'The run ended without the permit that it began with'],
};

export function Outcome({ outcome }: { readonly outcome: RunEntry['outcome'] }) {
  const [tone, title] = OUTCOMES[outcome];
  return (
    <Badge tone={tone} title={title}>
      {outcome}
    </Badge>
  );
}
