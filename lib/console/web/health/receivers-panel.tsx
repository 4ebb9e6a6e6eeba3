import type { Columns } from '../../lists/column.js';
import { RECEIVER_COLUMNS } from '../../lists/health.js';
import type { Health } from '../api/answers.js';
import { messageOf } from '../api/api-error.js';
import { call } from '../api/call.js';
import { useSubmit } from '../forms/use-submit.js';
import { health } from '../live/health.js';
import { Badge } from '../parts/badge.js';
import { announce } from '../parts/notices.js';
import { Empty } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { whyNot } from '../live/session.js';
import { milliseconds } from './health-line.js';

type Receiver = NonNullable<Health['alerts']>[number];

/** The last request has several columns here. */
const COLUMNS: Columns<Receiver> = {
  receiver: RECEIVER_COLUMNS.receiver,
  result: { title: 'Last result', value: ({ last }) => last?.problem },
  time: { title: 'Time', value: ({ last }) => last?.took },
  at: { title: 'At', value: ({ last }) => last?.at, kind: 'time' },
  waiting: RECEIVER_COLUMNS.waiting,
};

/** The receivers of alerts of the answering node with their last results, and a button that tests them. */
export function ReceiversPanel({ receivers }: { readonly receivers: readonly Receiver[] | undefined }) {
  return (
    <section class="panel" aria-labelledby="receivers-title">
      <h2 id="receivers-title">Alerts</h2>
      {receivers ? <Receivers receivers={receivers} /> : <Empty>This node sends no alerts.</Empty>}
    </section>
  );
}

function Receivers({ receivers }: { readonly receivers: readonly Receiver[] }) {
  const test = useSubmit(async () => {
    const { results } = await call('testAlerts', { body: {} });
    const failed = results.filter(({ problem }) => problem !== undefined);
    const names = failed.map(({ name }) => name).join(', ');
    announce(failed.length > 0 ? `The test failed: ${names}.` : 'Each receiver has accepted the test.', {
      isBad: failed.length > 0,
    });
    await health.load();
  });
  return (
    <>
      <PlainTable
        label="Receivers of alerts"
        columns={COLUMNS}
        rows={receivers}
        keyOf={({ name }) => name}
        cells={{
          receiver: { class: 'name' },
          result: { show: ({ last }) => (last ? <Result last={last} /> : 'no request yet') },
          time: { show: ({ last }) => last && milliseconds(last.took), isNamed: true },
          at: { isNamed: true },
          waiting: { isNamed: true },
        }}
      />
      {whyNot('operate') === undefined && (
        <div class="badges">
          <button type="button" disabled={test.isBusy} onClick={test.onSubmit}>
            Send a test
          </button>
        </div>
      )}
      {test.error !== undefined && (
        <p class="attention" role="alert">
          {messageOf(test.error)}
        </p>
      )}
    </>
  );
}

function Result({ last: { problem, status } }: { readonly last: NonNullable<Receiver['last']> }) {
  if (problem !== undefined) return <Badge tone="bad">{problem}</Badge>;
  return <Badge tone="good">accepted ({status})</Badge>;
}
