import { useState } from 'preact/hooks';
import { shortId } from '../../lists/texts.js';
import { heldBy } from '../../lists/semaphores.js';
import type { HolderOverview, SemaphoreOverview } from '../api/answers.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { Countdown, Distance } from '../parts/time.js';
import { whyNot } from '../live/session.js';
import { revokeAction } from './actions.js';
import { Unheard } from '../parts/unheard.js';

interface HoldersPanelProps {
  readonly semaphore: SemaphoreOverview;
  readonly onChange: () => Promise<void>;
}

export function HoldersPanel({ semaphore, onChange }: HoldersPanelProps) {
  const [action, setAction] = useState<Action>();
  const { name, definition } = semaphore;
  const holders = heldBy(semaphore);
  const mayRevoke = whyNot('operate') === undefined;
  return (
    <section class="panel" aria-labelledby="holders-title">
      <h2 id="holders-title">
        Held <span class="second number">{`${holders.length} of ${count(definition?.permits ?? 0, 'permit')}`}</span>
      </h2>
      {holders.length === 0 ? (
        <Empty>No permit is held.</Empty>
      ) : (
        <ul class="holders" aria-label="Holders">
          {holders.map((holder) => (
            <li key={holder.id}>
              <span class="slot number" title={`Slot ${holder.slot}`}>
                <span class="visually-hidden">slot </span>
                {holder.slot}
              </span>
              <HolderName holder={holder} />
              <span class="left number">
                <Countdown until={holder.expiresAt} />
              </span>
              {mayRevoke && (
                <button
                  type="button"
                  class="small danger"
                  aria-label={`Revoke slot ${holder.slot} of ${holder.acquirer}`}
                  onClick={() => setAction(revokeAction(name, holder, onChange))}
                >
                  Revoke
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </section>
  );
}

function HolderName({ holder }: { readonly holder: HolderOverview }) {
  const { acquirer, group, instance, grantedAt, token, isUnheard } = holder;
  return (
    <span class="who-holds">
      <strong>{acquirer}</strong> {isUnheard && <Unheard />}
      <span class="second">
        {group} · {shortId(instance)}
        {holder.holder !== instance && ` · ${holder.holder}`} · since <Distance at={grantedAt} />
      </span>
      <span class="second number">token {token}</span>
    </span>
  );
}
