import type { components } from '../contracts/raadsfeed.ts';

/** A feed that a register knows: only where it is, nothing of its content. */
export type RegisterFeed = components['schemas']['RegisterFeed'];

/** What `GET /register` lists. */
export interface Register {
  /** The first `limit` feeds after an address of a service document, in the order of those addresses. */
  list(after: string, limit: number, organisatiecode: string | undefined): Promise<readonly RegisterFeed[]>;
}
