import { requestDurations } from '../http/access-log.ts';
import type { Area } from '../http/area.ts';
import { clientAddress } from '../http/client-address.ts';
import { createContract } from '../http/contract.ts';
import { createRateCounter } from '../http/limits.ts';
import { mount } from '../http/mount.ts';
import { readOpenapi } from '../http/openapi-document.ts';
import { openToOrigins } from '../http/security-headers.ts';
import type { Platform } from '../kernel/platform.ts';
import { createAggregator } from './aggregator/aggregator.ts';
import { createClientAddresses } from './client-address.ts';
import { measureFeed } from './feed-metrics.ts';
import { createFeedState } from './feed-state.ts';
import { createAnswerStore } from './pages/answer-store.ts';
import { createPageStore } from './pages/page-store.ts';
import type { RaadsfeedParts } from './parts.ts';
import { raadsfeedProblems } from './problems.ts';
import { keepRegister } from './register/keep-register.ts';
import type { Register } from './register.ts';
import { createRepeater } from './repeat-answers.ts';
import { collectionRoutes } from './routes/collections.ts';
import { chooseEncoding } from './routes/encoding.ts';
import { feedRoute } from './routes/feed.ts';
import { registerRoute } from './routes/register.ts';
import { serviceRoute } from './routes/service.ts';
import { snapshotRoute } from './routes/snapshot.ts';
import { streamRoute } from './routes/stream.ts';
import { wellKnownRoutes } from './routes/well-known.ts';
import { rewriteParts } from './store/rewrite-parts.ts';
import { createHub } from './stream/hub.ts';

const CONTRACT = new URL('../../openapi/raadsfeed.yaml', import.meta.url);

export interface RaadsfeedNeeds {
  /** What `/register` lists; absent when this service is no register. */
  readonly register?: Register | undefined;
}

/** Area C: the public council feed. */
export async function createRaadsfeed(platform: Platform, { register }: RaadsfeedNeeds = {}): Promise<Area> {
  const { readPool: db, listener, log, stopping } = platform;
  const settings = platform.config.raadsfeed;
  const { prefix } = settings;
  const contract = createContract(readOpenapi(CONTRACT));
  const mountUrl = (): string => `${platform.publicBaseUrl()}${prefix}`;
  const state = createFeedState({ db, listener, log });
  const hub = createHub({ db, state, mountUrl, log, heartbeatSeconds: settings.streamHeartbeatSeconds });
  // Half for pages of history, half for whole answers that still hold.
  const cacheBytes = (settings.cacheMb * 1024 * 1024) / 2;
  const pages = createPageStore(cacheBytes);
  const answers = createAnswerStore(cacheBytes, chooseEncoding);
  state.onChange(pages.atFeed);
  const parts: RaadsfeedParts = { settings, db, state, pages, answers, mountUrl, log, stopping };
  measureFeed(platform.metrics, {
    head: state.knownHead,
    streams: hub.count,
    cacheBytes: () => pages.bytes() + answers.bytes(),
  });
  const durations = requestDurations(platform.metrics);
  const counter = createRateCounter(settings.rateLimit);
  const addresses = createClientAddresses(platform.config.server.trustProxy !== undefined);
  let isPressed = (): boolean => false;
  const aggregator = settings.rol === 'aggregator' ? createAggregator(platform) : undefined;
  const kept = settings.register ? keepRegister(platform) : undefined;
  const routes: Parameters<typeof mount>[0]['routes'] = (app) => {
    openToOrigins(app);
    if (app.hasDecorator('isUnderPressure')) isPressed = () => app.isUnderPressure();
    app.addHook('onRequest', (request, _reply, done) => {
      addresses.learn(request.raw, clientAddress(request));
      done();
    });
    serviceRoute(app, contract, parts);
    feedRoute(app, contract, parts);
    streamRoute(app, contract, parts, hub);
    snapshotRoute(app, contract, parts);
    collectionRoutes(app, contract, parts, 'Vergadering', { list: 'getVergaderingen', one: 'getVergadering' });
    collectionRoutes(app, contract, parts, 'Agendapunt', { list: 'getAgendapunten', one: 'getAgendapunt' });
    collectionRoutes(app, contract, parts, 'Informatieobject', {
      list: 'getInformatieobjecten',
      one: 'getInformatieobject',
    });
    registerRoute(app, contract, parts, register ?? kept);
  };
  return {
    problems: raadsfeedProblems,
    checks: [],
    // A redaction whose process died between its commit and the end of its work is finished here.
    start: async () => {
      rewriteParts(platform.pool).catch((error: unknown) =>
        log.error(
          { err: error },
          'what was redacted may still stand in files of the database; it is tried again at the next start',
        ),
      );
      aggregator?.start();
      kept?.start();
    },
    close: async () => {
      await aggregator?.close();
      await kept?.close();
      hub.close();
      state.close();
    },
    root: (app) => wellKnownRoutes(app, mountUrl),
    mounts: [mount({ platform, prefix, contract, rateLimit: { counter }, routes })],
    fastPath: createRepeater({
      state,
      answers,
      counter,
      prefix,
      stopping,
      addressOf: addresses.of,
      isPressed: () => isPressed(),
      observe: (route, status, seconds) => durations.observe({ method: 'GET', route, status }, seconds),
    }),
  };
}
