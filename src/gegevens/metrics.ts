import { Counter, Gauge, type Registry } from 'prom-client';

/** What area A counts. */
export interface GegevensMetrics {
  readonly signatureFailures: Counter<'cause'>;
  readonly certificateExpiry: Gauge;
  readonly deliveries: Counter<'variant'>;
  readonly deliveredRecords: Counter<'variant'>;
  readonly deliveredBytes: Counter<'variant'>;
  readonly pages: Counter<'from'>;
  readonly answersBytes: Gauge;
  readonly answersWaiting: Gauge;
}

export function createMetrics(registry: Registry): GegevensMetrics {
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
    deliveredRecords: counter('koppelvlak_gegevens_delivered_records_total', 'Records in signed answers', 'variant'),
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
