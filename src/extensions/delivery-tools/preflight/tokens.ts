/** Whether the access tokens of the configured issuers could be verified. */

import { reasonOf } from '../../../lib/log.ts';
import type { FetchJson } from '../../../lib/outbound/outbound-client.ts';
import { createOutboundFetch } from '../../../lib/outbound/outbound-client.ts';
import { createFscKeys } from '../../../plugins/oauth/fsc-keys.ts';
import { createKeySet } from '../../../plugins/oauth/remote-keys.ts';
import type { Config } from '../../../settings/read-config.ts';
import { failed, notChecked, ok, type PreflightLine, shownAddress, warning, within } from './line.ts';

interface TokenNeeds {
  readonly now: () => Date;
  readonly timeoutMs: number;
  /** OIN of the signing certificate. */
  readonly oin: string | undefined;
}

const WARNING_DAYS = 30;
const DAY_MS = 86_400_000;
/** FSC Core 1.1: identifier of a group. */
const GROUP = /^[a-zA-Z0-9./_-]{1,100}$/;

export async function checkTokens(config: Config, needs: TokenNeeds): Promise<PreflightLine[]> {
  const { oauthIssuer, fscCertificates } = config.tokens;
  if (oauthIssuer === undefined && fscCertificates === undefined) {
    const todo = 'set FSC_TOKEN_CERTIFICATES (behind an Inway), OAUTH_ISSUER, or both';
    return [failed('token-issuer', 'no issuer of access tokens is configured', todo)];
  }
  const outbound = createOutboundFetch(config.server);
  try {
    const [issuer, certificates] = await Promise.all([
      checkIssuer(config, needs, outbound.fetch),
      checkFscCertificates(config, needs, outbound.fetch),
    ]);
    return [issuer, certificates, ...claimLines(config, needs)];
  } finally {
    await outbound.close();
  }
}

async function checkIssuer(
  { tokens }: Config,
  { now, timeoutMs }: TokenNeeds,
  fetch: FetchJson,
): Promise<PreflightLine> {
  const name = 'token-issuer';
  const { oauthIssuer: issuer, oauthAudience, oauthJwksUrl: jwksUrl } = tokens;
  if (issuer === undefined) return notChecked(name, 'OAUTH_ISSUER is not set: only FSC tokens are accepted');
  const failure = lastFailure();
  const keys = createKeySet({ issuer, jwksUrl, cacheMs: 60_000, clock: { now }, log: failure, fetch });
  try {
    await within(timeoutMs, keys.freshen()).catch((err: unknown) => failure.warn({ err }));
    if (keys.fetchedAt() === undefined) {
      return failed(
        name,
        `the keys of ${shownAddress(jwksUrl ?? issuer)} cannot be fetched: ${failure.reason()}`,
        'correct OAUTH_ISSUER (to the letter as the issuer names itself) or OAUTH_JWKS_URL, let this machine reach it (OUTBOUND_PROXY), and name a private root in NODE_EXTRA_CA_CERTS',
      );
    }
  } finally {
    keys.close();
  }
  if (oauthAudience === undefined) {
    return failed(name, 'OAUTH_AUDIENCE is not set', 'set it to the audience that the tokens of OAUTH_ISSUER name');
  }
  return ok(name, `the keys of ${shownAddress(issuer)} are there; audience ${oauthAudience}`);
}

async function checkFscCertificates(
  { tokens }: Config,
  { now, timeoutMs }: TokenNeeds,
  fetch: FetchJson,
): Promise<PreflightLine> {
  const name = 'fsc-certificates';
  const { fscCertificates: source } = tokens;
  if (source === undefined)
    return notChecked(name, 'FSC_TOKEN_CERTIFICATES is not set: no tokens of an Inway are accepted');
  const isAddress = /^https?:/i.test(source);
  const todo = isAddress
    ? 'let this machine reach the key set of your Manager, and name a private root in NODE_EXTRA_CA_CERTS'
    : 'put the certificates that your Manager signs tokens with into the file of FSC_TOKEN_CERTIFICATES';
  const failure = lastFailure();
  let keys: ReturnType<typeof createFscKeys>;
  try {
    keys = createFscKeys({ source, cacheMs: 60_000, clock: { now }, log: failure, fetch });
  } catch (error) {
    return failed(name, reasonOf(error), todo);
  }
  try {
    await within(timeoutMs, keys.freshen()).catch((err: unknown) => failure.warn({ err }));
    if (!keys.isKnown()) return failed(name, `${shownAddress(source)} cannot be used: ${failure.reason()}`, todo);
    const end = keys.validUntil();
    if (end === undefined) return ok(name, 'keys without certificates');
    const days = Math.floor((end.getTime() - now().getTime()) / DAY_MS);
    if (days < 0) return failed(name, `the last certificate expired on ${end.toISOString()}`, todo);
    const detail = `${days} days left, until ${end.toISOString().slice(0, 10)}`;
    return days < WARNING_DAYS ? warning(name, detail, todo) : ok(name, detail);
  } finally {
    keys.close();
  }
}

/** In place of a log: remembers why keys could not be fetched. */
function lastFailure() {
  let reason = 'no answer';
  return {
    warn: ({ err }: { readonly err?: unknown }): void => {
      // Discovery tries two addresses, and fails for both.
      const causes = err instanceof AggregateError ? err.errors : [err];
      reason = [...new Set(causes.map((cause) => reasonOf(cause)))].join('; ');
    },
    reason: (): string => reason,
  };
}

/** What FSC tokens must name: a slip of the pen here refuses every token. */
function claimLines({ tokens }: Config, { oin }: TokenNeeds): PreflightLine[] {
  const { fscCertificates, fscGroupId: group, fscPeerId: peer, fscAudience: audiences } = tokens;
  if (fscCertificates === undefined) return [];
  return [groupLine(group), peerLine(peer, oin), audienceLine(audiences)];
}

function groupLine(group: string | undefined): PreflightLine {
  const todo = 'set FSC_GROUP_ID to the identifier of the group, as its rules name it';
  if (group === undefined) return failed('fsc-group', 'FSC_GROUP_ID is not set', todo);
  return GROUP.test(group)
    ? ok('fsc-group', group)
    : failed('fsc-group', 'FSC_GROUP_ID is not the identifier of a group', todo);
}

function peerLine(peer: string | undefined, oin: string | undefined): PreflightLine {
  const todo = 'set FSC_PEER_ID to your own peer id: the OIN in the certificate of your Manager';
  if (peer === undefined) return failed('fsc-peer', 'FSC_PEER_ID is not set', todo);
  if (!/^\d{20}$/.test(peer)) return failed('fsc-peer', 'FSC_PEER_ID is not an OIN of 20 digits', todo);
  if (oin !== undefined && peer !== oin) {
    return warning(
      'fsc-peer',
      `${peer}, while the signing certificate is of ${oin}`,
      `${todo}; right only when another party runs your Inway`,
    );
  }
  return ok('fsc-peer', peer);
}

function audienceLine(audiences: readonly string[]): PreflightLine {
  const todo = 'set FSC_AUDIENCE to the addresses of your Inways as your Manager announces them: https://host:port';
  if (audiences.length === 0) return failed('fsc-audience', 'FSC_AUDIENCE is not set', todo);
  const odd = audiences.filter((each) => URL.parse(each)?.protocol !== 'https:');
  if (odd.length > 0)
    return failed('fsc-audience', `${odd.length} of ${audiences.length} is no address with https:`, todo);
  return ok('fsc-audience', audiences.map(shownAddress).join(', '));
}
