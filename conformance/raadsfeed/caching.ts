import type { Exchange } from '../exchange.ts';
import { contract, fetchStandard, otherTag, rfc } from './sources.ts';
import { feedChapters } from './subject.ts';

/** Addresses whose answers can be requested again. */
const KEPT = [
  '{base}/',
  '{feed}?limit=5',
  '{snapshot}?limit=5',
  '{base}/organisaties/{organisation}/vergaderingen?limit=5',
];

/** Headers that a 304 must repeat from the 200. */
const FOR_CACHES = ['etag', 'cache-control', 'content-location', 'expires', 'vary'];

/**
 * Compares tags weakly.
 * @see RFC 9110 section 8.8.3.2
 */
function opaque({ headers: { etag } }: Pick<Exchange, 'headers'>): string | undefined {
  return etag?.replace(/^W\//, '');
}

export const CACHING = feedChapters('C-FEED-01')(
  'C-HTTP',
  ['HTTP: mediatype, caching en compressie', 'HTTP: media type, caching and compression'],
  {
    'C-HTTP-01': {
      should: rfc(9110, '8.8.3.1', 'An origin server SHOULD send an ETag for any selected representation'),
      nl: 'Een antwoord heeft een `ETag`',
      en: 'An answer has an `ETag`',
      needs: ['C-SVC-01', 'C-FEED-01', 'C-SNAP-01', 'C-COL-01'],
      ask: KEPT.map((to) => ({ to })),
      expect: { headers: { etag: /^(?:W\/)?"[^"]*"$/ } },
    },
    'C-HTTP-02': {
      must: rfc(
        9110,
        '13.1.2',
        'the origin server MUST respond with either a) the 304 (Not Modified) status code if the request method is GET or HEAD',
      ),
      nl: 'Een afnemer die het antwoord al heeft, krijgt 304',
      en: 'A consumer that already has the answer gets 304',
      needs: ['C-HTTP-01'],
      check: async (_, { ask }) => {
        for (const to of KEPT) {
          const { headers } = await ask({ to });
          const again = await ask({ to, headers: { 'if-none-match': headers.etag ?? '' } });
          const hasChanged = again.status === 200 && opaque(again) !== opaque({ headers });
          if (again.status !== 304 && !hasChanged) return `${again.url} gets status ${again.status}`;
        }
        return undefined;
      },
    },
    'C-HTTP-03': {
      must: rfc(
        9110,
        '15.4.5',
        'The server generating a 304 response MUST generate any of the following header fields that would have been sent in a 200 (OK) response',
      ),
      nl: 'Een 304 heeft geen body, en dezelfde `ETag` en cacheheaders als een 200',
      en: 'A 304 has no content, and the same `ETag` and caching headers as a 200',
      needs: ['C-HTTP-02'],
      check: async (_, { ask }) => {
        const { headers } = await ask({ to: '{feed}?limit=5' });
        const again = await ask({ to: '{feed}?limit=5', headers: { 'if-none-match': headers.etag ?? '' } });
        if (again.status !== 304) return { skipped: 'the page changed meanwhile' };
        if (again.body.length > 0) return `it has ${again.body.length} bytes`;
        const missing = FOR_CACHES.find((name) => headers[name] !== undefined && again.headers[name] === undefined);
        if (missing !== undefined) return `it has no header ${missing}`;
        return opaque(again) === opaque({ headers }) ? undefined : `it has the ETag ${again.headers.etag ?? '(none)'}`;
      },
    },
    'C-HTTP-04': {
      must: otherTag,
      nl: 'Een andere `ETag` geeft het hele antwoord',
      en: 'A different `ETag` gets the full answer',
      ask: [{ to: '{feed}?limit=5', headers: { 'if-none-match': '"conformance"' } }],
    },
    'C-HTTP-05': {
      should: rfc(9110, '9.3.2', 'The server SHOULD send the same header fields in response to a HEAD request'),
      nl: 'HEAD geeft de headers van GET, zonder body',
      en: 'HEAD returns the headers of GET, without content',
      ask: [{ to: '{feed}?limit=5' }, { to: '{feed}?limit=5', method: 'HEAD' }],
      check: (_, { answers: [get, head] }) => {
        const names = ['content-type', 'link', ...FOR_CACHES];
        const missing = names.find((name) => get?.headers[name] !== undefined && head?.headers[name] === undefined);
        return missing === undefined ? undefined : `it has no header ${missing}`;
      },
    },
    'C-HTTP-06': {
      may: rfc(9110, '12.5.5', 'An origin server SHOULD generate a Vary header field on a cacheable response'),
      nl: 'Een gecomprimeerd antwoord heeft dezelfde inhoud, en `Vary: Accept-Encoding`',
      en: 'A compressed answer has the same content, and `Vary: Accept-Encoding`',
      check: async (_, { ask }) => {
        const plain = await ask({ to: '{feed}?limit=250', headers: { 'accept-encoding': 'identity' } });
        const packed = await ask({ to: '{feed}?limit=250', headers: { 'accept-encoding': 'gzip' } });
        if (packed.headers['content-encoding'] === undefined) return { skipped: 'the answer was not compressed' };
        if (JSON.stringify(plain.json) !== JSON.stringify(packed.json)) {
          const again = await ask({ to: '{feed}?limit=250', headers: { 'accept-encoding': 'identity' } });
          return JSON.stringify(plain.json) === JSON.stringify(again.json)
            ? 'its content differs'
            : { skipped: 'the page changed meanwhile' };
        }
        return /accept-encoding|\*/i.test(packed.headers.vary ?? '') ? undefined : 'it has no `Vary: Accept-Encoding`';
      },
    },
    'C-HTTP-07': {
      open: rfc(9110, '15.5.7', '406 Not Acceptable'),
      nl: 'Wat er gebeurt als een afnemer geen JSON accepteert',
      en: 'What happens when a consumer does not accept JSON',
      ask: [{ to: '{feed}?limit=1', headers: { accept: 'application/xml' } }],
      expect: { status: [200, 406] },
      check: (_, { answers: [answer] }) => ({ seen: `status ${answer?.status}` }),
    },
    'C-HTTP-08': {
      open: fetchStandard('3.3.3 HTTP responses', 'Indicates whether the response can be shared'),
      nl: 'Of een webpagina de feed mag lezen (CORS)',
      en: 'Whether a web page may read the feed (CORS)',
      ask: [{ to: '{feed}?limit=1', headers: { origin: 'https://herbruiker.example' } }],
      check: (_, { answers: [answer] }) => ({
        seen: `Access-Control-Allow-Origin: ${answer?.headers['access-control-allow-origin'] ?? '(none)'}`,
      }),
    },
    'C-HTTP-09': {
      may: contract('getServicedocument, getFeed, getSnapshot, getVergaderingen', 'content: application/json:'),
      nl: 'Een antwoord is `application/json`',
      en: 'An answer is `application/json`',
      needs: ['C-SVC-01', 'C-FEED-01', 'C-SNAP-01', 'C-COL-01'],
      ask: KEPT.map((to) => ({ to })),
      expect: { mediaType: 'application/json' },
    },
  },
);
