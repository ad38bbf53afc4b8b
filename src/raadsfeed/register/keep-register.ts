import { createOutboundClient, type OutboundClient } from '../../kernel/outbound/outbound-client.ts';
import type { Platform } from '../../kernel/platform.ts';
import type { Register } from '../register.ts';
import { refreshFeed } from './refresh-feed.ts';
import { listFeeds, takeDue } from './store/feeds.ts';

/** A register, with the work of keeping it up to date. */
export interface RunningRegister extends Register {
  start(): void;
  close(): Promise<void>;
}

/** Milliseconds between looks for feeds whose day has passed. */
const LOOK_MS = 5000;
/** Seconds after which a feed is taken up again by another when the one who took it died. */
const LEASE_SECONDS = 300;
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

/** The way out to feeds of the register: small answers only. */
export function createRegisterClient({
  config: { raadsfeed, server },
  clock,
}: Pick<Platform, 'config' | 'clock'>): OutboundClient {
  return createOutboundClient({
    clock,
    timeoutMs: Math.min(raadsfeed.aggregatorTimeoutMs, 30_000),
    maxBytes: MAX_DOCUMENT_BYTES,
    connections: 1,
    proxy: server,
    allowPrivate: raadsfeed.aggregatorAllowPrivate,
  });
}

/** Each feed is asked once a day where it is; one that does not answer, each hour. */
export function createRegister(platform: Platform): RunningRegister {
  const { pool, log, stopping } = platform;
  const client = createRegisterClient(platform);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const refreshDue = async (): Promise<void> => {
    try {
      for (
        let entry = await takeDue(pool, LEASE_SECONDS);
        entry !== undefined;
        entry = await takeDue(pool, LEASE_SECONDS)
      ) {
        const refreshed = await refreshFeed(pool, client, entry, stopping);
        if (!refreshed.bereikbaar)
          log.warn({ feed: entry.serviceUrl }, `a feed of the register does not answer: ${refreshed.fout}`);
        if (stopping.aborted) return;
      }
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'the register cannot be brought up to date');
    }
  };
  return {
    list: (after, limit, organisatiecode) => listFeeds(pool, after, limit, organisatiecode),
    start() {
      timer ??= setInterval(() => {
        running ??= refreshDue().finally(() => {
          running = undefined;
        });
      }, LOOK_MS);
      timer.unref();
    },
    async close() {
      clearInterval(timer);
      await running;
      await client.close();
    },
  };
}
