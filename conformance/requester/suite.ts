/** The suite for a requester of data: it plays suppliers with valid and invalid answers. */
import type { Suite } from '../case.ts';
import { GOOD_ANSWERS, PAGES, PLANTED_FAULTS } from './answers.ts';
import { CALENDAR, MESSAGES, SIGNED_REQUESTS } from './requests.ts';
import type { RequesterSubject } from './subject.ts';

export const REQUESTER: Suite<RequesterSubject> = {
  name: 'gegevens-requester',
  title: { nl: 'Afnemer van gegevens', en: 'Requester of data' },
  // Judges the requests after all of them have arrived.
  chapters: [GOOD_ANSWERS, PLANTED_FAULTS, PAGES, CALENDAR, MESSAGES, SIGNED_REQUESTS],
};
