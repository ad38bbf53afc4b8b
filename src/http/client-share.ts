import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from '../kernel/database/pool.ts';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Keeps the client's place taken until the function that it returns is called. Absent where the request takes none. */
    holdPlace?: () => () => void;
  }
}

export interface ClientShareOptions {
  /** The connections that a request will need; undefined when it needs none of its own. */
  readonly poolOf: (request: FastifyRequest) => Pool | undefined;
  /** Time in milliseconds that a request waits for an earlier one of the same client. */
  readonly waitMs: number;
}

/** Requests of a client that may wait, for each that may be worked on. They wait before their bodies are read. */
const WAITING_PER_REQUEST = 100;

interface Client {
  running: number;
  readonly waiting: Set<() => void>;
}

/**
 * Works on at most three quarters as many requests of one client at a time as there are connections for them; more wait, and are
 * answered 503 when that takes too long or too many do. So no client can keep the others of an area from the database, whatever he asks.
 * A request is done when its exchange has ended and its handler too: who hangs up early gains no place for the next one.
 * @returns limits a mount, called before its routes are made; mounts that are limited by the same share a client's part of it
 */
export function createClientShare({ poolOf, waitMs }: ClientShareOptions): (app: FastifyInstance) => void {
  const clientsOf = new Map<Pool, Map<string, Client>>();
  return (app) => {
    app.decorateRequest('holdPlace');
    app.addHook('onRoute', (route) => {
      const { handler } = route;
      route.handler = async function holding(request, reply) {
        const release = request.holdPlace?.();
        try {
          return await handler.call(this, request, reply);
        } finally {
          release?.();
        }
      };
    });
    // Behind `onRequest`, where the token is verified, and before the body.
    app.addHook('preParsing', async (request, reply) => {
      const pool = request.caller === undefined ? undefined : poolOf(request);
      if (pool === undefined || request.caller === undefined) return;
      const clients = clientsOf.get(pool) ?? new Map<string, Client>();
      clientsOf.set(pool, clients);
      await takeTurn(clients, request.caller.subject, mostOf(pool), request, reply);
    });
  };

  async function takeTurn(
    clients: Map<string, Client>,
    subject: string,
    most: number,
    request: FastifyRequest,
    { raw }: FastifyReply,
  ): Promise<void> {
    const client = clients.get(subject) ?? { running: 0, waiting: new Set() };
    clients.set(subject, client);
    if (client.running >= most) await waitForTurn(client, most, raw);
    client.running += 1;
    const release = (): void => {
      client.running -= 1;
      const [next] = client.waiting;
      if (next !== undefined) next();
      else if (client.running === 0) clients.delete(subject);
    };
    if (raw.destroyed) {
      // The client went while this request waited: there is nobody to answer.
      release();
      throw busy();
    }
    let holders = 0;
    const hold = (): (() => void) => {
      holders += 1;
      return () => {
        holders -= 1;
        if (holders === 0) release();
      };
    };
    // However the exchange ends.
    raw.once('close', hold());
    request.holdPlace = hold;
  }

  function waitForTurn({ waiting }: Client, most: number, raw: FastifyReply['raw']): Promise<void> {
    if (waiting.size >= most * WAITING_PER_REQUEST) throw busy();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(turn);
        clearTimeout(timer);
        raw.off('close', gone);
      };
      const turn = (): void => {
        leave();
        resolve();
      };
      const gone = (): void => {
        leave();
        reject(busy());
      };
      const timer = setTimeout(gone, waitMs);
      waiting.add(turn);
      raw.once('close', gone);
    });
  }
}

function mostOf({ options: { max } }: Pool): number {
  return Math.max(1, max - Math.max(1, Math.floor(max / 4)));
}

function busy(): Problem {
  return new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' } });
}
