import type { FastifyReply } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

/** Counts the exchanges of each client that are open: for answers that last, which a limit per minute does not bound. */
export interface OpenCounter {
  /**
   * Counts an exchange until it has ended, however it ends.
   * @throws {Problem} `rate-limit` when the client has as many open as it may
   */
  open(client: string, reply: FastifyReply): void;
}

/** @param max exchanges per client; 0 limits nothing */
export function createOpenCounter(max: number): OpenCounter {
  const counts = new Map<string, number>();
  return {
    open(client, { raw }) {
      const before = counts.get(client) ?? 0;
      if (max > 0 && before >= max) {
        throw new Problem(platformProblems.rateLimit, {
          detail: 'Er staan vanaf dit adres te veel verbindingen open.',
          headers: { 'retry-after': '30' },
        });
      }
      // The end of an exchange whose client has gone already is never told again.
      if (raw.destroyed) return;
      counts.set(client, before + 1);
      raw.once('close', () => {
        const left = (counts.get(client) ?? 1) - 1;
        if (left === 0) counts.delete(client);
        else counts.set(client, left);
      });
    },
  };
}
