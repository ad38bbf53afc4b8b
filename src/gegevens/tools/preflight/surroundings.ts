import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MigrationError } from '../../../database/migrate.ts';
import { openDatabase } from '../../../database/open-database.ts';
import { ocspAddresses } from '../../../lib/jades/certificate.ts';
import { createLogger, reasonOf } from '../../../lib/log.ts';
import { createGuardedConnections } from '../../../lib/outbound/guarded-fetch.ts';
import type { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { OIN } from '../../../lib/patterns.ts';
import { withTimeout } from '../../../lib/scheduling.ts';
import { createFscKeys } from '../../../plugins/oauth/fsc-keys.ts';
import { createIssuerKeys, createKeysClient } from '../../../plugins/oauth/remote-keys.ts';
import {
  daysLeft,
  failed,
  notChecked,
  ok,
  type PreflightContext,
  reasonsOf,
  shownAddress,
  type Verdict,
  type Verdicts,
} from './line.ts';

/** FSC Core 1.1: identifier of a group. */
const GROUP = /^[a-zA-Z0-9./_-]{1,100}$/;

/** Whether the access tokens of the configured issuers could be verified. */
export async function checkTokens(context: PreflightContext): Promise<Verdicts> {
  const { tokens, server } = context.config;
  if (tokens.oauthIssuer === undefined && tokens.fscCertificates === undefined) {
    const todo = 'set FSC_TOKEN_CERTIFICATES (behind an Inway), OAUTH_ISSUER, or both';
    return { 'token-issuer': failed('no issuer of access tokens is configured', todo) };
  }
  const client = createKeysClient({ now: context.now }, server);
  try {
    const [issuer, certificates] = await Promise.all([
      checkIssuer(context, client),
      checkFscCertificates(context, client),
    ]);
    const both = { 'token-issuer': issuer, 'fsc-certificates': certificates };
    return tokens.fscCertificates === undefined ? both : { ...both, ...judgeFscSettings(context) };
  } finally {
    await client.close();
  }
}

async function checkIssuer({ config, now, timeoutMs }: PreflightContext, client: OutboundClient): Promise<Verdict> {
  const { oauthIssuer: issuer, oauthAudience, oauthJwksUrl: jwksUrl } = config.tokens;
  if (issuer === undefined) return notChecked('OAUTH_ISSUER is not set: only FSC tokens are accepted');
  const failure = lastFailure();
  const keys = createIssuerKeys({ issuer, jwksUrl, cacheMs: 60_000, clock: { now }, log: failure, client });
  await withTimeout(timeoutMs, 'the issuer', keys.freshen()).catch((err: unknown) => failure.warn({ err }));
  keys.close();
  if (keys.fetchedAt() === undefined) {
    return failed(
      `the keys of ${shownAddress(jwksUrl ?? issuer)} cannot be fetched: ${failure.reason()}`,
      'correct OAUTH_ISSUER (to the letter as the issuer names itself) or OAUTH_JWKS_URL, let this machine reach it (OUTBOUND_PROXY), and name a private root in NODE_EXTRA_CA_CERTS',
    );
  }
  if (oauthAudience === undefined) {
    return failed('OAUTH_AUDIENCE is not set', 'set it to the audience that the tokens of OAUTH_ISSUER name');
  }
  return ok(`the keys of ${shownAddress(issuer)} are there; audience ${oauthAudience}`);
}

async function checkFscCertificates(
  { config, now, timeoutMs }: PreflightContext,
  client: OutboundClient,
): Promise<Verdict> {
  const { fscCertificates: source } = config.tokens;
  if (source === undefined) return notChecked('FSC_TOKEN_CERTIFICATES is not set: no tokens of an Inway are accepted');
  const todo =
    'name the certificates that your Manager signs tokens with in FSC_TOKEN_CERTIFICATES, or the address of its key set, which this machine must reach';
  const failure = lastFailure();
  try {
    const keys = createFscKeys({ source, cacheMs: 60_000, clock: { now }, log: failure, client });
    await withTimeout(timeoutMs, 'the issuer', keys.freshen()).catch((err: unknown) => failure.warn({ err }));
    keys.close();
    if (keys.latest() === undefined) return failed(`${shownAddress(source)} cannot be used: ${failure.reason()}`, todo);
    const end = keys.validUntil();
    return end === undefined ? ok('keys without certificates') : daysLeft(end, now(), todo);
  } catch (error) {
    return failed(reasonOf(error), todo);
  }
}

/** Used instead of a log: remembers why keys were not fetched. */
function lastFailure() {
  let reason = 'no answer';
  return {
    warn: ({ err }: { readonly err?: unknown }): void => {
      reason = reasonsOf(err);
    },
    reason: (): string => reason,
  };
}

/** A typing error in the values that FSC tokens must name causes every token to be refused. */
function judgeFscSettings({ config, own }: PreflightContext): Verdicts {
  const { fscGroupId: group = '', fscPeerId: peer = '', fscAudience: audiences } = config.tokens;
  const judge = (name: string, value: string, fault: string | false, meaning: string): Verdict => {
    const wrong = value === '' ? `${name} is not set` : fault;
    return wrong === false ? ok(value) : failed(wrong, `set ${name} to ${meaning}`);
  };
  const groupFault = !GROUP.test(group) && 'FSC_GROUP_ID is not the identifier of a group';
  const peerFault = !OIN.test(peer) && 'FSC_PEER_ID is not an OIN of 20 digits';
  const odd = audiences.filter((each) => URL.parse(each)?.protocol !== 'https:').length;
  const oddFault = odd > 0 && `${odd} of ${audiences.length} is not an address with https:`;
  const ofOthers: Verdict = {
    state: 'warning',
    detail: `${peer}, while the signing certificate is of ${own?.oin}`,
    todo: 'right only when another party runs your Inway; else set FSC_PEER_ID to your own OIN',
  };
  const ofManager = 'your own peer id: the OIN in the certificate of your Manager';
  const ofInways = 'the addresses of your Inways as your Manager announces them: https://host:port';
  return {
    'fsc-group': judge('FSC_GROUP_ID', group, groupFault, 'the identifier of the group, as its rules name it'),
    'fsc-peer':
      peerFault === false && own?.oin !== undefined && peer !== own.oin
        ? ofOthers
        : judge('FSC_PEER_ID', peer, peerFault, ofManager),
    'fsc-audience': judge('FSC_AUDIENCE', audiences.map(shownAddress).join(', '), oddFault, ofInways),
  };
}

/** The leeway that `exp` and `nbf` of tokens have. */
const MAX_DIFFERENCE_MS = 30_000;
/** A `Date` is in whole seconds. */
const RESOLUTION_MS = 1000;

/** Compares with the `Date` of the token issuers and of the certificates' responders. */
export async function checkClock(context: PreflightContext): Promise<Verdict> {
  const { tokens, gegevens } = context.config;
  const { oauthIssuer, oauthJwksUrl, fscCertificates = '' } = tokens;
  const issuers = [oauthJwksUrl ?? oauthIssuer, /^https?:/i.test(fscCertificates) ? fscCertificates : undefined];
  const named = issuers.filter((address) => address !== undefined);
  // As for their answers, only addresses in a certificate with a valid chain are called.
  const responders = [...new Set((context.path ?? []).slice(0, -1).flatMap(ocspAddresses))];
  const readings = await Promise.all([
    ...named.map((address) => readClock(context, address, true)),
    ...responders.map((address) => readClock(context, address, gegevens.revocationAllowPrivate)),
  ]);
  const known = readings.filter((reading) => reading !== undefined);
  if (known.length === 0) {
    const todo = 'see the lines of the issuer and the revocation';
    return notChecked('no issuer or responder answered with a `Date`', todo);
  }
  const odd = known.find(({ aheadMs }) => Math.abs(aheadMs) > MAX_DIFFERENCE_MS);
  if (odd === undefined) return ok(`as that of ${known.map(({ address }) => address).join(', ')}`);
  const seconds = Math.round(Math.abs(odd.aheadMs) / 1000);
  return failed(
    `this machine is ${seconds} s ${odd.aheadMs > 0 ? 'ahead of' : 'behind'} ${odd.address}`,
    'keep the clock right with NTP (`timedatectl`): tokens, signatures and revocation answers are refused otherwise',
  );
}

async function readClock(
  { config, now, timeoutMs }: PreflightContext,
  address: string,
  allowPrivate: boolean,
): Promise<{ readonly address: string; readonly aheadMs: number } | undefined> {
  const connections = createGuardedConnections({
    rules: { allowPrivate },
    proxy: config.server,
    maxRedirects: 0,
    connectTimeoutMs: timeoutMs,
    agent: {},
  });
  try {
    const asked = now().getTime();
    const request = { method: 'GET', signal: AbortSignal.timeout(timeoutMs) } as const;
    const { answer } = await connections.request(address, request, 'none');
    const answered = now().getTime();
    // Only the time matters.
    answer.body.on('error', () => undefined).destroy();
    const date = Date.parse(String(answer.headers.date));
    if (Number.isNaN(date)) return undefined;
    // Written between the two moments, and truncated to a second.
    const aheadMs = date + RESOLUTION_MS < asked ? asked - date - RESOLUTION_MS : Math.min(0, answered - date);
    return { address: shownAddress(address), aheadMs };
  } catch {
    // An unreachable server has a line of its own.
    return undefined;
  } finally {
    await connections.close();
  }
}

export async function checkDatabase({ config, timeoutMs }: PreflightContext): Promise<Verdicts> {
  const { database, server } = config;
  const embedded = stat(join(server.home, 'postgres')).catch(() => undefined);
  if (database.url === undefined && (await embedded) === undefined) {
    const detail = 'DATABASE_URL is not set, and there is no embedded Postgres here';
    return { database: failed(detail, 'set DATABASE_URL') };
  }
  const connectTimeoutMs = Math.min(database.connectTimeoutMs, timeoutMs);
  const bounded = { ...config, database: { ...database, connectTimeoutMs } };
  try {
    const opening = openDatabase({ config: bounded, log: createLogger('silent'), purpose: 'command' });
    // Closed even if it opens late.
    await withTimeout(
      timeoutMs,
      'the database',
      opening.then((opened) => opened.close()),
    );
    return { database: ok('reached'), migrations: ok('all that this version needs') };
  } catch (error) {
    if (error instanceof MigrationError) {
      const todo = 'run `koppelvlak migrate` of this version with the login of the owner';
      return { database: ok('reached'), migrations: failed(error.message, todo) };
    }
    return { database: failed(reasonOf(error), 'correct DATABASE_URL, or let this machine reach the server') };
  }
}
