import { stalePart } from '../../../core/context/stale.js';
import { FAULT_COLUMNS, WARNING_COLUMNS } from '../../lists/health.js';
import type { Health } from '../api/answers.js';
import { health } from '../live/health.js';
import { Badge, type Tone } from '../parts/badge.js';
import { Fact } from '../parts/fact.js';
import { count } from '../parts/format.js';
import { Loaded } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { DateTime, Distance } from '../parts/time.js';
import { CallsPanel } from './calls-panel.js';
import { clockError, lacksMembers, milliseconds } from './health-line.js';
import { ReceiversPanel } from './receivers-panel.js';

/** The health of the answering node: its store, its clocks, and the data that it may show. */
export function HealthPage() {
  return (
    <>
      <p class="lead">The health of the node that answers this page. Another node may see the store differently.</p>
      <Loaded query={health}>
        {(report) => (
          <>
            <Summary report={report} />
            {report.faults.length > 0 && <Faults report={report} />}
            {report.warnings && <Warnings warnings={report.warnings} />}
            <div class="health-facts">
              <StorePanel report={report} />
              <ClockPanel clock={report.clock} isRead={report.store.connected} />
              <ClusterPanel report={report} />
            </div>
            <CallsPanel report={report} />
            <ReceiversPanel receivers={report.alerts} />
          </>
        )}
      </Loaded>
    </>
  );
}

const STATES: Record<Health['status'], readonly [tone: Tone, label: string, sentence: string]> = {
  healthy: ['good', 'healthy', 'Permits are granted, and this node has no fault.'],
  degraded: ['warning', 'degraded', 'Permits are granted, but something else is wrong.'],
  down: ['bad', 'down', 'Nothing is granted through this node.'],
};

function Summary({ report: { status, node, now } }: { readonly report: Health }) {
  const [tone, label, sentence] = STATES[status];
  return (
    <p class="badges">
      <Badge tone={tone}>{label}</Badge> {sentence}{' '}
      <span class="second">
        {node.group}/{node.acquirer}, <Distance at={now} />
      </span>
    </p>
  );
}

function Faults({ report: { faults } }: { readonly report: Health }) {
  return (
    <section class="panel" aria-labelledby="faults-title">
      <h2 id="faults-title">Faults</h2>
      <PlainTable
        label="Faults"
        columns={FAULT_COLUMNS}
        rows={faults}
        keyOf={({ code }) => code}
        cells={{
          fault: { show: ({ code, stopsGrants }) => <Badge tone={stopsGrants ? 'bad' : 'warning'}>{code}</Badge> },
          since: { isNamed: true },
          sentence: { class: 'explanation' },
        }}
      />
    </section>
  );
}

/** Jobs of this node that did not run, and holders that are not heard of. Permits are granted all the same. */
function Warnings({ warnings }: { readonly warnings: NonNullable<Health['warnings']> }) {
  return (
    <section class="panel" aria-labelledby="warnings-title">
      <h2 id="warnings-title">Warnings</h2>
      <PlainTable
        label="Warnings"
        columns={WARNING_COLUMNS}
        rows={warnings}
        keyOf={({ code, semaphore }) => `${code} ${semaphore}`}
        cells={{
          warning: { show: ({ code }) => <Badge tone="warning">{code}</Badge> },
          semaphore: { show: ({ semaphore }) => <SemaphoreLink name={semaphore} />, isNamed: true },
          noticed: { isNamed: true },
          sentence: { class: 'explanation' },
        }}
      />
    </section>
  );
}

function StorePanel({ report: { store, latency } }: { readonly report: Health }) {
  const { connected, members, expected, quorum, problem } = store;
  const seen = expected === undefined ? members : `${members} of ${expected}`;
  const tone = members < quorum ? 'bad' : lacksMembers(store) ? 'warning' : undefined;
  return (
    <section class="panel" aria-labelledby="store-title">
      <h2 id="store-title">Store</h2>
      <dl class="definition facts">
        <Fact name="Connection">
          <Badge tone={connected ? 'good' : 'bad'}>{connected ? 'connected' : 'not connected'}</Badge>
          {problem !== undefined && <span class="second">{problem}</span>}
        </Fact>
        <Fact name="Members">{tone ? <Badge tone={tone}>{seen}</Badge> : seen}</Fact>
        <Fact name="Quorum">{quorum > 0 ? `at least ${count(quorum, 'member')}` : 'none'}</Fact>
        <Fact name="Latency">
          {latency === undefined ? 'not known yet' : milliseconds(latency)}
          <span class="second">median of the last calls</span>
        </Fact>
      </dl>
    </section>
  );
}

interface ClockPanelProps {
  readonly clock: Health['clock'];
  /** Whether the members can be asked. Otherwise the readings are old. */
  readonly isRead: boolean;
}

function ClockPanel({ clock, isRead }: ClockPanelProps) {
  const { offset, spread, members, suspect } = clock;
  return (
    <section class="panel" aria-labelledby="clock-title">
      <h2 id="clock-title">Clocks</h2>
      <dl class="definition facts">
        <Fact name="Trust">
          <Trust suspect={suspect} isRead={isRead} />
        </Fact>
        <Fact name="Read">{count(members, 'member')}</Fact>
        <Fact name="Spread">{milliseconds(spread)}</Fact>
        <Fact name="This node">
          {offset === undefined ? 'not known yet' : offsetText(offset)}
          {offset !== undefined && <span class="second">known to ±{milliseconds(clockError(clock))}</span>}
        </Fact>
      </dl>
    </section>
  );
}

function Trust({ suspect, isRead }: { readonly suspect: string | undefined; readonly isRead: boolean }) {
  if (suspect !== undefined)
    return (
      <>
        <Badge tone="warning">suspect</Badge>
        <span class="second">{suspect}</span>
      </>
    );
  return isRead ? <Badge tone="good">trusted</Badge> : <Badge tone="neutral">not read now</Badge>;
}

/** @param offset ms by which the node's clock is behind cluster time */
function offsetText(offset: number): string {
  return `${milliseconds(Math.abs(offset))} ${offset < 0 ? 'ahead' : 'behind'}`;
}

function ClusterPanel({ report }: { readonly report: Health }) {
  const { nodes, hasArchive, faults } = report;
  const semaphores = stalePart(report, 'records');
  const archive = faults.find(({ code }) => code === 'archive-failing');
  return (
    <section class="panel" aria-labelledby="cluster-title">
      <h2 id="cluster-title">Cluster</h2>
      <dl class="definition facts">
        <Fact name="Living nodes">
          {nodes ? nodes.count.toLocaleString() : 'not counted yet'}
          {nodes && (
            <span class="second">
              <Distance at={nodes.asOf} />
            </span>
          )}
        </Fact>
        <Fact name="Semaphores">
          {semaphores ? <Badge tone="bad">stale</Badge> : <Badge tone="good">current</Badge>}
          {semaphores && (
            <span class="second">
              {semaphores.since === undefined ? 'never read' : <DateTime at={semaphores.since} />}
            </span>
          )}
        </Fact>
        <Fact name="Archive">
          {archive ? <Badge tone="warning">failing</Badge> : hasArchive ? <Badge tone="good">kept</Badge> : 'none'}
          {archive && (
            <span class="second">
              since <DateTime at={archive.since} />
            </span>
          )}
        </Fact>
      </dl>
    </section>
  );
}
