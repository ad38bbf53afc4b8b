import type { Chapter } from '../case.ts';
import { contract, rfc } from './sources.ts';
import type { FeedSubject } from './subject.ts';

/** Addresses whose answers can be asked for again. */
const KEPT = [
  '{base}/',
  '{feed}?limit=5',
  '{snapshot}?limit=5',
  '{base}/organisaties/{organisation}/vergaderingen?limit=5',
];

export const CACHING: Chapter<FeedSubject> = {
  id: 'C-HTTP',
  title: { nl: 'HTTP: bewaren en samenpersen', en: 'HTTP: caching and compression' },
  cases: [
    {
      id: 'C-HTTP-01',
      title: { nl: 'Een antwoord heeft een `ETag`', en: 'An answer has an `ETag`' },
      level: 'should',
      source: contract('ETag', 'Kenmerk van dit antwoord, voor `If-None-Match`.'),
      dependsOn: ['C-SVC-01', 'C-FEED-01', 'C-SNAP-01', 'C-COL-01'],
      ask: KEPT.map((to) => ({ to })),
      expect: { headers: { etag: /^(?:W\/)?"[^"]*"$/ } },
    },
    {
      id: 'C-HTTP-02',
      title: { nl: 'Wie het antwoord al heeft, krijgt 304', en: 'A consumer that has the answer gets 304' },
      level: 'should',
      source: rfc(
        9110,
        '13.1.2',
        'the origin server MUST NOT perform the requested method if the condition evaluates to false; … respond with 304',
      ),
      dependsOn: ['C-HTTP-01'],
      check: async (_, { ask }) => {
        for (const to of KEPT) {
          const { headers } = await ask({ to });
          const again = await ask({ to, headers: { 'if-none-match': headers.etag ?? '' } });
          if (again.status !== 304) return { failed: `${again.url} gives status ${again.status}` };
        }
        return undefined;
      },
    },
    {
      id: 'C-HTTP-03',
      title: { nl: 'Een 304 heeft geen inhoud en dezelfde `ETag`', en: 'A 304 has no content and the same `ETag`' },
      level: 'may',
      source: rfc(9110, '15.4.5', 'MUST generate … ETag'),
      dependsOn: ['C-HTTP-02'],
      check: async (_, { ask }) => {
        const { headers } = await ask({ to: '{feed}?limit=5' });
        const again = await ask({ to: '{feed}?limit=5', headers: { 'if-none-match': headers.etag ?? '' } });
        const weak = (tag: string | undefined): string | undefined => tag?.replace(/^W\//, '');
        if (again.body.length > 0) return { failed: `it has ${again.body.length} bytes` };
        return weak(again.headers.etag) === weak(headers.etag)
          ? undefined
          : { failed: `it has the ETag ${again.headers.etag ?? '(none)'}` };
      },
    },
    {
      id: 'C-HTTP-04',
      title: { nl: 'Een andere `ETag` geeft het hele antwoord', en: 'Another `ETag` gives the whole answer' },
      level: 'must',
      source: rfc(9110, '13.1.2', 'the condition is true if … no listed tag matches'),
      dependsOn: ['C-FEED-01'],
      ask: [{ to: '{feed}?limit=5', headers: { 'if-none-match': '"conformance"' } }],
      expect: { mediaType: 'application/json' },
    },
    {
      id: 'C-HTTP-05',
      title: {
        nl: 'HEAD geeft de koppen van GET, zonder inhoud',
        en: 'HEAD gives the headers of GET, without content',
      },
      level: 'should',
      source: rfc(9110, '9.1', 'All general-purpose servers MUST support the methods GET and HEAD'),
      dependsOn: ['C-FEED-01'],
      ask: [{ to: '{feed}?limit=5', method: 'HEAD' }],
      expect: { mediaType: 'application/json' },
      check: (_, { answers: [answer] }) =>
        answer?.body.length === 0 ? undefined : { failed: `it has ${answer?.body.length} bytes` },
    },
    {
      id: 'C-HTTP-06',
      title: {
        nl: 'Wat samengeperst komt, is hetzelfde en zegt dat',
        en: 'What comes compressed is the same, and says so',
      },
      level: 'may',
      source: rfc(9110, '12.5.5', 'Vary … a cache MUST NOT … unless'),
      dependsOn: ['C-FEED-01'],
      check: async (_, { ask }) => {
        const plain = await ask({ to: '{feed}?limit=250', headers: { 'accept-encoding': 'identity' } });
        const packed = await ask({ to: '{feed}?limit=250', headers: { 'accept-encoding': 'gzip' } });
        if (packed.headers['content-encoding'] === undefined) return { skipped: 'the answer came as it is' };
        if (JSON.stringify(plain.json) !== JSON.stringify(packed.json)) return { failed: 'it is not the same' };
        return /accept-encoding|\*/i.test(packed.headers.vary ?? '')
          ? undefined
          : { failed: 'it has no `Vary: Accept-Encoding`' };
      },
    },
    {
      id: 'C-HTTP-07',
      title: { nl: 'Wie JSON niet wil: wat er gebeurt', en: 'A consumer that does not accept JSON: what happens' },
      level: 'open',
      source: rfc(9110, '15.5.7', '406 Not Acceptable'),
      dependsOn: ['C-FEED-01'],
      ask: [{ to: '{feed}?limit=1', headers: { accept: 'application/xml' } }],
      expect: { status: [200, 406] },
      check: (_, { answers: [answer] }) => ({ seen: `status ${answer?.status}` }),
    },
    {
      id: 'C-HTTP-08',
      title: { nl: 'Een programma in een browser mag de feed lezen', en: 'A program in a browser may read the feed' },
      level: 'open',
      source: rfc(6454, '7', 'Origin'),
      dependsOn: ['C-FEED-01'],
      ask: [{ to: '{feed}?limit=1', headers: { origin: 'https://herbruiker.example' } }],
      check: (_, { answers: [answer] }) => ({
        seen: `Access-Control-Allow-Origin: ${answer?.headers['access-control-allow-origin'] ?? '(none)'}`,
      }),
    },
  ],
};
