import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/** All metrics of this node. An application with an SDK for OpenTelemetry registers its provider there instead. */
@Injectable()
export class Metrics implements OnApplicationShutdown {
  // No port of its own: the controller serves the metrics on the application's.
  readonly #exporter = new PrometheusExporter({ preventServerStart: true });
  readonly #serializer = new PrometheusSerializer();
  readonly meterProvider = new MeterProvider({ readers: [this.#exporter] });

  /** In the text format of Prometheus. */
  async read(): Promise<string> {
    const { resourceMetrics } = await this.#exporter.collect();
    return this.#serializer.serialize(resourceMetrics);
  }

  onApplicationShutdown(): Promise<void> {
    return this.meterProvider.shutdown();
  }
}
