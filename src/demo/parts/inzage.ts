import type { FastifyInstance } from 'fastify';
import type { Config, Overrides } from '../../settings/read-config.ts';
import type { DemoSetup } from '../demo-part.ts';
import { organisation, persons, uitvoerder } from '../example-data.ts';
import { serveLogin } from './login.ts';

const PROVIDER = '/digid';
const CLIENT = 'inzage-pagina';
/** The OIN of the demo's supplier. */
const SUPPLIER = '00000099000000002000';

const clientSecret = ({ secret }: DemoSetup): Promise<string> => secret('inspection-client');

export async function authorize(app: FastifyInstance, setup: DemoSetup): Promise<void> {
  const options = {
    issuer: () => setup.authorizationUrl() + PROVIDER,
    client: { id: CLIENT, secret: await clientSecret(setup) },
    returnPath: '/inzage/terug',
    clientUrl: setup.publicBaseUrl,
    persons: [
      { bsn: persons.eerste, name: 'Mevrouw E. de Eerste' },
      { bsn: persons.tweede, name: 'De heer T. Tweede' },
    ],
  };
  await app.register((scope) => serveLogin(scope, options), { prefix: PROVIDER });
}

export const variables = async (setup: DemoSetup): Promise<Record<string, string>> => ({
  VERWERKINGENLOG_PAGES: 'true',
  INZAGE_OIDC_ISSUER: setup.authorizationUrl() + PROVIDER,
  INZAGE_OIDC_CLIENT_ID: CLIENT,
  INZAGE_OIDC_CLIENT_SECRET: await clientSecret(setup),
  INZAGE_SESSION_KEY: await setup.secret('session-key'),
  INZAGE_ORGANISATION_NAMES: `${uitvoerder}=${organisation},${SUPPLIER}=${organisation}`,
});

/** Nobody should be turned away. */
export const overrides = (): Overrides => ({ inzage: { rateLimit: 0 } });

export const next = ({ inzage, server }: Config, baseUrl: string): string[] =>
  inzage.pages && server.areas.includes('verwerkingenlog')
    ? [`see as a citizen what was done with your data: ${baseUrl}/inzage (log in as one of two persons)`]
    : [];
