import { busyWithoutRetryAfter, forged, unchallenged } from '../case.ts';
import { withoutTls } from '../transport-security.ts';
import { MEDIA_TYPES, requestOf, saidIn } from './otlp.ts';
import { contract, ldv, otlp, rfc } from './sources.ts';
import { DPL, LOGS, ldvChapter } from './subject.ts';

/** More than the 20 MiB that OTLP recommends as a limit. */
const LARGE_BYTES = 32 * 2 ** 20;

export const ANSWERS = ldvChapter(
  'L-ANS',
  ['Gedeeltelijk succes, fouten en toegang', 'Partial success, errors and access'],
  {
    'L-ANS-01': {
      must: otlp('Partial Success', 'it MUST set the respective `rejected_spans` … field with the number of spans'),
      nl: 'Is een deel van de regels geweigerd, dan is het antwoord 200 met hun aantal',
      en: 'When some lines are refused, the answer is 200 with their number',
      test: async (intake) => intake.partlyRefused([await intake.wrong(), await intake.wrong()]),
    },
    'L-ANS-02': {
      must: otlp(
        'Partial Success',
        'the server MUST respond with `HTTP 200 OK` … MUST initialize the `partial_success` field',
      ),
      nl: 'Ook in protobuf meldt het antwoord hoeveel regels geweigerd zijn',
      en: 'A protobuf answer also says how many lines were refused',
      needs: ['L-ANS-01', 'L-OTLP-02'],
      test: async (intake) => intake.partlyRefused([await intake.wrong()], { form: 'protobuf' }),
    },
    'L-ANS-03': {
      should: otlp(
        'Partial Success',
        'The server SHOULD populate the `error_message` field with a human-readable error message',
      ),
      nl: 'Het antwoord meldt waarom, zonder de inhoud van de regel te noemen',
      en: 'The answer says why, without quoting the line',
      needs: ['L-ANS-01'],
      test: async (intake) => {
        const person = `cf-${intake.subject.run}-geheim`;
        const at = await intake.send([intake.line(), await intake.wrong({ [DPL.subject]: person })]);
        const message = saidIn(at)?.message ?? '';
        if (message === '') return 'it has no `error_message`';
        return message.includes(person) ? 'it names the data subject' : undefined;
      },
    },
    'L-ANS-04': {
      must: otlp(
        'Bad Data',
        'cannot be decoded or is otherwise invalid … the server MUST respond with HTTP 400 Bad Request',
      ),
      nl: 'Een onleesbare body geeft 400',
      en: 'An unreadable body gets 400',
      test: async (intake) => {
        for (const body of ['{"resourceSpans":', '[1]', '{"resourceSpans":{"a":1}}']) {
          const { status } = await intake.send([], { body });
          if (status !== 400) return `${body} gets status ${status}`;
        }
        const { status } = await intake.send([], { body: 'geen gzip', headers: { 'content-encoding': 'gzip' } });
        return status === 400 ? undefined : `a body that is not gzip gets status ${status}`;
      },
    },
    'L-ANS-05': {
      must: otlp('Bad Data', 'cannot be decoded … the server MUST respond with HTTP 400 Bad Request'),
      nl: 'Onleesbare protobuf geeft 400 met een fout in protobuf',
      en: 'Unreadable protobuf gets 400 with a protobuf error',
      needs: ['L-OTLP-02'],
      test: async (intake) => {
        const body = requestOf([intake.line()], 'protobuf').subarray(0, -9);
        const at = await intake.send([], { form: 'protobuf', body });
        if (at.status !== 400) return `the answer has status ${at.status}`;
        if (at.headers['content-type'] !== MEDIA_TYPES.protobuf)
          return `content type ${at.headers['content-type'] ?? '(none)'}`;
        return saidIn(at) === undefined ? 'the body is not a `google.rpc.Status`' : undefined;
      },
    },
    'L-ANS-06': {
      must: otlp(
        'Failures',
        'The response body for all HTTP 4xx and HTTP 5xx responses MUST be a Protobuf-encoded Status message',
      ),
      nl: 'Een fout is een `google.rpc.Status` in het mediatype van het verzoek, ook zonder toegang',
      en: "An error is a `google.rpc.Status` in the request's media type, even without access",
      needs: ['L-ANS-04'],
      test: async (intake) => {
        for (const at of [
          await intake.send([], { body: 'geen' }),
          await intake.send([intake.line()], { withToken: false }),
        ]) {
          // It may accept lines without a token too.
          if (at.status < 400) continue;
          if (!at.headers['content-type']?.startsWith(MEDIA_TYPES.json))
            return `status ${at.status}: content type ${at.headers['content-type'] ?? '(none)'}`;
          if (saidIn(at) === undefined) return `status ${at.status}: no \`google.rpc.Status\``;
        }
        return undefined;
      },
    },
    'L-ANS-07': {
      should: otlp('Failures', 'The `Status.message` field SHOULD contain a developer-facing error message'),
      nl: 'Een fout meldt wat er mis is',
      en: 'An error says what is wrong',
      needs: ['L-ANS-06'],
      test: async (intake) => {
        const said = saidIn(await intake.send([], { body: 'geen' }));
        return said?.message ? undefined : 'it has no message';
      },
    },
    'L-ANS-08': {
      should: otlp(
        'OTLP/HTTP Request',
        'limit the size of the request body … including after decompression … 413 Content Too Large',
      ),
      nl: 'Een body die uitgepakt veel te groot is, geeft 413',
      en: 'A body that is far too large once decompressed gets 413',
      needs: ['L-OTLP-05'],
      test: async (intake) => {
        // Whitespace after a request is valid JSON, so only its size is wrong.
        const body = Buffer.alloc(LARGE_BYTES, ' ');
        requestOf([intake.line()], 'json').copy(body);
        const { status } = await intake.send([], { body, gzip: true });
        return status === 413 ? undefined : `${LARGE_BYTES / 2 ** 20} MiB get status ${status}`;
      },
    },
    'L-ANS-09': {
      may: contract('AnderType', 'Een ander mediatype of een andere codering'),
      nl: 'Een ander mediatype of een andere codering geeft 415',
      en: 'Another media type or encoding gets 415',
      test: async (intake) => {
        for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'compress' }]) {
          const { status } = await intake.send([intake.line()], { headers });
          if (status !== 415) return `${JSON.stringify(headers)} gets status ${status}`;
        }
        return undefined;
      },
    },
    'L-ANS-10': {
      may: contract('GeenToken', 'Geen of ongeldig toegangstoken.'),
      nl: 'Zonder toegangstoken is het antwoord 401, in JSON en in protobuf',
      en: 'A request without an access token gets 401, in JSON and in protobuf',
      test: async (intake) => {
        for (const form of ['json', 'protobuf'] as const) {
          const { status } = await intake.send([intake.line()], { form, withToken: false });
          if (status === 200) return { skipped: 'no access token is needed' };
          if (status !== 401 && status !== 415) return `in ${form} the answer has status ${status}`;
        }
        return undefined;
      },
    },
    'L-ANS-11': {
      must: rfc(9068, '4', 'The resource server MUST validate the signature of all incoming JWT access tokens'),
      nl: 'Een token met een ongeldige handtekening wordt geweigerd',
      en: 'A token with an invalid signature is refused',
      needs: ['L-ANS-10'],
      test: async (intake) => {
        const headers = { authorization: `Bearer ${forged((await intake.subject.tokens[LOGS]?.()) ?? '')}` };
        const { status } = await intake.send([intake.line()], { withToken: false, headers });
        return [401, 403].includes(status) ? undefined : `the answer has status ${status} instead of 401 or 403`;
      },
    },
    'L-ANS-12': {
      should: rfc(9110, '15.5.6', 'The origin server MUST generate an Allow header field in a 405 response'),
      nl: 'GET geeft 405 met `Allow: POST`',
      en: 'GET gets 405 with `Allow: POST`',
      test: async ({ ask }) => {
        const { status, headers } = await ask({ to: '{base}/traces', as: 'create:normal' });
        if (status !== 405) return { skipped: `the answer has status ${status}` };
        return headers.allow?.includes('POST') ? undefined : `Allow: ${headers.allow ?? '(none)'}`;
      },
    },
    'L-ANS-13': {
      may: contract('paths', 'responses: content, schema'),
      nl: 'Elk antwoord in deze test voldoet aan het contract',
      en: 'Every answer in this run matches the contract',
      test: ({ subject }) => {
        const [first] = subject.contract.departures;
        return first && { failed: first.text, at: first.at };
      },
    },
    'L-ANS-14': {
      may: otlp('OTLP/HTTP Throttling', 'MAY include "Retry-After" header with a recommended time interval'),
      nl: 'Wie te veel verzoeken stuurt, krijgt te horen wanneer het weer kan',
      en: 'A client that sends too many requests is told when to retry',
      test: ({ subject: { client } }) => busyWithoutRetryAfter(client),
    },
    'L-ANS-15': {
      open: otlp('Partial Success; Bad Data', 'If the request is only partially accepted … is otherwise invalid'),
      nl: 'Het antwoord als alle regels geweigerd zijn: gedeeltelijk succes, of 400',
      en: 'The answer when all lines were refused: partial success, or 400',
      needs: ['L-ANS-01'],
      test: async (intake) => intake.seen(await intake.wrong()),
    },
    'L-ANS-16': {
      must: rfc(9110, '15.5.2', 'The server generating a 401 response MUST send a WWW-Authenticate header field'),
      nl: 'Een 401 meldt hoe de aanroeper zich aanmeldt',
      en: 'A 401 says how to authenticate',
      needs: ['L-ANS-10'],
      test: ({ subject: { client } }) => unchallenged(client),
    },
    'L-ANS-17': {
      must: ldv('Component: Logboek, gedrag', 'Het Logboek MOET TLS afdwingen op connecties'),
      nl: 'Het logboek is alleen over TLS bereikbaar',
      en: 'The logbook is reachable over TLS only',
      needs: [],
      test: ({ subject: { base } }) => withoutTls(base),
    },
  },
);
