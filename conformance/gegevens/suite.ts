/** The suite for a supplier of data (SHV or VS); it only reads. */
import type { Suite } from '../case.ts';
import { ACCESS } from './access.ts';
import { ANSWER_SIGNATURE } from './answer-signature.ts';
import { ANSWERS } from './answers.ts';
import { ERRORS, HTTP } from './errors-and-http.ts';
import { REQUEST_MESSAGE } from './request-message.ts';
import { SIGNING } from './request-signature.ts';
import type { GegevensSubject } from './subject.ts';

export const GEGEVENS: Suite<GegevensSubject> = {
  name: 'gegevens',
  title: { nl: 'Leverancier van gegevens (SHV en VS)', en: 'Supplier of data (SHV and VS)' },
  chapters: [ACCESS, REQUEST_MESSAGE, SIGNING, ANSWERS, ANSWER_SIGNATURE, ERRORS, HTTP],
};
