/** The suite for a publisher of council information: reading only. */
import type { Suite } from '../case.ts';
import { CACHING } from './caching.ts';
import { LISTS } from './collections.ts';
import { CONTENTS } from './contents.ts';
import { CURSORS } from './cursors.ts';
import { ERRORS } from './errors.ts';
import { FEED_PAGES } from './feed-pages.ts';
import { RECORDS } from './records.ts';
import { SERVICE_DOCUMENT } from './service-document.ts';
import { SNAPSHOT } from './snapshot.ts';
import { STREAM } from './stream.ts';
import type { FeedSubject } from './subject.ts';

export const RAADSFEED: Suite<FeedSubject> = {
  name: 'raadsfeed',
  title: { nl: 'Uitgever van raadsinformatie', en: 'Publisher of council information' },
  // Errors come last, because they judge every answer of the run.
  chapters: [SERVICE_DOCUMENT, FEED_PAGES, CURSORS, RECORDS, CONTENTS, SNAPSHOT, LISTS, STREAM, CACHING, ERRORS],
};
