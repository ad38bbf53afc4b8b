import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pino } from 'pino';
import { createLogger, type Logger, portError } from '../lib/log.ts';
import { serve } from '../serve.ts';
import { type Config, type Environment, knownVariables, readConfig } from '../settings/read-config.ts';
import { type Authority, createAuthority } from './authority/authority.ts';
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.ts';
import { type DemoFile, demoFilePath, writeDemoFile } from './demo-client.ts';
import { loadDemoParts } from './demo-parts.ts';
import { leverancierscode, signInPersons, uitvoerder } from './example-data.ts';
import { createFscManager, type FscManager } from './fsc-manager.ts';
import { loadDemoClients, loadInspectionSecrets, loadServiceKey } from './saved-secrets.ts';

export interface Demo {
  readonly file: DemoFile;
  /** The service's configuration. */
  readonly config: Config;
  readonly home: string;
  readonly log: Logger;
  readonly logFile: string;
  /** Settles when the embedded Postgres ended unasked. */
  readonly lost: Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts everything of the demo on loopback, last the service, and says in `demo.json` how to reach it.
 * @throws {Error} with a message for people; what was started is stopped
 */
export async function startDemo(environment: Environment): Promise<Demo> {
  const { server, demo } = readConfig(environment, 'tool');
  if (server.environment === 'production') throw new Error('the demo does not start with NODE_ENV=production');
  const home = resolve(server.home);
  await mkdir(home, { recursive: true });
  const logFile = join(home, 'demo.log');
  const log = createLogger(server.logLevel, pino.destination({ dest: logFile, mode: 0o600 }));
  const releases: (() => Promise<void>)[] = [];
  let stopping = false;
  const stop = async (): Promise<void> => {
    stopping = true;
    for (const release of releases.splice(0).toReversed()) await release();
  };
  // Who waits for the file must not find that of an earlier start.
  await rm(demoFilePath(home), { force: true });
  try {
    const authority = await orPortError(demo.pkiPort, 'DEMO_PKI_PORT', (port) =>
      createAuthority({ dir: join(home, 'pki'), port }),
    );
    releases.push(() => authority.close());
    const fsc = await createFscManager(join(home, 'fsc'), authority);
    const clients = await loadDemoClients(join(home, 'clients'));
    const inspection = await loadInspectionSecrets(join(home, 'clients'));
    const authorization = await orPortError(demo.authPort, 'DEMO_AUTH_PORT', (port) =>
      startAuthorizationServer({
        port,
        audience,
        clients,
        keysDirectory: join(home, 'clients'),
        production: false,
        signIn: {
          client: { id: INSPECTION_CLIENT, secret: inspection.clientSecret },
          returnPath: '/inzage/terug',
          clientUrl: server.publicBaseUrl,
          persons: signInPersons,
        },
        log,
      }),
    );
    releases.push(() => authorization.close());
    const chosen = {
      VERWERKINGENLOG_KEY: `demo:${await loadServiceKey(join(home, 'clients'), 'log-key')}`,
      PROOF_KEY: await loadServiceKey(join(home, 'clients'), 'proof-key'),
      PROOF_STATE: join(home, 'proof-state.json'),
      ...serviceEnvironment(environment, { authority, authorization, fsc, inspection }),
    };
    // Whoever tries the demo must neither wait for a checkpoint nor be turned away.
    const config = readConfig(chosen, 'serve', { PROOF_INTERVAL_SECONDS: '5', INZAGE_RATE_LIMIT: '0' });
    const service = await serve({ config, log });
    releases.push(service.stop);

    const { gegevens, verwerkingenlog, raadsfeed, tokens } = config;
    const parts = await loadDemoParts();
    const file: DemoFile = {
      baseUrl: service.url,
      managementUrl: service.managementUrl,
      tokenUrl: authorization.tokenUrl,
      issuer: tokens.oauthIssuer ?? authorization.issuer,
      databaseUrl: service.databaseUrl,
      mounts: {
        shv: service.url + gegevens.shvPrefix,
        vs: service.url + gegevens.vsPrefix,
        verwerkingenlog: service.url + verwerkingenlog.prefix,
        raadsfeed: service.url + raadsfeed.prefix,
        ...Object.assign({}, ...parts.map(({ mounts }) => mounts?.(config, service.url))),
      },
      clients: Object.fromEntries(clients.map(({ id, secret, scopes }) => [id, { id, secret, scopes }])),
      requester: authority.requester,
      supplier: authority.supplier,
      pki: {
        dir: authority.dir,
        root: authority.root,
        intermediate: authority.intermediate,
        intermediateKey: authority.intermediateKey,
        ocspUrl: authority.ocspUrl,
        crlUrl: authority.crlUrl,
        revoked: authority.revoked,
      },
      fsc: { ...fsc, services: { shv: 'shv', vs: 'vs', ...Object.fromEntries(gegevens.services) } },
      environment: {
        ...settingsOf(chosen),
        KOPPELVLAK_HOME: home,
        PORT: new URL(service.url).port,
        DATABASE_URL: service.databaseUrl,
        PUBLIC_BASE_URL: config.server.publicBaseUrl ?? service.url,
        ...Object.assign({}, ...parts.map(({ environment: added }) => added?.(config))),
      },
      pid: process.pid,
    };
    releases.push(() => rm(demoFilePath(home), { force: true }));
    await writeDemoFile(home, file);
    const lost = new Promise<void>((resolve) => {
      void service.databaseExited.then(() => {
        if (!stopping) resolve();
      });
    });
    return { file, config, home, log, logFile, lost, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function orPortError<T>(port: number, variable: string, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(port);
  } catch (error) {
    throw portError(error, port, variable) ?? error;
  }
}

/** The audience that the demo's access tokens name. */
const audience = 'urn:koppelvlak:demo';

/** The pages for citizens, as a client of the stand-in for the national login. */
const INSPECTION_CLIENT = 'inzage-pagina';

/** The environment of the service in the demo. What is given wins over what the demo would choose. */
function serviceEnvironment(
  given: Environment,
  parts: {
    authority: Authority;
    authorization: Pick<AuthorizationServer, 'issuer' | 'signInIssuer'>;
    fsc: FscManager;
    inspection: Awaited<ReturnType<typeof loadInspectionSecrets>>;
  },
): Environment {
  const { authority, authorization, fsc, inspection } = parts;
  const chosen = {
    OAUTH_ISSUER: authorization.issuer,
    OAUTH_AUDIENCE: audience,
    OAUTH_CLIENT_OINS: `statistiek=${authority.requester.oin}`,
    FSC_TOKEN_CERTIFICATES: fsc.certificate,
    FSC_GROUP_ID: fsc.groupId,
    FSC_PEER_ID: fsc.peerId,
    FSC_AUDIENCE: fsc.audience,
    GEGEVENS_TRUST_ANCHORS: authority.root,
    ...(hasValue(given.GEGEVENS_SIGNING_KEY)
      ? {}
      : { GEGEVENS_SIGNING_KEY: authority.supplier.key, GEGEVENS_SIGNING_CHAIN: authority.supplier.chain }),
    // The authority answers on loopback.
    GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
    GEGEVENS_SUPPLIER_CODE: leverancierscode,
    // No proxy in front of it needs to notice first.
    SHUTDOWN_DRAIN_MS: '0',
    GEGEVENS_RATE_LIMIT: '0',
    // Whoever tries it names an activity of its own.
    LDV_UNKNOWN_ACTIVITY: 'normaal',
    VERWERKINGENLOG_PAGES: 'true',
    INZAGE_OIDC_ISSUER: authorization.signInIssuer,
    INZAGE_OIDC_CLIENT_ID: INSPECTION_CLIENT,
    INZAGE_OIDC_CLIENT_SECRET: inspection.clientSecret,
    INZAGE_SESSION_KEY: inspection.sessionKey,
    ORGANISATION_NAME: 'Gemeente Voorbeeldstad',
    INZAGE_ORGANISATION_NAMES: `${uitvoerder}=Gemeente Voorbeeldstad,${fsc.peerId}=Gemeente Voorbeeldstad`,
    RAADSFEED_PAGES: 'true',
    RAADSFEED_DIWOO: 'true',
    RAADSFEED_RATE_LIMIT: '0',
    RAADSFEED_CONTACT: 'mailto:raadsfeed@voorbeeld.example',
    RAADSFEED_LICENTIE: 'https://creativecommons.org/publicdomain/zero/1.0/',
  };
  return { ...chosen, ...Object.fromEntries(Object.entries(given).filter(([, value]) => hasValue(value))) };
}

/** The settings among variables. */
function settingsOf(environment: Environment): Record<string, string> {
  const known = new Set(knownVariables());
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value = '']) =>
      known.has(name) && value !== '' ? [[name, value]] : [],
    ),
  );
}

function hasValue(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
