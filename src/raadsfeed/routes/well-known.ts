import type { FastifyInstance } from 'fastify';

/** Where a host's feed is looked for: the second name is the one of the published draft. */
const NAMES = ['council-feed', 'ori-feed'];

/** Leads the well-known addresses of the host to the service document. */
export function wellKnownRoutes(app: FastifyInstance, mountUrl: () => string): void {
  for (const name of NAMES) {
    app.get(`/.well-known/${name}`, { config: { public: true } }, (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
        .redirect(mountUrl(), 307),
    );
  }
}
