/** The suite for a processing log. It writes actions with its own identifiers and deletes them. */
import type { Suite } from '../case.ts';
import { ACCESS } from './access.ts';
import { CHANGES } from './changes.ts';
import { RETENTION } from './confidentiality.ts';
import { EXTRAS } from './extras.ts';
import { HTTP } from './http.ts';
import { LOGGING } from './logging.ts';
import { QUERYING } from './querying.ts';
import type { LogSubject } from './subject.ts';
import { PAGES, VALUES } from './values.ts';

export const VERWERKINGENLOG: Suite<LogSubject> = {
  name: 'verwerkingenlog',
  title: { nl: 'Het verwerkingenlog', en: 'The processing log' },
  // HTTP comes last, because it judges every answer of the run.
  chapters: [LOGGING, ACCESS, QUERYING, RETENTION, CHANGES, PAGES, VALUES, EXTRAS, HTTP],
};
