/**
 * A second processing log, as small as possible: written from the contract alone, with only the standard library. It has the twelve
 * functions, and no optional features.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

type Json = Record<string, unknown>;
interface Actie extends Json {
  readonly actieId: string;
}
interface Kept {
  readonly actie: Actie;
  readonly wasConfidential: boolean;
}

/** Ends a call with an answer. */
class Refusal extends Error {
  readonly status: number;
  readonly params: readonly string[];
  readonly headers: Record<string, string>;

  constructor(status: number, params: readonly string[] = [], headers: Record<string, string> = {}) {
    super(String(status));
    this.status = status;
    this.params = params;
    this.headers = headers;
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const TERM =
  /^P(?=\d|T\d)(?=.*[1-9])(\d{1,3}Y|1000Y)?(\d{1,5}M)?(\d{1,5}W)?(\d{1,5}D)?(T(\d{1,5}H)?(\d{1,5}M)?(\d{1,5}S)?)?$/;
const ADDRESS = /^https?:\/\/[^\s]{1,2034}$/;
const STATES = ['normaal', 'vertrouwelijk', 'opgeheven'];
const upTo = (length: number) => new RegExp(`^[^\\0]{0,${length}}$`, 'u');

const FIELDS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    ['actieNaam', 'handelingNaam', 'verwerkingNaam', 'systeem', 'gegevensbron', 'soortAfnemerId'].map((name) => [
      name,
      upTo(242),
    ]),
  ),
  ...Object.fromEntries(
    ['verwerkingId', 'verwerkingsactiviteitId', 'verwerkingsactiviteitIdAfnemer', 'verwerkingIdAfnemer'].map((name) => [
      name,
      UUID,
    ]),
  ),
  verwerkingsactiviteitUrl: ADDRESS,
  verwerkingsactiviteitUrlAfnemer: ADDRESS,
  bewaartermijn: TERM,
  uitvoerder: /^\d{20}$/,
  gebruiker: upTo(40),
  afnemerId: upTo(40),
  tijdstip: MOMENT,
  vertrouwelijkheid: /^(normaal|vertrouwelijk|opgeheven)$/i,
};
const REQUIRED = ['vertrouwelijkheid', 'tijdstip'];
const GIVEN = ['url', 'actieId', 'tijdstipRegistratie'];
const LEFT_OUT = ['systeem', 'gebruiker', 'gegevensbron'];
const DAY_MS = 86_400_000;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function faultsOf(body: Json): string[] {
  const faults = Object.entries(body).flatMap(([name, value]) => {
    if (GIVEN.includes(name) || name === 'verwerkteObjecten') return [];
    const form = FIELDS[name];
    if (value === null && form !== undefined && !REQUIRED.includes(name)) return [];
    return form !== undefined && typeof value === 'string' && form.test(value) ? [] : [name];
  });
  faults.push(...REQUIRED.filter((name) => body[name] === undefined));
  if (!(Date.parse(text(body.tijdstip)) <= Date.now() + DAY_MS)) faults.push('tijdstip');
  if (!Array.isArray(body.verwerkteObjecten) || !body.verwerkteObjecten.every(isObject))
    faults.push('verwerkteObjecten');
  return faults;
}

function isObject(value: unknown): boolean {
  if (!isJson(value)) return false;
  const { objecttype, soortObjectId, objectId, betrokkenheid = null } = value;
  return (
    /^persoon$/i.test(text(objecttype)) &&
    upTo(242).test(text(soortObjectId)) &&
    upTo(40).test(text(objectId)) &&
    text(soortObjectId) !== '' &&
    text(objectId) !== '' &&
    (betrokkenheid === null || (typeof betrokkenheid === 'string' && betrokkenheid.length <= 242))
  );
}

