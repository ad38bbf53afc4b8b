import type { FastifyInstance } from 'fastify';
import type { ProblemKind } from '../kernel/problem.ts';
import type { ReadinessCheck } from '../kernel/readiness.ts';

/** One of the national interfaces, ready to be mounted. */
export interface Area {
  readonly mounts: readonly {
    readonly prefix: string;
    /** Registers the routes; `app` is a scope of its own under the prefix. */
    readonly routes: (app: FastifyInstance) => Promise<void>;
  }[];
  /** Addresses that the area needs at the root of the host. */
  readonly root?: (app: FastifyInstance) => void;
  readonly problems: Readonly<Record<string, ProblemKind>>;
  readonly checks: readonly ReadinessCheck[];
  /** Starts work that goes on without requests; called once the server listens. */
  readonly start?: () => Promise<void>;
  /** Gives back what the area opened; called after the last request was answered. */
  readonly close: () => Promise<void>;
}
