import { Counter, Gauge, type Registry } from 'prom-client';

export type GegevensMetrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, label: L): Counter<L> =>
    new Counter({ name, help, labelNames: [label], registers });
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  return {
    signatureFailures: counter(
      'koppelvlak_gegevens_signature_failures_total',
      'Requests refused by signature or digest',
      'cause',
    ),
    certificateExpiry: gauge(
      'koppelvlak_gegevens_certificate_expiry_timestamp_seconds',
      'When the own signing certificate expires',
    ),
    deliveries: counter('koppelvlak_gegevens_deliveries_total', 'Signed answers', 'variant'),
    deliveredBytes: counter('koppelvlak_gegevens_delivered_bytes_total', 'Bytes of signed answers', 'variant'),
    pages: counter('koppelvlak_gegevens_pages_total', 'Pages by where they came from', 'from'),
    answersBytes: gauge('koppelvlak_gegevens_answers_bytes', 'Bytes of large answers that are being made or sent'),
    answersWaiting: gauge('koppelvlak_gegevens_answers_waiting', 'Large answers that wait for memory'),
  };
}
