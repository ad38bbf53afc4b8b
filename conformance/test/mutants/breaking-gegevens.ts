/** Ways to break a supplier's rules: a proxy that re-signs requests and answers with the keys of both parties. */
import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { bytesOf } from '../../client.ts';
import { type Identity, type SignatureForm, SMALL, signedHeaders } from '../../gegevens/signed-request.ts';
import type { Answer, Mutation, Request } from '../proxy.ts';
import { isJson, type Json, list } from './breaking.ts';
import type { Mutant } from './mutant.ts';
import type { FaultKeys } from './signature-faults.ts';

const SIGNATURE = 'nlgov-adr-payload-sig';

/** The proxy's keys of both parties. */
export interface Parties {
  readonly identities: Readonly<Record<'requester' | 'supplier' | 'revoked' | 'expired', Identity>>;
  readonly accessTokens: Readonly<Record<string, string>>;
  readonly keys: FaultKeys;
}

export type GegevensMutant = Mutant<(parties: Parties) => Mutation>;

/** A request as the supplier sees it. */
export interface Asked extends Request {
  readonly text: string;
  /** The body as JSON; empty when it is not. */
  readonly json: Json;
  readonly token: string | undefined;
  readonly digest: string;
  /** The signature's header, and its parts. */
  readonly jose: Json;
  readonly parts: readonly string[];
}

export function seen(request: Request): Asked {
  const { headers, body } = request;
  const parts = String(headers[SIGNATURE] ?? '').split('.');
  return {
    ...request,
    text: body.toString(),
    parts,
    digest: String(headers.digest ?? ''),
    json: parsed(body.toString()),
    jose: parsed(Buffer.from(parts[0] ?? '', 'base64url').toString()),
    token: headers.authorization?.replace(/^bearer /i, ''),
  };
}

export function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : {};
  } catch {
    return {};
  }
}

const formOf = ({ jose }: Asked): SignatureForm => (jose.sigD === undefined ? 'body' : 'digest');

/** Answers a request that it should refuse, by forwarding a valid one. */
export const accepts =
  (isMeant: (asked: Asked, parties: Parties) => boolean, body?: unknown): GegevensMutant['mutation'] =>
  (parties) => ({
    forward: (request) => {
      const asked = seen(request);
      if (!isMeant(asked, parties)) return undefined;
      const good = bytesOf(body ?? SMALL);
      return {
        path: '/gegevens',
        method: 'POST',
        body: good,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${parties.accessTokens.read}`,
          ...signedHeaders(good, parties.identities.requester),
        },
      };
    },
  });

/** True when the signature over the sent bytes was made with this certificate. */
export function holds({ jose, parts, digest, body }: Asked): boolean {
  const [header = '', , signature = ''] = parts;
  const payload = jose.sigD === undefined ? body : Buffer.from(`digest: ${digest}`);
  const encoded = jose.b64 === false ? payload : Buffer.from(payload.toString('base64url'));
  const [leaf = ''] = Array.isArray(jose.x5c) ? jose.x5c : [];
  const key = createPublicKey(
    new X509Certificate(Buffer.from(String(leaf), 'base64')).publicKey.export({ format: 'pem', type: 'spki' }),
  );
  const input = Buffer.concat([Buffer.from(`${header}.`), encoded]);
  return verify('sha256', input, { key, padding: 6, saltLength: 32 }, Buffer.from(signature, 'base64url'));
}

export const leafOf = ({ jose }: Asked): unknown => (Array.isArray(jose.x5c) ? jose.x5c[0] : undefined);

/** Changes a matching answer, without altering its bytes otherwise. */
export const changes =
  (
    isMeant: (answer: Answer, asked: Asked) => boolean,
    change: (answer: Answer, asked: Asked, parties: Parties) => void,
  ): GegevensMutant['mutation'] =>
  (parties) => ({
    answer: (answer, request) => {
      const asked = seen(request);
      if (isMeant(answer, asked)) change(answer, asked, parties);
    },
  });

export const ok = ({ status }: Answer): boolean => status === 200;

/** Re-signs an answer, in the form of its request. */
function resign(answer: Answer, asked: Asked, { identities }: Parties): void {
  Object.assign(answer.headers, signedHeaders(Buffer.from(answer.body), identities.supplier, { form: formOf(asked) }));
}

/** Changes the contents of a successful answer, and re-signs it. */
export const delivers = (
  change: (body: Json, asked: Asked) => void,
  isMeant: (asked: Asked) => boolean = () => true,
): GegevensMutant['mutation'] =>
  changes(
    (answer, asked) => ok(answer) && isMeant(asked),
    (answer, asked, parties) => {
      const body = parsed(answer.body);
      change(body, asked);
      answer.body = JSON.stringify(body);
      resign(answer, asked, parties);
    },
  );

export const head = (
  isMeant: (answer: Answer, asked: Asked) => boolean,
  name: string,
  value?: string,
): GegevensMutant['mutation'] =>
  changes(isMeant, ({ headers }) => {
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  });

export const answersWith = (isMeant: (asked: Asked) => boolean, status: number): GegevensMutant['mutation'] =>
  changes(
    (_, asked) => isMeant(asked),
    (answer) => {
      answer.status = status;
    },
  );

/** Changes the JSON of an error. */
export const problem = (
  isMeant: (answer: Answer, asked: Asked) => boolean,
  change: (body: Json) => void,
): GegevensMutant['mutation'] =>
  changes(isMeant, (answer) => {
    const body = parsed(answer.body);
    change(body);
    answer.body = JSON.stringify(body);
  });

export const paging = (body: Json): Json => (isJson(body.paginering) ? body.paginering : {});
export const leveringen = (body: Json): Json[] => list(isJson(body.gegevens) ? body.gegevens : undefined, 'leveringen');
/** The lists of records, so that those of each levering can be changed. */
export const recordLists = (body: Json): unknown[][] =>
  leveringen(body).flatMap(({ schuldhulptrajecten: all }) => (Array.isArray(all) ? [all] : []));
