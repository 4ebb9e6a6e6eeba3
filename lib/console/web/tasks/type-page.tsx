import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SemaphoreAnswer, SemaphoreOverview } from '../api/answers.js';
import { ApiError, messageOf } from '../api/api-error.js';
import { pathOf } from '../api/call.js';
import { AuditTable } from '../audit/audit-table.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { concerning } from '../live/concerns.js';
import { type LiveQuery, OFTEN } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { StaleNotice } from '../parts/stale-notice.js';
import { Distance } from '../parts/time.js';
import { hrefOf } from '../parts/router.js';
import { pauseAction, resumeAction } from '../semaphore/actions.js';
import { DefinitionPanel } from '../semaphore/definition-panel.js';
import { HoldersPanel } from '../semaphore/holders-panel.js';
import { whyNot } from '../live/session.js';
import { LimitDialog } from './limit-dialog.js';
import { TypeState } from './types-page.js';
import { type TypeOverview, typesIn } from './task-types.js';
import { noteSamples } from '../live/type-history.js';
import { TypeLists } from './type-lists.js';
import { TypeNodesPanel } from './type-nodes-panel.js';
import { TypeTrends } from './type-trends.js';
import { useTypes } from '../parts/work-views.js';

/** Problem of a semaphore without a record. A type need not have one. */
const NO_LIMIT = { absent: 'unknown-semaphore' };

/** The page of a type of tasks. @param name of its semaphore, which may have no definition */
export function TypePage({ name }: { readonly name: string }) {
  const type = name.slice('task:'.length);
  const concerns = useMemo(() => concerning(name), [name]);
  const types = useTypes();
  const limit = useLive(pathOf('semaphore', { params: { name } }), concerns, OFTEN, NO_LIMIT);
  const reload = async () => void (await Promise.all([types.load(), limit.load()]));
  useEffect(() => types.data.subscribe((answer) => answer && noteSamples(answer.now, typesIn(answer))), [types]);
  return (
    <>
      <a class="back" href={hrefOf(['tasks'])}>
        <Icon name="back" /> All task types
      </a>
      <Loaded query={types}>
        {(answer) => {
          const of = typesIn(answer).find((each) => each.type === type) ?? idle(type);
          return (
            <>
              <StaleNotice of={answer} />
              <Summary of={of} limit={limit} onChange={reload} />
              <TypeTrends of={of} />
              <div class="columns">
                <TypeNodesPanel of={of} onChange={reload} />
                <Limit type={type} limit={limit} onChange={reload} />
              </div>
              <TypeLists type={type} nodes={answer.nodes} />
            </>
          );
        }}
      </Loaded>
      {limit.data.value && <Changes audit={limit.data.value.audit} />}
    </>
  );
}

/** A type of which no task waits, and that no living node handles. */
function idle(type: string): TypeOverview {
  return { type, waiting: 0, running: 0, concurrency: 0, completed: 0, failed: 0, nodes: [] };
}

interface LimitProps {
  readonly limit: LiveQuery<SemaphoreAnswer>;
  readonly onChange: () => Promise<void>;
}

function Summary({ of, limit, onChange }: LimitProps & { readonly of: TypeOverview }) {
  const semaphore = limit.data.value?.semaphore;
  const pause = semaphore?.pause;
  return (
    <section class="summary" aria-label="State">
      <TypeState of={of} />
      {pause && (
        <p class="panel warning">
          Paused by <strong>{pause.by}</strong>, <Distance at={pause.at} />
          {pause.reason ? <>: “{pause.reason}”</> : '.'}
        </p>
      )}
      {semaphore?.definition && <Pause semaphore={semaphore} onChange={onChange} />}
    </section>
  );
}

function Pause({ semaphore, onChange }: Pick<LimitProps, 'onChange'> & { readonly semaphore: SemaphoreOverview }) {
  const [action, setAction] = useState<Action>();
  if (whyNot('operate') !== undefined) return null;
  const { pause } = semaphore;
  const chosen = () => (pause ? resumeAction(semaphore, onChange) : pauseAction(semaphore, onChange));
  return (
    <div class="buttons actions">
      <button type="button" onClick={() => setAction(chosen)}>
        <Icon name={pause ? 'play' : 'pause'} /> {pause ? 'Resume' : 'Pause'} in the whole cluster
      </button>
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </div>
  );
}

/** The limit of the type: its definition and its permits, or a way to make one. */
function Limit({ type, limit, onChange }: LimitProps & { readonly type: string }) {
  const [isDefining, setDefining] = useState(false);
  const semaphore = limit.data.value?.semaphore;
  if (semaphore?.definition) {
    return (
      <>
        <DefinitionPanel semaphore={semaphore} onChange={onChange} />
        {semaphore.holders.length > 0 && <HoldersPanel semaphore={semaphore} onChange={onChange} />}
      </>
    );
  }
  const error = limit.error.value;
  const isMissing = error instanceof ApiError && error.problem.code === NO_LIMIT.absent;
  return (
    <section class="panel" aria-labelledby="limit-title">
      <h2 id="limit-title">Limit</h2>
      {error && !isMissing && <p class="fault">The limit can’t be read now: {messageOf(error)}</p>}
      {(isMissing || semaphore) && (
        <>
          <Empty>
            None: each node takes as many tasks as its handler allows. Define the semaphore <code>task:{type}</code> to
            pause the type in the whole cluster, to limit it, or to confine it to some nodes.
          </Empty>
          {whyNot('define') === undefined && (
            <button type="button" onClick={() => setDefining(true)}>
              <Icon name="add" /> Define a limit…
            </button>
          )}
        </>
      )}
      {isDefining && <LimitDialog type={type} onChange={onChange} onClose={() => setDefining(false)} />}
    </section>
  );
}

function Changes({ audit }: Pick<SemaphoreAnswer, 'audit'>) {
  return (
    <section class="panel" aria-labelledby="audit-title">
      <h2 id="audit-title">Changes</h2>
      {audit ? <AuditTable entries={audit} isOfOne /> : <Empty>The changes can’t be read now.</Empty>}
    </section>
  );
}
