import { Counter, Gauge, type Registry } from 'prom-client';

export type GegevensMetrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, label: L): Counter<L> =>
    new Counter({ name: `koppelvlak_gegevens_${name}`, help, labelNames: [label], registers });
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `koppelvlak_gegevens_${name}`, help, registers });
  return {
    signatureFailures: counter('signature_failures_total', 'Requests refused by signature or digest', 'cause'),
    certificateExpiry: gauge('certificate_expiry_timestamp_seconds', 'When the own signing certificate expires'),
    deliveries: counter('deliveries_total', 'Signed answers', 'variant'),
    deliveredBytes: counter('delivered_bytes_total', 'Bytes of signed answers', 'variant'),
    pages: counter('pages_total', 'Pages by where they came from', 'from'),
    answersBytes: gauge('answers_bytes', 'Bytes of large answers that are being made or sent'),
    answersWaiting: gauge('answers_waiting', 'Large answers that wait for memory'),
  };
}
