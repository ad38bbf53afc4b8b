/** Access control: each function is called without its scope, using every token that does not grant it. */
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import { type Clause, forged, unchallenged } from '../case.ts';
import { actiePath, type Log, type LogCall, logChapter, NORMAL, storingCall, verwerkingPath } from './log-case.ts';
import { contract, oneApi, rfc, vng } from './sources.ts';
import type { Scope } from './subject.ts';

interface Functie {
  readonly nl: string;
  readonly en: string;
  readonly source: Clause;
  readonly scopes: readonly Scope[];
  readonly call: (log: Log) => LogCall | Promise<LogCall>;
}

const REFUSED =
  'Als de API call niet voldoet aan de scope dan zal een HTTP 403 (Forbidden) foutmelding worden teruggegeven';
const scoped = (functie: string, scope: string): Clause =>
  vng(`${functie}; Bewerking API, opmerkingen`, `${scope} … ${REFUSED}`);
const ordinary = (log: Log): Promise<JsonObject> => log.kept('toegang');
const secret = (log: Log): Promise<JsonObject> => log.secret('toegang-geheim');
const list = (log: Log, beperkteSet: string, vertrouwelijkheid: string): LogCall => [
  'GET',
  log.listPath('toegang', { beperkteSet, vertrouwelijkheid }),
];
const put = (actie: JsonObject): LogCall => {
  const body = { ...actie, actieNaam: 'Gewijzigd zonder recht' };
  return ['PUT', actiePath(actie), { body }];
};
const patch = (actie: JsonObject, body: JsonObject): LogCall => ['PATCH', verwerkingPath(actie), { body }];

/** F7446 has its own case: the texts contradict each other. */
const FUNCTIES = {
  F6624: {
    nl: 'Vertrouwelijk vastleggen',
    en: 'Logging something confidential',
    source: scoped('F6624', 'Autorisatiescope = `create:confidential`'),
    scopes: ['create:confidential'],
    call: (log) => log.storing('toegang', { vertrouwelijkheid: 'vertrouwelijk' }),
  },
  F4086: {
    nl: 'De beperkte set opvragen',
    en: 'Querying the limited set',
    source: oneApi(
      'GET /verwerkingsacties',
      '`read:restricted` Laat toe om een beperkte set van attributen … te lezen',
    ),
    scopes: ['read:restricted', 'read:normal', 'read:confidential'],
    call: (log) => list(log, 'true', 'normaal'),
  },
  F2525: {
    nl: 'De beperkte set van opgeheven acties opvragen',
    en: 'Querying the limited set of lifted actions',
    source: oneApi(
      'F2525',
      'Eén van de volgende autorisatiescopes is nodig: `read:restricted`, `read:normal` of `read:confidential`',
    ),
    scopes: ['read:restricted', 'read:normal', 'read:confidential'],
    call: (log) => list(log, 'true', 'opgeheven'),
  },
  F9787: {
    nl: 'Alle velden opvragen',
    en: 'Querying all fields',
    source: oneApi(
      'GET /verwerkingsacties',
      'Bij autorisatiescope `read:restricted` moet de query parameter `beperkteSet` ingevuld zijn met de waarde `true`. 403',
    ),
    scopes: ['read:normal', 'read:confidential'],
    call: (log) => list(log, 'false', 'normaal'),
  },
  F0143: {
    nl: 'Vertrouwelijke acties opvragen',
    en: 'Querying confidential actions',
    source: scoped('F0143', 'Autorisatiescope `read:confidential` is nodig'),
    scopes: ['read:confidential'],
    call: (log) => list(log, 'false', 'vertrouwelijk'),
  },
  F2969: {
    nl: 'Vertrouwelijkheid wijzigen',
    en: 'Changing confidentiality',
    source: scoped('F2969', 'Autorisatiescope `update:confidential` is vereist'),
    scopes: ['update:confidential'],
    call: async (log) => patch(await ordinary(log), { vertrouwelijkheid: 'vertrouwelijk' }),
  },
  F4415: {
    nl: 'De bewaartermijn wijzigen',
    en: 'Changing the retention period',
    source: scoped('F4415', 'vereist: `update:normal`, `update:confidential`'),
    scopes: ['update:normal', 'update:confidential'],
    call: async (log) => patch(await ordinary(log), { bewaartermijn: 'P2D' }),
  },
  F8316: {
    nl: 'Een actie wijzigen',
    en: 'Changing an action',
    source: scoped('F8316', 'vereist: `update:normal` of `update:confidential`'),
    scopes: ['update:normal', 'update:confidential'],
    call: async (log) => put(await ordinary(log)),
  },
  F3835: {
    nl: 'Een vertrouwelijke actie wijzigen',
    en: 'Changing a confidential action',
    source: scoped('F3835', 'Autorisatiescope `update:confidential` is vereist'),
    scopes: ['update:confidential'],
    call: async (log) => put(await secret(log)),
  },
  F9906: {
    nl: 'Een actie verwijderen',
    en: 'Deleting an action',
    source: scoped('F9906', '`delete:normal` of `delete:confidential` is vereist'),
    scopes: ['delete:normal', 'delete:confidential'],
    call: async (log) => ['DELETE', actiePath(await ordinary(log))],
  },
  F2265: {
    nl: 'Een vertrouwelijke actie verwijderen',
    en: 'Deleting a confidential action',
    source: scoped('F2265', 'Autorisatiescope `delete:confidential` is vereist'),
    scopes: ['delete:confidential'],
    call: async (log) => ['DELETE', actiePath(await secret(log))],
  },
} satisfies Readonly<Record<string, Functie>>;

