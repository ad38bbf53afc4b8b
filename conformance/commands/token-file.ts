/** Access tokens from a file, by their names in cases. */
import { UsageError } from '../../src/lib/command-error.ts';
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import { parseUntrusted } from '../../src/lib/json/parse-untrusted.ts';
import { clientCredentialsToken } from '../../src/lib/outbound/client-credentials.ts';
import { answerIfAny } from '../case.ts';
import type { Ask, Client } from '../exchange.ts';
import { readText } from './tool.ts';

export type Tokens = Readonly<Record<string, () => Promise<string>>>;

/** Far larger than any token file. */
export const MAX_TOKENS_BYTES = 1024 * 1024;

/** The name of a token that the subject must refuse: for another organisation or another service. */
export const OTHER = 'other';

/**
 * Reads one of three forms: a single token, used for every scope; an object with a token for each name, where an
 * authorization server's client may replace a token; or an authorization server with its clients, as the demo writes
 * it.
 * @param scopes the names of tokens; each has exactly the scope that it is named after
 * @throws {UsageError} when the file cannot be read or has another form
 */
export async function readTokenFile(
  file: string,
  scopes: readonly string[],
): Promise<{ readonly tokens: Tokens; readonly secrets: readonly string[] }> {
  const text = await readText(file);
  if (!text.trimStart().startsWith('{')) {
    const token = text.trim();
    if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`${file} has no token`);
    return { tokens: Object.fromEntries(scopes.map((scope) => [scope, async () => token])), secrets: [token] };
  }
  const content = parse(text, file);
  const { tokenUrl, clients } = content;
  const secrets = secretsIn(content);
  if (typeof tokenUrl === 'string' && isRecord(clients))
    return { tokens: ofClients(tokenUrl, clients, scopes), secrets };
  const tokens = Object.fromEntries(
    Object.entries(content).map(([name, value]) => {
      if (name !== OTHER && !scopes.includes(name))
        throw new UsageError(`${file}: ${name} is not one of ${[...scopes, OTHER].join(', ')}`);
      return [name, tokenOf(value, [name], `${file}: ${name}`)];
    }),
  );
  return { tokens, secrets };
}

/** @throws {UsageError} when the token is refused: every case would fail without saying anything about the service */
export async function requireAccess(client: Client, ask: Ask): Promise<void> {
  const answer = await answerIfAny(client, ask);
  if (answer?.status === 401) throw new UsageError('the token was refused with status 401: nothing can be tested');
}

/** Tokens by name, or clients' secrets; the other contents of a demo's file, such as its address, are not secret. */
function secretsIn(content: JsonObject): readonly string[] {
  const { clients } = content;
  return Object.values(isRecord(clients) ? clients : content).flatMap((value) => {
    if (typeof value === 'string') return [value];
    const { secret, clientSecret } = isRecord(value) ? value : {};
    return [secret, clientSecret].filter((one) => typeof one === 'string');
  });
}

function parse(text: string, file: string): JsonObject {
  let content: unknown;
  try {
    content = parseUntrusted(text, { bytes: MAX_TOKENS_BYTES });
  } catch {
    // The parser's message quotes the text, which may be a token.
    throw new UsageError(`${file} is not JSON`);
  }
  if (!isRecord(content)) throw new UsageError(`${file} is not an object`);
  return content;
}

function tokenOf(value: unknown, scopes: readonly string[], where: string): () => Promise<string> {
  if (typeof value === 'string') return async () => value;
  const { tokenUrl, clientId, clientSecret } = isRecord(value) ? value : {};
  if (typeof tokenUrl !== 'string' || typeof clientId !== 'string' || typeof clientSecret !== 'string')
    throw new UsageError(`${where} is neither a token nor a client with tokenUrl, clientId and clientSecret`);
  return clientCredentialsToken({ tokenUrl, clientId, clientSecret, scopes: scopes.filter((one) => one !== OTHER) });
}

/**
 * Requests each scope separately, as a client that has it; a client with none of them provides the token that must be
 * refused.
 */
function ofClients(tokenUrl: string, clients: JsonObject, scopes: readonly string[]): Tokens {
  const known = Object.values(clients).flatMap((client) => {
    const { id, secret, scopes: own } = isRecord(client) ? client : {};
    return typeof id === 'string' && typeof secret === 'string' && Array.isArray(own)
      ? { clientId: id, clientSecret: secret, own: own.map(String) }
      : [];
  });
  const other = known.find(({ own }) => own.length > 0 && !own.some((scope) => scopes.includes(scope)));
  const tokens: Record<string, () => Promise<string>> = {};
  for (const scope of scopes) {
    const client = known.find(({ own }) => own.includes(scope));
    if (client !== undefined) tokens[scope] = clientCredentialsToken({ tokenUrl, ...client, scopes: [scope] });
  }
  if (other !== undefined) tokens[OTHER] = clientCredentialsToken({ tokenUrl, ...other, scopes: other.own });
  return tokens;
}
