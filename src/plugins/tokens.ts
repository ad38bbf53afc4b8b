/** Verifies access tokens for the interfaces that need one: `app.tokens`. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Counter, Gauge } from 'prom-client';
import { createOutboundFetch, type FetchJson } from '../lib/outbound/outbound-client.ts';
import { createTokenVerifier, type TokenVerifier } from './oauth/token-verifier.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly tokens: TokenVerifier;
  }
}

export const tokens = fp(
  async (app: FastifyInstance) => {
    const { areas } = app.settings.server;
    const outbound = createOutboundFetch(app.settings.server);
    const verifier = createVerifier(app, outbound.fetch);
    app.decorate('tokens', verifier);
    // Without the keys of an issuer the feed, which is public, is still served.
    app.readiness.add(...verifier.checks.map((check) => ({ ...check, vital: !areas.includes('raadsfeed') })));
    app.addHook('onClose', outbound.close);
    app.addHook('onClose', async () => verifier.close());
  },
  { name: 'tokens', dependencies: ['service', 'operations', 'metrics'] },
);

/** @param fetch fetches keys of issuers */
function createVerifier({ settings: config, log, clock, metrics }: FastifyInstance, fetch: FetchJson): TokenVerifier {
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
