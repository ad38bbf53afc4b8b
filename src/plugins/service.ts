/** What every plugin may use: `service` gives settings, clock, address and end of the process, `operations` the lists that plugins add to. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { DescribedInterface } from '../lib/openapi-document.ts';
import type { FrontEntry, OperatorSection, ReadinessCheck, SiteMaps } from '../lib/operations.ts';
import type { ProblemKind } from '../lib/problem.ts';
import type { Clock } from '../lib/time.ts';
import { baseUrlOf, type Config } from '../settings/read-config.ts';
import type { ProblemStyle } from './problem-reply.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly settings: Config;
    readonly clock: Clock;
    /** Address that clients see, without a trailing slash. With port 0 it is known only after listening. */
    readonly publicBaseUrl: () => string;
    /** Fires when the process begins to stop: streams and waiting loops end on it. */
    readonly stopping: AbortSignal;
    readonly readiness: ReadinessCheck[];
    readonly operatorPage: OperatorSection[];
    readonly scopes: MountedScope[];
    /** Every problem that has a page at `/problems/<slug>`. */
    readonly problemKinds: ProblemKind[];
    readonly interfaces: DescribedInterface[];
    /** Shows the contract of an interface as a page; absent without the pages at the root. */
    readonly interfacePage: ((described: DescribedInterface) => string) | undefined;
    /** Landing-page entries, and the site maps that `/robots.txt` names. */
    readonly frontEntries: FrontEntry[];
    readonly siteMaps: SiteMaps[];
  }
}

interface MountedScope {
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly problemStyle: ProblemStyle | undefined;
}

interface ServiceOptions {
  readonly config: Config;
  readonly clock: Clock;
}

export const service = fp(
  async (app: FastifyInstance, { config, clock }: ServiceOptions) => {
    const stopping = new AbortController();
    app.decorate('settings', config);
    app.decorate('clock', clock);
    const configured = baseUrlOf(config.server);
    const isFixed = config.server.publicBaseUrl !== undefined;
    app.decorate('publicBaseUrl', () => {
      return isFixed || !app.server.listening ? configured : listenAddress(app, config.server);
    });
    app.decorate('stopping', stopping.signal);
    app.addHook('preClose', async () => stopping.abort());
  },
  { name: 'service' },
);

export function listenAddress({ server }: FastifyInstance, { host, port }: { host: string; port: number }): string {
  const address = server.address();
  return `http://${host.includes(':') ? `[${host}]` : host}:${isAddressInfo(address) ? address.port : port}`;
}

function isAddressInfo(address: unknown): address is AddressInfo {
  return typeof address === 'object' && address !== null && 'port' in address;
}

export const operations = fp(
  async (app: FastifyInstance) => {
    app.decorate('readiness', []);
    app.decorate('operatorPage', []);
    app.decorate('scopes', []);
    app.decorate('interfaces', []);
    app.decorate('frontEntries', []);
    app.decorate('siteMaps', []);
    app.decorate('problemKinds', Object.values<ProblemKind>(platformProblems));
  },
  { name: 'operations' },
);
