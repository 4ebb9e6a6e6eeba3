import { Controller, Get, Header, type OnApplicationShutdown } from '@nestjs/common';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

// No port of its own: the controller serves the metrics on the application's.
const exporter = new PrometheusExporter({ preventServerStart: true });

/** All metrics of this process. An application with an SDK for OpenTelemetry registers its provider there instead. */
export const meterProvider = new MeterProvider({ readers: [exporter] });

/** Answers the scrapes of Prometheus. */
@Controller('metrics')
export class MetricsController implements OnApplicationShutdown {
  readonly #serializer = new PrometheusSerializer();

  @Get()
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  async scrape(): Promise<string> {
    const { resourceMetrics } = await exporter.collect();
    return this.#serializer.serialize(resourceMetrics);
  }

  onApplicationShutdown(): Promise<void> {
    return meterProvider.shutdown();
  }
}
