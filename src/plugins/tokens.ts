/** Verifies access tokens for the interfaces that need one: `app.tokens`. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Counter, Gauge } from 'prom-client';
import type { FetchJson } from '../lib/outbound/outbound-client.ts';
import type { Platform } from '../platform.ts';
import { createTokenVerifier, type TokenVerifier } from './oauth/token-verifier.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly tokens: TokenVerifier;
  }
}

interface TokensOptions {
  readonly platform: Pick<Platform, 'config' | 'log' | 'clock' | 'metrics'>;
  /** Fetches keys of issuers. */
  readonly fetch: FetchJson;
  /** Whether nothing can be served without an issuer's keys. */
  readonly isVital: boolean;
}

export const tokens = fp(
  async (app: FastifyInstance, { platform, fetch, isVital }: TokensOptions) => {
    const verifier = createVerifier(platform, fetch);
    app.decorate('tokens', verifier);
    app.readiness.add(...verifier.checks.map((check) => ({ ...check, vital: isVital })));
    app.addHook('onClose', async () => verifier.close());
  },
  { name: 'tokens', dependencies: ['operations'] },
);

function createVerifier({ config, log, clock, metrics }: TokensOptions['platform'], fetch: FetchJson): TokenVerifier {
  const settings = config.tokens;
  const { oauthIssuer, oauthAudience, fscCertificates, fscGroupId, fscAudience, fscPeerId } = settings;
  const refused = new Counter({
    name: 'koppelvlak_access_tokens_refused_total',
    help: 'Access tokens that were refused, by reason',
    labelNames: ['reason'],
    registers: [metrics],
  });
  const verifier = createTokenVerifier({
    log,
    clock,
    fetch,
    keysCacheSeconds: settings.oauthJwksCacheSeconds,
    tokenCacheSeconds: settings.oauthTokenCacheSeconds,
    refused: (reason) => refused.inc({ reason }),
    ...(oauthIssuer === undefined || oauthAudience === undefined
      ? {}
      : {
          oauth: {
            issuer: oauthIssuer,
            audience: oauthAudience,
            jwksUrl: settings.oauthJwksUrl,
            oinClaim: settings.oauthOinClaim,
            clientOins: settings.oauthClientOins,
          },
        }),
    ...(fscCertificates === undefined || fscGroupId === undefined || fscPeerId === undefined
      ? {}
      : {
          fsc: { certificates: fscCertificates, groupId: fscGroupId, audiences: fscAudience, peerId: fscPeerId },
        }),
    clientCertificates: settings.clientCertificateHeader !== undefined,
  });
  if (fscCertificates !== undefined) {
    new Gauge({
      name: 'koppelvlak_fsc_token_certificate_expiry_timestamp_seconds',
      help: 'When the last certificate that FSC tokens are signed with expires',
      registers: [metrics],
      collect() {
        const end = verifier.fscValidUntil();
        if (end !== undefined) this.set(end.getTime() / 1000);
      },
    });
  }
  return verifier;
}
