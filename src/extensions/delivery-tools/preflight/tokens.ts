/** Whether the access tokens of the configured issuers could be verified. */

import { reasonOf } from '../../../lib/log.ts';
import { createOutboundFetch, type FetchJson } from '../../../lib/outbound/outbound-client.ts';
import { createFscKeys } from '../../../plugins/oauth/fsc-keys.ts';
import { createKeySet } from '../../../plugins/oauth/remote-keys.ts';
import {
  daysLeft,
  failed,
  notChecked,
  ok,
  type PreflightContext,
  shownAddress,
  type Verdict,
  warning,
  within,
} from './line.ts';

/** FSC Core 1.1: identifier of a group. */
const GROUP = /^[a-zA-Z0-9./_-]{1,100}$/;

/** @returns the verdicts by the names of their lines */
export async function checkTokens(context: PreflightContext): Promise<Record<string, Verdict>> {
  const { tokens, server } = context.config;
  if (tokens.oauthIssuer === undefined && tokens.fscCertificates === undefined) {
    const todo = 'set FSC_TOKEN_CERTIFICATES (behind an Inway), OAUTH_ISSUER, or both';
    return { 'token-issuer': failed('no issuer of access tokens is configured', todo) };
  }
  const outbound = createOutboundFetch(server);
  try {
    const [issuer, certificates] = await Promise.all([
      checkIssuer(context, outbound.fetch),
      checkFscCertificates(context, outbound.fetch),
    ]);
    const both = { 'token-issuer': issuer, 'fsc-certificates': certificates };
    if (tokens.fscCertificates === undefined) return both;
    // A slip of the pen in what FSC tokens must name refuses every token.
    return {
      ...both,
      'fsc-group': judgeGroup(tokens.fscGroupId),
      'fsc-peer': judgePeer(tokens.fscPeerId, context.own?.oin),
      'fsc-audience': judgeAudience(tokens.fscAudience),
    };
  } finally {
    await outbound.close();
  }
}

async function checkIssuer({ config, now, timeoutMs }: PreflightContext, fetch: FetchJson): Promise<Verdict> {
  const { oauthIssuer: issuer, oauthAudience, oauthJwksUrl: jwksUrl } = config.tokens;
  if (issuer === undefined) return notChecked('OAUTH_ISSUER is not set: only FSC tokens are accepted');
  const failure = lastFailure();
  const keys = createKeySet({ issuer, jwksUrl, cacheMs: 60_000, clock: { now }, log: failure, fetch });
  try {
    await within(timeoutMs, keys.freshen()).catch((err: unknown) => failure.warn({ err }));
    if (keys.fetchedAt() === undefined) {
      return failed(
        `the keys of ${shownAddress(jwksUrl ?? issuer)} cannot be fetched: ${failure.reason()}`,
        'correct OAUTH_ISSUER (to the letter as the issuer names itself) or OAUTH_JWKS_URL, let this machine reach it (OUTBOUND_PROXY), and name a private root in NODE_EXTRA_CA_CERTS',
      );
    }
  } finally {
    keys.close();
  }
  if (oauthAudience === undefined) {
    return failed('OAUTH_AUDIENCE is not set', 'set it to the audience that the tokens of OAUTH_ISSUER name');
  }
  return ok(`the keys of ${shownAddress(issuer)} are there; audience ${oauthAudience}`);
}

async function checkFscCertificates({ config, now, timeoutMs }: PreflightContext, fetch: FetchJson): Promise<Verdict> {
  const { fscCertificates: source } = config.tokens;
  if (source === undefined) return notChecked('FSC_TOKEN_CERTIFICATES is not set: no tokens of an Inway are accepted');
  const todo = /^https?:/i.test(source)
    ? 'let this machine reach the key set of your Manager, and name a private root in NODE_EXTRA_CA_CERTS'
    : 'put the certificates that your Manager signs tokens with into the file of FSC_TOKEN_CERTIFICATES';
  const failure = lastFailure();
  let keys: ReturnType<typeof createFscKeys>;
  try {
    keys = createFscKeys({ source, cacheMs: 60_000, clock: { now }, log: failure, fetch });
  } catch (error) {
    return failed(reasonOf(error), todo);
  }
  try {
    await within(timeoutMs, keys.freshen()).catch((err: unknown) => failure.warn({ err }));
    if (!keys.isKnown()) return failed(`${shownAddress(source)} cannot be used: ${failure.reason()}`, todo);
    const end = keys.validUntil();
    return end === undefined ? ok('keys without certificates') : daysLeft(end, now(), todo, 'the last certificate ');
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

function judgeGroup(group: string | undefined): Verdict {
  const todo = 'set FSC_GROUP_ID to the identifier of the group, as its rules name it';
  if (group === undefined) return failed('FSC_GROUP_ID is not set', todo);
  return GROUP.test(group) ? ok(group) : failed('FSC_GROUP_ID is not the identifier of a group', todo);
}

/** @param oin of the signing certificate */
function judgePeer(peer: string | undefined, oin: string | undefined): Verdict {
  const todo = 'set FSC_PEER_ID to your own peer id: the OIN in the certificate of your Manager';
  if (peer === undefined) return failed('FSC_PEER_ID is not set', todo);
  if (!/^\d{20}$/.test(peer)) return failed('FSC_PEER_ID is not an OIN of 20 digits', todo);
  if (oin === undefined || peer === oin) return ok(peer);
  const detail = `${peer}, while the signing certificate is of ${oin}`;
  return warning(detail, `${todo}; right only when another party runs your Inway`);
}

function judgeAudience(audiences: readonly string[]): Verdict {
  const todo = 'set FSC_AUDIENCE to the addresses of your Inways as your Manager announces them: https://host:port';
  if (audiences.length === 0) return failed('FSC_AUDIENCE is not set', todo);
  const odd = audiences.filter((each) => URL.parse(each)?.protocol !== 'https:');
  if (odd.length > 0) return failed(`${odd.length} of ${audiences.length} is no address with https:`, todo);
  return ok(audiences.map(shownAddress).join(', '));
}
