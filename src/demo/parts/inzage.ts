import type { FastifyInstance } from 'fastify';
import type { DemoSetup } from '../demo-part.ts';
import { organisation, persons, uitvoerder } from '../example-data.ts';
import { serveLogin } from './login.ts';

const PROVIDER = '/digid';
const CLIENT = 'inzage-pagina';
const SUPPLIER = '00000099000000002000';

const clientSecret = ({ secret }: DemoSetup): Promise<string> => secret('inspection-client');

export async function serveInzageLogin(app: FastifyInstance, setup: DemoSetup): Promise<void> {
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

export const inzageVariables = async (setup: DemoSetup): Promise<Record<string, string>> => ({
  VERWERKINGENLOG_PAGES: 'true',
  INZAGE_OIDC_ISSUER: setup.authorizationUrl() + PROVIDER,
  INZAGE_OIDC_CLIENT_ID: CLIENT,
  INZAGE_OIDC_CLIENT_SECRET: await clientSecret(setup),
  INZAGE_SESSION_KEY: await setup.secret('session-key'),
  INZAGE_ORGANISATION_NAMES: `${uitvoerder}=${organisation},${SUPPLIER}=${organisation}`,
});
