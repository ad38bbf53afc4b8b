import { Counter, Gauge, type Registry } from 'prom-client';

export type GegevensMetrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new Counter({ name, help, labelNames, registers });
  return {
    signatureFailures: counter(
      'koppelvlak_gegevens_signature_failures_total',
      'Requests refused by signature or digest',
      'cause',
    ),
    certificateExpiry: new Gauge({
      name: 'koppelvlak_gegevens_certificate_expiry_timestamp_seconds',
      help: 'When the own signing certificate expires',
      registers,
    }),
    deliveries: counter('koppelvlak_gegevens_deliveries_total', 'Signed answers', 'variant'),
    deliveredBytes: counter('koppelvlak_gegevens_delivered_bytes_total', 'Bytes of signed answers', 'variant'),
    pages: counter('koppelvlak_gegevens_pages_total', 'Pages by where they came from', 'from'),
    answersBytes: new Gauge({
      name: 'koppelvlak_gegevens_answers_bytes',
      help: 'Bytes of large answers that are being made or sent',
      registers,
    }),
    answersWaiting: new Gauge({
      name: 'koppelvlak_gegevens_answers_waiting',
      help: 'Large answers that wait for memory',
      registers,
    }),
  };
}