/** Every function once, with everything it needs except a token. */
const ALL: Functie['call'][] = [
  (log) => log.storing('toegang'),
  ...[FUNCTIES.F4086, FUNCTIES.F4415, FUNCTIES.F8316, FUNCTIES.F9906].map(({ call }) => call),
];

/** @returns the scope that was not refused; scopes without a token are not tried */
async function refusedBy(log: Log, call: Functie['call'], scopes: readonly Scope[]) {
  const tried = scopes.filter((scope) => log.subject.tokens[scope] !== undefined);
  if (tried.length === 0) return { skipped: 'there is no token with another scope' };
  const [method, path, made] = await call(log);
  for (const as of tried) {
    const { status } = await log.call(method, path, { ...made, as });
    if (status !== 403) return `with ${as} the answer has status ${status} instead of 403`;
  }
  return undefined;
}

/** Each operation, without a valid token. */
async function refusedAll(log: Log, as?: 'other') {
  const statuses = as === undefined ? [401] : [401, 403];
  for (const call of ALL) {
    const [method, path, made] = await call(log);
    const { status } = await log.call(method, path, { ...made, as });
    if (!statuses.includes(status)) return `${method} gets status ${status} instead of ${statuses.join(' or ')}`;
  }
  return undefined;
}

const ofFunction = Object.entries<Functie>(FUNCTIES).map(([id, { nl, en, source, scopes, call }], i) => {
  const others = PROCESSING_LOG_SCOPES.filter((scope) => !scopes.includes(scope));
  const written = {
    must: source,
    nl: `${nl} kan alleen met de scope daarvoor (${id})`,
    en: `${en} requires its scope (${id})`,
    test: (log: Log) => refusedBy(log, call, others),
  };
  return [`B-ACC-${String(i + 1).padStart(2, '0')}`, written] as const;
});

