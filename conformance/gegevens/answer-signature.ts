import { signedMessage } from '../signature/message.ts';
import { messageChapter } from '../signature/suite.ts';
import { type GegevensSubject, good } from './subject.ts';

export const ANSWER_SIGNATURE = messageChapter<GegevensSubject>(
  'A-JWS',
  ['De handtekening van het antwoord', 'The signature of the answer'],
  ({ small, pages }) =>
    [good(small), ...pages.slice(-1)].map((shown, i) => {
      const name = i === 0 ? 'a small page' : 'the last page';
      return { ...signedMessage(name, Object.entries(shown.headers), shown.body), shown };
    }),
);