export interface OtherLog {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param scopesOf the scopes of each known token */
export async function startOtherLog(scopesOf: Readonly<Record<string, readonly string[]>>): Promise<OtherLog> {
  const kept = new Map<string, Kept>();
  let base = '';

  const record = (body: Json, actieId: string): Actie => ({
    ...Object.fromEntries(Object.keys(FIELDS).map((name) => [name, body[name] ?? null])),
    vertrouwelijkheid: text(body.vertrouwelijkheid).toLowerCase(),
    actieId,
    url: `${base}/verwerkingsacties/${actieId}`,
    tijdstipRegistratie: new Date().toISOString(),
    verwerkteObjecten: (Array.isArray(body.verwerkteObjecten) ? body.verwerkteObjecten : []).map((one: Json) => {
      const verwerktObjectId = randomUUID();
      const empty = { betrokkenheid: null, verwerkteSoortenGegevens: null };
      const url = `${base}/verwerkte-objecten/${verwerktObjectId}`;
      return { ...empty, ...one, objecttype: 'persoon', verwerktObjectId, url };
    }),
  });
  const keep = (actie: Actie, before?: Kept): Actie => {
    const wasConfidential = before?.wasConfidential === true || actie.vertrouwelijkheid !== 'normaal';
    kept.set(actie.actieId, { actie, wasConfidential });
    return actie;
  };
  const stateOf = ({ actie, wasConfidential }: Kept): string =>
    actie.vertrouwelijkheid === 'normaal' && wasConfidential ? 'vertrouwelijk' : text(actie.vertrouwelijkheid);
  const known = (actieId: string): Kept => {
    const one = kept.get(actieId);
    if (one === undefined) throw new Refusal(400, ['actieId']);
    return one;
  };
  const shown = (actie: Actie, limited: boolean): Json =>
    limited ? Object.fromEntries(Object.entries(actie).filter(([name]) => !LEFT_OUT.includes(name))) : actie;

  function list(query: URLSearchParams, may: (...scopes: string[]) => void): Json {
    const wrong = ['objecttype', 'soortObjectId', 'objectId'].filter((name) => !query.get(name));
    if (!/^persoon$/i.test(query.get('objecttype') ?? '')) wrong.push('objecttype');
    if (!upTo(242).test(query.get('soortObjectId') ?? '')) wrong.push('soortObjectId');
    if (!upTo(1024).test(query.get('objectId') ?? '')) wrong.push('objectId');
    const limited = query.get('beperkteSet') ?? 'true';
    if (!/^(true|false)$/.test(limited)) wrong.push('beperkteSet');
    const activity = query.get('verwerkingsactiviteitId');
    if (activity !== null && !UUID.test(activity)) wrong.push('verwerkingsactiviteitId');
    const [begin = 0, end = Number.POSITIVE_INFINITY] = ['beginDatum', 'eindDatum'].map((name) => {
      const value = query.get(name);
      if (value !== null && Number.isNaN(Date.parse(value))) wrong.push(name);
      return value === null ? undefined : Date.parse(value);
    });
    if (begin > end) wrong.push('eindDatum');
    const asked = [...query.getAll('vertrouwelijkheid'), ...(query.get('vertrouwelijkheid__in')?.split(',') ?? [])];
    const states = asked.length === 0 ? ['normaal'] : asked.map((one) => one.toLowerCase());
    if (!states.every((one) => STATES.includes(one))) wrong.push('vertrouwelijkheid');
    if (wrong.length > 0) throw new Refusal(400, wrong);
    if (limited === 'true' && ['normaal', 'opgeheven'].includes(states.join()))
      may('read:restricted', 'read:normal', 'read:confidential');
    else if (states.join() === 'normaal') may('read:normal', 'read:confidential');
    else may('read:confidential');
    const isMeant = (object: unknown): boolean =>
      isJson(object) &&
      object.soortObjectId === query.get('soortObjectId') &&
      object.objectId === query.get('objectId');
    const results = [...kept.values()]
      .filter((one) => states.includes(stateOf(one)))
      .map(({ actie }) => ({ ...actie, verwerkteObjecten: objectsOf(actie).filter(isMeant) }))
      .filter((actie: Actie) => objectsOf(actie).length > 0)
      .filter((actie: Actie) => activity === null || actie.verwerkingsactiviteitId === activity)
      .filter(({ tijdstip }: Actie) => Date.parse(text(tijdstip)) >= begin && Date.parse(text(tijdstip)) < end)
      .sort((one: Actie, other: Actie) => Date.parse(text(other.tijdstip)) - Date.parse(text(one.tijdstip)))
      .map((actie) => shown(actie, limited === 'true'));
    return { count: results.length, next: null, previous: null, results };
  }

  async function answer(
    request: IncomingMessage,
  ): Promise<{ status: number; headers?: Record<string, string>; body?: Json }> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', base);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    if (pathname === '/v1/openapi.json')
      return {
        status: 200,
        headers: { 'access-control-allow-origin': '*' },
        body: { openapi: '3.1.0', info: { title: 'Verwerkingenlog', version: '1.0.0' }, paths: {} },
      };
    const [, actieId] = /^\/v1\/verwerkingsacties(?:\/([^/]+))?$/.exec(pathname) ?? [undefined, ''];
    if (actieId === '') throw new Refusal(404);
    const allowed = actieId === undefined ? ['GET', 'POST', 'PATCH'] : ['GET', 'PUT', 'DELETE'];
    if (!allowed.includes(method ?? '')) throw new Refusal(405, [], { allow: allowed.join(', ') });
    const scopes = scopesOf[request.headers.authorization?.replace(/^Bearer /, '') ?? ''];
    if (scopes === undefined) throw new Refusal(401, [], { 'www-authenticate': 'Bearer error="invalid_token"' });
    const may = (...needed: string[]): void => {
      if (!needed.some((one) => scopes.includes(one))) throw new Refusal(403);
    };
    const changes = (verb: string, ...states: string[]): void =>
      states.every((one) => one === 'normaal')
        ? may(`${verb}:normal`, `${verb}:confidential`)
        : may(`${verb}:confidential`);
    if (!/\*\/\*|application\/(json|\*)/.test(request.headers.accept ?? '*/*')) throw new Refusal(406);

    if (method === 'GET') {
      const {
        oin = '0'.repeat(20),
        verwerkingid = randomUUID(),
        vertrouwelijkheid = 'normaal',
        bewaartermijn = 'P1Y',
      } = request.headers;
      const right = [
        /^\d{20}$/.test(text(oin)),
        UUID.test(text(verwerkingid)),
        /^(normaal|vertrouwelijk)$/i.test(text(vertrouwelijkheid)),
        TERM.test(text(bewaartermijn)),
      ];
      if (right.includes(false)) throw new Refusal(400, ['headers']);
      if (actieId === undefined) return { status: 200, body: list(query, may) };
      may('read:restricted', 'read:normal', 'read:confidential');
      const one = kept.get(actieId);
      if (one === undefined) throw new Refusal(404);
      const full =
        scopes.includes('read:confidential') || (scopes.includes('read:normal') && stateOf(one) === 'normaal');
      const named = objectsOf(one.actie).some(({ objectId }) => objectId === query.get('objectId'));
      if (!full && (stateOf(one) !== 'normaal' || !named)) throw new Refusal(404);
      return { status: 200, body: shown(one.actie, !full) };
    }
    if (method === 'DELETE') {
      may('delete:normal', 'delete:confidential');
      const one = known(actieId ?? '');
      changes('delete', stateOf(one));
      kept.delete(one.actie.actieId);
      return { status: 204 };
    }
    may(...(method === 'POST' ? ['create:normal', 'create:confidential'] : ['update:normal', 'update:confidential']));
    const body = await readJson(request);
    if (method === 'POST') {
      const wrong = faultsOf(body);
      if (wrong.length > 0) throw new Refusal(400, wrong);
      const actie = record(body, randomUUID());
      if (actie.vertrouwelijkheid === 'opgeheven') throw new Refusal(403);
      changes('create', text(actie.vertrouwelijkheid));
      keep(actie);
      return { status: 201, headers: { location: text(actie.url) }, body: actie };
    }
    if (method === 'PUT') {
      const before = known(actieId ?? '');
      const wrong = [...faultsOf(body), ...Object.keys(FIELDS).filter((name) => body[name] === undefined)];
      if (wrong.length > 0) throw new Refusal(400, wrong);
      const actie = record(body, before.actie.actieId);
      if (actie.vertrouwelijkheid === 'opgeheven') throw new Refusal(403);
      changes('update', stateOf(before), text(actie.vertrouwelijkheid));
      return { status: 200, body: keep(actie, before) };
    }
    const { vertrouwelijkheid, bewaartermijn } = body;
    const found = [...kept.values()].filter(({ actie }) => actie.verwerkingId === query.get('verwerkingId'));
    const wrong = Object.entries(body).filter(
      ([name, value]) => !['vertrouwelijkheid', 'bewaartermijn'].includes(name) || !FIELDS[name]?.test(text(value)),
    );
    if (found.length === 0 || wrong.length > 0 || Object.keys(body).length === 0)
      throw new Refusal(
        400,
        wrong.map(([name]) => name),
      );
    changes('update', ...found.map(stateOf), ...(vertrouwelijkheid === undefined ? [] : ['vertrouwelijk']));
    for (const one of found)
      keep(
        {
          ...one.actie,
          ...(vertrouwelijkheid === undefined ? {} : { vertrouwelijkheid: text(vertrouwelijkheid).toLowerCase() }),
          ...(bewaartermijn === undefined ? {} : { bewaartermijn }),
        },
        one,
      );
    return { status: 204 };
  }

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        const { status, params, headers } = error;
        const problem = {
          type: `${base}/fouten/${status}`,
          code: String(status),
          title: 'Fout',
          status,
          detail: 'Zie de status',
          instance: `urn:uuid:${randomUUID()}`,
        };
        const invalidParams = params.map((name) => ({ name, code: 'ongeldig', reason: 'is ongeldig' }));
        const body = status === 400 ? { ...problem, invalidParams } : problem;
        return { status, headers: { ...headers, 'content-type': 'application/problem+json' }, body };
      })
      .then(({ status, headers, body }) => {
        const type = body === undefined ? {} : { 'content-type': 'application/json' };
        response.writeHead(status, { 'api-version': '1.0.0', ...type, ...headers });
        response.end(body === undefined ? undefined : JSON.stringify(body));
      })
      .catch(() => response.writeHead(500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the log has no port');
  base = `http://127.0.0.1:${address.port}/v1`;
  return {
    url: base,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function objectsOf({ verwerkteObjecten }: Json): Json[] {
  return Array.isArray(verwerkteObjecten) ? verwerkteObjecten.filter(isJson) : [];
}

async function readJson(request: IncomingMessage): Promise<Json> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) throw new Refusal(415);
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(pieces).toString());
  } catch {
    throw new Refusal(400, ['body']);
  }
  if (!isJson(body)) throw new Refusal(400, ['body']);
  return body;
}
