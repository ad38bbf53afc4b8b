/** The suite for a requester of data: suppliers are played that answer well and badly. */
import type { Suite } from '../case.ts';
import { GOOD_ANSWERS, PLANTED_FAULTS } from './answers.ts';
import { PAGES } from './pages.ts';
import { CALENDAR, MESSAGES, SIGNED_REQUESTS } from './requests.ts';
import type { RequesterSubject } from './subject.ts';

export const REQUESTER: Suite<RequesterSubject> = {
  name: 'gegevens-requester',
  title: { nl: 'Afnemer van gegevens', en: 'Requester of data' },
  // What came is judged after everything was asked.
  chapters: [GOOD_ANSWERS, PLANTED_FAULTS, PAGES, CALENDAR, MESSAGES, SIGNED_REQUESTS],
};
