import type { Health } from '../api/answers.js';
import { messageOf } from '../api/api-error.js';
import { call } from '../api/call.js';
import { useSubmit } from '../forms/use-submit.js';
import { health } from '../live/health.js';
import { Badge } from '../parts/badge.js';
import { announce } from '../parts/notices.js';
import { Empty } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { DateTime } from '../parts/time.js';
import { whyNot } from '../live/session.js';
import { milliseconds } from './health-line.js';

type Receiver = NonNullable<Health['alerts']>[number];

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
      <PlainTable label="Receivers of alerts" columns={['Receiver', 'Last result', 'Time', 'At', 'Waiting']}>
        {receivers.map((receiver) => (
          <Row key={receiver.name} receiver={receiver} />
        ))}
      </PlainTable>
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

function Row({ receiver: { name, last, waiting } }: { readonly receiver: Receiver }) {
  return (
    <tr>
      <td class="name">{name}</td>
      <td>{last ? <Result last={last} /> : 'no request yet'}</td>
      <td class="number" data-label="Time">
        {last && milliseconds(last.took)}
      </td>
      <td class="number" data-label="At">
        {last && <DateTime at={last.at} />}
      </td>
      <td class="number" data-label="Waiting">
        {waiting}
      </td>
    </tr>
  );
}

function Result({ last: { problem, status } }: { readonly last: NonNullable<Receiver['last']> }) {
  if (problem !== undefined) return <Badge tone="bad">{problem}</Badge>;
  return <Badge tone="good">accepted ({status})</Badge>;
}
