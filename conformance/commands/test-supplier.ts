/** Runs the cases for a supplier with the options of the command. */
import { createPrivateKey, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { UsageError } from '../../src/lib/command-error.ts';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { loadPemKey } from '../../src/lib/jades/own-key.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { parseUntrusted, UntrustedJsonError } from '../../src/lib/json/parse-untrusted.ts';
import { clientCredentialsToken, TokenFetchError } from '../../src/lib/outbound/client-credentials.ts';
import { createGuardedFetch, isPublicAddress } from '../../src/lib/outbound/guarded-fetch.ts';
import { outwayAddress, outwayHeaders } from '../../src/lib/outway.ts';
import { hasToken, type TokenOptions } from '../../src/lib/token-options.ts';
import type { Exchange } from '../exchange.ts';
import { type Identity, x5cOf } from '../gegevens/signed-request.ts';
import { makeStrangers } from '../gegevens/strangers.ts';
import { type GegevensNeeds, readSubject } from '../gegevens/subject.ts';
import { GEGEVENS } from '../gegevens/suite.ts';
import { readTrust } from '../signature/trust.ts';
import { requireAddress, type SuiteOptions, testSuite } from './test-suite.ts';
import { MAX_TOKENS_BYTES } from './token-file.ts';
import { asUsage, readJoined, readText, type ToolContext } from './tool.ts';

export interface GegevensOptions extends SuiteOptions, TokenOptions {
  readonly variant?: 'shv' | 'vs';
  readonly model?: string;
  readonly clientKey?: string;
  readonly tokens?: string;
  readonly key?: string;
  readonly chain?: string;
  readonly trust?: string;
  readonly revoked?: readonly string[];
  readonly expired?: readonly string[];
  readonly outway?: string;
  readonly grantHash?: string;
}

/** Versions that the interface description allows besides the default. */
const EDITIONS = { shv: [], vs: ['1.1-draft'] } as const;

/**
 * @param named address of the service; behind an Outway its path
 * @throws {UsageError} when there is nothing to test
 */
export async function testSupplier(
  context: ToolContext,
  named: string | undefined,
  options: GegevensOptions,
): Promise<void> {
  const { outway, grantHash, variant, model: version } = options;
  if (variant === undefined) throw new UsageError('--variant is needed: shv or vs');
  if ((outway === undefined) !== (grantHash === undefined))
    throw new UsageError('--outway and --grant-hash go together: the Outway finds the service by the grant');
  const tested = addressOf(named, options);
  const secrets: string[] = [];
  const token = outway === undefined ? await tokenSource(options, secrets) : undefined;
  const identity = await ownIdentity(options);
  // A tester of a service on this machine or network has its authority there too.
  const allowPrivate = context.allowPrivate || isNearby(tested);
  const network = createGuardedFetch({ allowPrivate, proxy: context.proxy });
  const anchors = await readRequired(options.trust, '--trust');
  const tokenHeader = options.fsc ? 'fsc-authorization' : 'authorization';
  const needs: GegevensNeeds = {
    url: tested,
    identity,
    token,
    tokenHeader,
    strangers: makeStrangers(identity),
    trust: asUsage('--trust', () =>
      readTrust({ anchors, at: new Date(), fetch: network.fetch, signal: context.interrupted }),
    ),
    model: loadModel(variant, version),
    otherModels: version === undefined ? EDITIONS[variant].map((edition) => loadModel(variant, edition)) : [],
    revoked: options.revoked && (await anyIdentity(options.revoked)),
    expired: options.expired && (await anyIdentity(options.expired)),
    freshHeaders: grantHash === undefined ? undefined : outwayHeaders(grantHash),
  };
  const refused = await namedTokens(options.tokens);
  try {
    await testSuite(context, {
      suite: GEGEVENS,
      options,
      tested,
      needs: {
        tokenHeader,
        secrets,
        showBody: withoutPersons,
        tokens: { ...refused, ...(token === undefined ? {} : { read: token }) },
      },
      open: async (client) => {
        const subject = await readSubject(needs, client);
        const status = subject.small?.status;
        if (token !== undefined && (status === 401 || status === 403))
          throw new UsageError(`the token or the signer was refused with status ${status}: nothing can be tested`);
        return subject;
      },
    });
  } finally {
    await network.close();
  }
}

function addressOf(named: string | undefined, { outway }: GegevensOptions): string {
  if (outway === undefined) return requireAddress(named);
  if (named === undefined) throw new UsageError('the address or path of the service is needed');
  return outwayAddress(new URL(requireAddress(outway)), named);
}

function isNearby(address: string): boolean {
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || (/^[\d.]+$|:/.test(host) && !isPublicAddress(host));
}

/** @throws {UsageError} when the file was not named, or cannot be read */
async function readRequired(file: string | undefined, option: string): Promise<string> {
  if (file === undefined) throw new UsageError(`${option} is needed`);
  return readText(file);
}

async function ownIdentity({ key, chain }: GegevensOptions): Promise<Identity> {
  const files = { key: await readRequired(key, '--key'), chain: await readRequired(chain, '--chain') };
  const own = asUsage('--key and --chain', () => loadPemKey(files, new Date()));
  return { key: own.key, x5c: own.chain.map(({ der }) => der.toString('base64')) };
}

/**
 * A signer that may be invalid.
 * @param files key and chain, as PEM in one or two files
 */
async function anyIdentity(files: readonly string[]): Promise<Identity> {
  const pem = await readJoined(files);
  try {
    return { key: createPrivateKey(pem), x5c: x5cOf(pem) };
  } catch {
    throw new UsageError(`${files.join(' and ')} are not a private key and certificates in PEM`);
  }
}

/** @param secrets receives the values that must never be shown */
async function tokenSource(options: GegevensOptions, secrets: string[]): Promise<() => Promise<string>> {
  const { tokenFile, tokenUrl, clientId, clientSecretFile, clientKey } = options;
  if (!hasToken(options)) throw new UsageError('a token is needed: --token-file, --token-url, or --outway');
  if (tokenFile !== undefined) {
    const token = (await readText(tokenFile)).trim();
    return async () => token;
  }
  if (tokenUrl === undefined || clientId === undefined) throw new UsageError('--token-url goes with --client-id');
  const key = clientKey === undefined ? undefined : createPrivateKey(await readText(clientKey));
  const clientSecret =
    key === undefined ? unquoted(await readRequired(clientSecretFile, '--client-secret-file')) : undefined;
  if (clientSecret !== undefined) secrets.push(clientSecret);
  const fetchToken = clientCredentialsToken({
    tokenUrl,
    clientId,
    clientSecret,
    scopes: ['read'],
    // RFC 7523 section 3.
    assertion:
      key &&
      (() =>
        new SignJWT({ jti: randomUUID() })
          .setProtectedHeader({ alg: key.asymmetricKeyType === 'ec' ? 'ES256' : 'PS256' })
          .setIssuer(clientId)
          .setSubject(clientId)
          .setAudience(tokenUrl)
          .setIssuedAt()
          .setExpirationTime('1m')
          .sign(key)),
  });
  try {
    await fetchToken();
  } catch (error) {
    if (error instanceof TokenFetchError) throw new UsageError(`${tokenUrl}: ${error.message}`);
    throw error;
  }
  return fetchToken;
}

/** A secret as text, or as the JSON string that the demo writes. */
function unquoted(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1');
}

async function namedTokens(file: string | undefined): Promise<Record<string, () => Promise<string>>> {
  if (file === undefined) return {};
  let value: unknown;
  try {
    value = parseUntrusted(await readText(file), { bytes: MAX_TOKENS_BYTES });
  } catch (error) {
    if (!(error instanceof UntrustedJsonError)) throw error;
  }
  if (!isRecord(value)) throw new UsageError(`${file} is not a JSON object of tokens`);
  const tokens = Object.entries(value);
  return Object.fromEntries(
    tokens.flatMap(([name, token]) => (typeof token === 'string' ? [[name, async () => token]] : [])),
  );
}

/** A successful answer's body contains personal data, whatever its form. */
function withoutPersons({ status, headers, body, json }: Exchange): string {
  if (body.length === 0) return '';
  const isProblem = status >= 400 && !(isRecord(json) && Object.hasOwn(json, 'gegevens'));
  if (isProblem) return body.toString().slice(0, 1000);
  const paging = isRecord(json) && isRecord(json.paginering) ? ` paginering ${JSON.stringify(json.paginering)},` : '';
  return `(${headers['content-type'] ?? 'no content type'},${paging} ${body.length} bytes, not shown: personal data)`;
}
