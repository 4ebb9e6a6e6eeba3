import type { ComponentChildren } from 'preact';
import { Empty } from '../parts/page-state.js';
import type { TypeOverview } from './task-types.js';
import { Trend } from './trend.js';
import { type TypeSample, samplesOf } from '../live/type-history.js';
import { aboutText } from './types-page.js';
import { digits } from '../parts/format.js';

/** Backlog and rates of a type, now and since this browser tab shows types. */
export function TypeTrends({ of }: { readonly of: TypeOverview }) {
  const { type, waiting, running, concurrency, completed, failed } = of;
  const samples = samplesOf(type);
  const points = (field: Exclude<keyof TypeSample, 'at'>) =>
    samples.map((sample) => ({ at: sample.at, value: sample[field] }));
  return (
    <section class="panel trends" aria-labelledby="trends-title">
      <h2 id="trends-title">
        Work <span class="second">since this tab has been showing it, at most 30 min</span>
      </h2>
      {samples.length === 0 ? (
        <Empty>No tasks of this type were seen yet.</Empty>
      ) : (
        <div class="trend-grid">
          <Figure title="Backlog" value={aboutText(waiting)}>
            <Trend label="Backlog" isLarge series={[{ name: 'waiting', tone: 'accent', points: points('waiting') }]} />
          </Figure>
          <Figure title="Running" value={`${running} of ${concurrency}`}>
            <Trend label="Running" isLarge series={[{ name: 'running', tone: 'accent', points: points('running') }]} />
          </Figure>
          <Figure title="In the last minute" value={`${digits(completed)} completed, ${digits(failed)} failed`}>
            <Trend
              label="In the last minute"
              isLarge
              series={[
                { name: 'completed', tone: 'good', points: points('completed') },
                { name: 'failed', tone: 'bad', points: points('failed') },
              ]}
            />
          </Figure>
        </div>
      )}
    </section>
  );
}

interface FigureProps {
  readonly title: string;
  readonly value: string;
  readonly children: ComponentChildren;
}

function Figure({ title, value, children }: FigureProps) {
  return (
    <div>
      <p>
        <span class="second">{title}</span>
        <strong class="number">{value}</strong>
      </p>
      {children}
    </div>
  );
}
