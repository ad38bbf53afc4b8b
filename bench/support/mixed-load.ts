/** Clients that keep their connections alive and cycle through requests of every area. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Ask {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: number;
  /** Created for each request. */
  readonly make?: () => Promise<{ headers: Record<string, string | number>; body: string | Buffer }>;
}

export interface MixedLoad {
  /** Requests answered correctly, and every other outcome. */
  readonly answered: () => number;
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

export interface MixedLoadOptions {
  readonly port: number;
  readonly asks: readonly Ask[];
  readonly clients: number;
  /** Milliseconds between two requests of a client. */
  readonly pauseMs?: number;
}

export function startMixedLoad({ port, asks, clients, pauseMs = 0 }: MixedLoadOptions): MixedLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const failures: string[] = [];
  let [answered, stopped] = [0, false];
  const send = async ({ name, method, path, status, make }: Ask): Promise<void> => {
    const { headers, body } = (await make?.()) ?? { headers: {}, body: undefined };
    await new Promise<void>((resolve) => {
      const fail = (why: string): void => {
        failures.push(`${name}: ${why}`);
        resolve();
      };
      const outgoing = request({ agent, port, host: '127.0.0.1', method, path, headers }, (response) => {
        response.on('error', (error) => fail(error.message));
        response.on('end', () => {
          if (response.statusCode !== status) return fail(`status ${response.statusCode}`);
          answered += 1;
          resolve();
        });
        response.resume();
      });
      outgoing.on('error', (error) => fail(error.message));
      outgoing.end(body);
    });
  };
  const client = async (first: number): Promise<void> => {
    for (let n = first; !stopped; n += 1) {
      const ask = asks[n % asks.length];
      if (ask !== undefined) await send(ask);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  const running = Array.from({ length: clients }, (_, n) => client(n));
  return {
    answered: () => answered,
    failures,
    async stop() {
      stopped = true;
      await Promise.all(running);
      agent.destroy();
    },
  };
}