export const ACCESS = logChapter('B-ACC', ['Toegang', 'Access'], {
  ...Object.fromEntries(ofFunction),
  'B-ACC-12': {
    open: vng(
      'POST /verwerkingsacties; F7446',
      '`Normaal` dan wordt er niet gecontroleerd op de autorisatiescope … Autorisatiescope = `create:normal`',
    ),
    nl: 'Of het vastleggen van een niet-vertrouwelijke actie de scope `create:normal` vereist: volgens F7446 wel, volgens POST wordt er niet gecontroleerd',
    en: 'Whether logging a non-confidential action requires `create:normal`: F7446 says so, POST says that nothing is checked',
    test: async (log) => {
      const { status } = await log.call(...log.storing('toegang', {}, { as: 'read:normal' }));
      return { seen: `with read:normal the answer has status ${status}` };
    },
  },
  'B-ACC-13': {
    open: vng(
      'F2525; GET /verwerkingsacties',
      'is nodig: `read:normal` of `read:confidential` … Bij autorisatiescope `read:normal` moet de query parameter `vertrouwelijkheid` ingevuld zijn met de waarde `Normaal`',
    ),
    nl: 'Of `read:normal` alle velden van een opgeheven actie ziet: volgens F2525 wel, volgens GET en de vorm met één API niet',
    en: 'Whether `read:normal` sees all fields of a lifted action: F2525 says so, GET and the single-API version do not',
    test: async (log) => {
      const [method, path] = list(log, 'false', 'opgeheven');
      return { seen: `status ${(await log.call(method, path, { as: 'read:normal' })).status}` };
    },
  },
  'B-ACC-14': {
    must: vng(
      'POST /verwerkingsacties',
      'Laat toe om zowel vertrouwelijke als niet vertrouwelijke (normale) verwerkingsacties aan te maken',
    ),
    nl: 'Een scope voor `confidential` omvat die voor `normal`',
    en: 'A scope for `confidential` includes the one for `normal`',
    test: async (log) => {
      const body = log.whole('omvat');
      const actie = await log.stored(...storingCall(body, { as: 'create:confidential' }));
      await log.get(log.listPath('omvat', NORMAL), 'read:confidential');
      await log.expect(200, 'PUT', actiePath(actie), { as: 'update:confidential', body });
      const [method, path, change] = patch(body, { bewaartermijn: 'P2D' });
      await log.expect(204, method, path, { ...change, as: 'update:confidential' });
      await log.expect(204, 'DELETE', actiePath(actie), { as: 'delete:confidential' });
    },
  },
  'B-ACC-15': {
    must: vng('OpenAPI', "security: - JWT-Claims … '401': description: Unauthorized"),
    nl: 'Zonder toegangstoken geeft elke aanroep 401',
    en: 'Every call without an access token gets 401',
    test: (log) => refusedAll(log),
  },
  'B-ACC-16': {
    must: rfc(9110, '15.5.2', 'The server generating a 401 response MUST send a WWW-Authenticate header field'),
    nl: 'Een 401 meldt hoe de aanroeper zich aanmeldt',
    en: 'A 401 says how to authenticate',
    needs: ['B-ACC-15'],
    test: ({ subject: { client } }) => unchallenged(client),
  },
  'B-ACC-17': {
    must: rfc(9068, '4', 'The resource server MUST validate the signature of all incoming JWT access tokens'),
    nl: 'Een token met een ongeldige handtekening wordt geweigerd',
    en: 'A token with an invalid signature is refused',
    test: (log) => refusedWith(log, forged),
  },
  'B-ACC-18': {
    must: rfc(9068, '4', 'MUST reject any JWT in which the value of "alg" is "none"'),
    nl: 'Een token zonder handtekening (`alg: none`) wordt geweigerd',
    en: 'A token without a signature (`alg: none`) is refused',
    test: (log) =>
      refusedWith(log, (token) => {
        const [, claims = ''] = forged(token).split('.');
        return `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${claims}.`;
      }),
  },
  'B-ACC-19': {
    must: rfc(
      9068,
      '4',
      'The JWT access token MUST be rejected if "aud" does not contain a resource indicator of the current resource server',
    ),
    nl: 'Een token van een andere organisatie of voor een andere dienst wordt overal geweigerd',
    en: 'A token from another organisation or for another service is refused everywhere',
    test: (log) => refusedAll(log, 'other'),
  },
  'B-ACC-20': {
    may: contract('Geweigerd', 'De aanroeper mag dit niet. Er is niets veranderd.'),
    nl: 'Een geweigerd verzoek heeft niets veranderd',
    en: 'A refused request has changed nothing',
    needs: ofFunction.slice(5).map(([id]) => id),
    test: async (log) => {
      for (const [name, actie] of [
        ['toegang', await ordinary(log)],
        ['toegang-geheim', await secret(log)],
      ] as const) {
        const query = { beperkteSet: 'false', vertrouwelijkheid__in: 'normaal,vertrouwelijk' };
        const all = await log.list(name, query, 'read:confidential');
        const now = all.find(({ actieId }) => actieId === actie.actieId);
        if (now === undefined) return 'the action no longer exists';
        const other = ['actieNaam', 'vertrouwelijkheid', 'bewaartermijn'].find((field) => now[field] !== actie[field]);
        if (other !== undefined) return `${other} has changed`;
      }
      return undefined;
    },
  },
});

async function refusedWith(log: Log, change: (token: string) => string) {
  const token = await log.subject.tokens['read:normal']?.();
  if (token === undefined) return { skipped: 'there is no token for read:normal' };
  const [method, path] = list(log, 'true', 'normaal');
  const { status } = await log.call(method, path, { headers: { authorization: `Bearer ${change(token)}` } });
  return [401, 403].includes(status) ? undefined : `the answer has status ${status} instead of 401 or 403`;
}
