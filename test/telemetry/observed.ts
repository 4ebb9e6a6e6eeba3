import { type Attributes, context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { TelemetryDefinition } from 'nestjs-gatekeeper';
import { type OpenTelemetryOptions, openTelemetry } from 'nestjs-gatekeeper/opentelemetry';

/** One value of a metric; a histogram has its count. */
export interface Point {
  readonly attributes: Attributes;
  readonly value: number;
}

/** Exporters of one test. */
export class Observed {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: 3_600_000 });
  readonly #prometheus = new PrometheusExporter({ preventServerStart: true });
  readonly tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] });
  readonly meterProvider = new MeterProvider({ readers: [this.#reader, this.#prometheus] });

  telemetry(options: OpenTelemetryOptions = {}): TelemetryDefinition {
    const { tracerProvider, meterProvider } = this;
    return openTelemetry({ tracerProvider, meterProvider, ...options });
  }

  /** The spans that have ended. */
  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  spansNamed(name: string): readonly ReadableSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** The points of a collection now, by the name of their metric. */
  async collect(): Promise<ReadonlyMap<string, readonly Point[]>> {
    this.#metrics.reset();
    await this.#reader.forceFlush();
    const scopes = this.#metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    const points = scopes.flatMap(({ metrics }) =>
      metrics.map(({ descriptor, dataPoints }) => {
        const valueOf = (value: unknown) => (typeof value === 'number' ? value : (value as { count: number }).count);
        const all = dataPoints.map(({ attributes, value }) => ({ attributes, value: valueOf(value) }));
        return [descriptor.name, all] as const;
      }),
    );
    return new Map(points);
  }

  /** The values of a metric as text: "0 {}". */
  async valuesOf(metric: string): Promise<string[]> {
    const points = (await this.collect()).get(metric) ?? [];
    return points.map(({ value, attributes }) => `${value} ${JSON.stringify(Object.values(attributes))}`);
  }

  /** The answer to a scrape of Prometheus. */
  async scrape(): Promise<string> {
    const { resourceMetrics } = await this.#prometheus.collect();
    return new PrometheusSerializer().serialize(resourceMetrics);
  }

  async close(): Promise<void> {
    await Promise.all([this.tracerProvider.shutdown(), this.meterProvider.shutdown()]);
  }
}

/** Exporters that end with the test. Contexts are kept over asynchronous calls, as an SDK keeps them. */
export function useObserved(): () => Observed {
  const all: Observed[] = [];
  beforeEach(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
  afterEach(async () => {
    await Promise.all(all.splice(0).map((observed) => observed.close()));
    context.disable();
  });
  return () => {
    const observed = new Observed();
    all.push(observed);
    return observed;
  };
}
