/** `/.well-known/security.txt` (RFC 9116): where to report a vulnerability of this service. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../lib/problem.ts';
import type { Config } from '../settings/read-config.ts';
import { platformProblems } from './problems.ts';

/** Serves the file at the root of the host when the operator has named a contact; otherwise the address does not exist. */
export function securityTxt(app: FastifyInstance): void {
  const { settings, clock, publicBaseUrl } = app;
  const { security } = settings;
  const { expires } = security;
  if (security.contact.length === 0 || expires === undefined) return;
  app.get('/.well-known/security.txt', { config: { public: true } }, (_request, reply) => {
    // An expired file must not be relied on: none sends the finder to look elsewhere.
    if (Date.parse(expires) <= clock.now().getTime()) throw new Problem(platformProblems.notFound);
    return reply
      .header('cache-control', 'public, max-age=3600')
      .type('text/plain; charset=utf-8')
      .send(securityText(security, expires, publicBaseUrl()));
  });
}

function securityText(security: Config['security'], expires: string, base: string): string {
  const fields: readonly (readonly [name: string, value: string | undefined])[] = [
    ...security.contact.map((contact) => ['Contact', contact] as const),
    ['Expires', expires],
    ['Encryption', security.encryption],
    ['Policy', security.policy],
    ['Acknowledgments', security.acknowledgments],
    ['Preferred-Languages', security.languages.length === 0 ? undefined : security.languages.join(', ')],
    // A copy elsewhere does not speak for this host. RFC 9116 wants a web address here to be `https:`.
    ['Canonical', base.startsWith('https:') ? `${base}/.well-known/security.txt` : undefined],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`])).join('');
}
