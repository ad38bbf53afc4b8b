/** The suite for an intake of log lines. It writes lines with its own identifiers, which cannot be removed. */
import type { Suite } from '../case.ts';
import { ANSWERS } from './answers.ts';
import { INTAKE } from './intake.ts';
import { LINES } from './lines.ts';
import type { LdvSubject } from './subject.ts';

export const LDV: Suite<LdvSubject> = {
  name: 'ldv',
  title: { nl: 'Het Logboek Dataverwerkingen', en: 'The logbook of data processing (LDV)' },
  chapters: [INTAKE, LINES, ANSWERS],
};
