/** Mistakes that a publisher can make: each breaks one rule, and the case that tests it must fail. */
import type { FeedMutant } from './breaking.ts';
import { CURSORS_AND_RECORDS } from './cursors-and-records.ts';
import { SERVICE_AND_PAGES } from './service-and-pages.ts';
import { STATE_AND_STREAM } from './state-and-stream.ts';
import { TRANSPORT } from './transport.ts';

export const RAADSFEED_MUTANTS: readonly FeedMutant[] = [
  ...SERVICE_AND_PAGES,
  ...CURSORS_AND_RECORDS,
  ...STATE_AND_STREAM,
  ...TRANSPORT,
];
