import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pino } from 'pino';
import { createAuthority } from '../lib/authority/authority.ts';
import { createLogger, portError } from '../lib/log.ts';
import { loadSecret, saveJson } from '../lib/saved-secrets.ts';
import type { Environment } from '../lib/terminal.ts';
import { serve } from '../serve.ts';
import { knownVariables, type Overrides, readConfig } from '../settings/read-config.ts';
import { startAuthorizationServer } from './authorization-server.ts';
import { type DemoFile, demoFilePath } from './demo-client.ts';
import type { Demo, DemoSetup } from './demo-part.ts';
import { leverancierscode, organisation } from './example-data.ts';
import { inzageVariables, serveInzageLogin } from './parts/login.ts';
import { proofVariables, sealingVariables } from './parts/proof.ts';
import { serveSuppliers, supplierOverrides, supplierVariables } from './parts/suppliers.ts';
import { loadDemoClients } from './saved-secrets.ts';

const AUDIENCE = 'urn:koppelvlak:demo';

/** Starts the whole demo on loopback and writes its addresses to `demo.json`. @throws {Error} for people; everything started is stopped */
export async function startDemo(environment: Environment): Promise<Demo> {
  const { server } = readConfig(environment, 'tool');
  /** The ports after that of the service; 0 takes free ones. */
  const portAfter = (steps: number): number => (server.port === 0 ? 0 : server.port + steps);
  if (server.environment === 'production') throw new Error('the demo does not start with NODE_ENV=production');
  const home = resolve(server.home);
  const secrets = join(home, 'clients');
  await mkdir(home, { recursive: true });
  const logFile = join(home, 'demo.log');
  const log = createLogger(server.logLevel, pino.destination({ dest: logFile, mode: 0o600 }));
  await using started = new AsyncDisposableStack();
  // A process that waits for the file must not find one from an earlier start.
  await rm(demoFilePath(home), { force: true });
  const authority = await orPortError(portAfter(2), 'PORT', (port) =>
    createAuthority({ dir: join(home, 'pki'), port }),
  );
  started.defer(authority.close);
  const { dir, root, intermediate, intermediateKey, ocspUrl, crlUrl, revoked, requester, supplier } = authority;
  const manager = { organization: 'Voorbeeld Leverancier FSC Manager', oin: supplier.oin };
  const { key, certificate } = await authority.party(join(home, 'fsc'), 'manager', manager);
  const inway = 'https://inway.voorbeeld.example:443';
  const fsc = { groupId: 'koppelvlak-demo', peerId: supplier.oin, audience: inway, key, certificate };
  const clients = await loadDemoClients(secrets);
  const setup: DemoSetup = {
    home,
    secret: (name) => loadSecret(secrets, name),
    authorizationUrl: () => authorization.issuer,
    publicBaseUrl: server.publicBaseUrl,
  };
  const authorization = await orPortError(portAfter(1), 'PORT', (port) =>
    startAuthorizationServer({
      port,
      audience: AUDIENCE,
      clients,
      keysDirectory: secrets,
      environment: server.environment,
      log,
      register: async (app, address) => {
        await serveSuppliers(app, setup);
        await serveInzageLogin(app, { ...setup, authorizationUrl: address });
      },
    }),
  );
  started.defer(authorization.close);
  const added: Variables = {
    ...(await supplierVariables(setup)),
    ...(await inzageVariables(setup)),
    ...(await proofVariables(setup)),
  };
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  // Given settings take precedence over those of the demo.
  const chosen = {
    OAUTH_ISSUER: authorization.issuer,
    OAUTH_AUDIENCE: AUDIENCE,
    OAUTH_CLIENT_OINS: `statistiek=${requester.oin}`,
    FSC_TOKEN_CERTIFICATES: fsc.certificate,
    FSC_GROUP_ID: fsc.groupId,
    FSC_PEER_ID: fsc.peerId,
    FSC_AUDIENCE: fsc.audience,
    GEGEVENS_TRUST_ANCHORS: root,
    ...(given.GEGEVENS_SIGNING_KEY === undefined
      ? { GEGEVENS_SIGNING_KEY: supplier.key, GEGEVENS_SIGNING_CHAIN: supplier.chain }
      : {}),
    // The authority answers on loopback.
    GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
    GEGEVENS_SUPPLIER_CODE: leverancierscode,
    // No proxy in front of it needs to notice first.
    SHUTDOWN_DRAIN_MS: '0',
    GEGEVENS_RATE_LIMIT: '0',
    ORGANISATION_NAME: organisation,
    RAADSFEED_RATE_LIMIT: '0',
    RAADSFEED_DIWOO: 'true',
    RAADSFEED_PAGES: 'true',
    // Users of the demo name activities of their own.
    LDV_UNKNOWN_ACTIVITY: 'normaal',
    RAADSFEED_CONTACT: 'mailto:raadsfeed@voorbeeld.example',
    RAADSFEED_LICENTIE: 'https://creativecommons.org/publicdomain/zero/1.0/',
    ...added,
    ...given,
  };
  const overrides: Overrides = {
    ...supplierOverrides(setup),
    // Users of the demo are never refused, nor wait long for a checkpoint.
    inzage: { rateLimit: 0 },
    proof: { intervalSeconds: 5 },
  };
  const config = readConfig(chosen, 'serve', overrides);
  const service = await serve({ config, log });
  started.defer(() => service.stop());

  const { gegevens, ldv, verwerkingenlog, raadsfeed, tokens } = config;
  const known = new Set(knownVariables());
  const mounts: DemoFile['mounts'] = {
    shv: service.url + gegevens.shvPrefix,
    vs: service.url + gegevens.vsPrefix,
    verwerkingenlog: service.url + verwerkingenlog.prefix,
    raadsfeed: service.url + raadsfeed.prefix,
    ldv: service.url + ldv.prefix,
  };
  const variables: Variables = {
    ...Object.fromEntries(Object.entries(chosen).filter(([name]) => known.has(name))),
    KOPPELVLAK_HOME: home,
    PORT: new URL(service.url).port,
    DATABASE_URL: service.databaseUrl,
    PUBLIC_BASE_URL: config.server.publicBaseUrl ?? service.url,
    ...sealingVariables(config),
  };
  const file: DemoFile = {
    baseUrl: service.url,
    managementUrl: service.managementUrl,
    tokenUrl: authorization.tokenUrl,
    issuer: tokens.oauthIssuer ?? authorization.issuer,
    databaseUrl: service.databaseUrl,
    mounts,
    clients: Object.fromEntries(clients.map((client) => [client.id, client])),
    requester,
    supplier,
    pki: { dir, root, intermediate, intermediateKey, ocspUrl, crlUrl, revoked },
    fsc: { ...fsc, services: { shv: 'shv', vs: 'vs', ...Object.fromEntries(gegevens.services) } },
    environment: variables,
    pid: process.pid,
  };
  started.defer(() => rm(demoFilePath(home), { force: true }));
  await saveJson(demoFilePath(home), file);
  const running = started.move();
  const lost = new Promise<void>((resolve) => {
    void service.databaseExited.then(() => {
      if (!running.disposed) resolve();
    });
  });
  return { file, config, home, log, logFile, lost, stop: () => running.disposeAsync() };
}

type Variables = Readonly<Record<string, string>>;

async function orPortError<T>(port: number, variable: string, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(port);
  } catch (error) {
    throw portError(error, port, variable) ?? error;
  }
}
