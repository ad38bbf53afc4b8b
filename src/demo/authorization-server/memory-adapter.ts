import type { Adapter, AdapterPayload } from 'oidc-provider';

const maxEntries = 10_000;

/**
 * What the library wants to keep: with JWT access tokens and client credentials only the `jti` of client assertions, to
 * refuse a second use. In memory, bounded, and gone when the server stops.
 */
export function createMemoryAdapter(): Adapter {
  const entries = new Map<string, { payload: AdapterPayload; until: number }>();
  const find = async (id: string) => {
    const entry = entries.get(id);
    return entry !== undefined && entry.until > Date.now() ? entry.payload : undefined;
  };
  const none = async () => undefined;
  return {
    async upsert(id, payload, expiresIn) {
      entries.delete(id);
      entries.set(id, {
        payload,
        until: expiresIn === undefined ? Number.POSITIVE_INFINITY : Date.now() + expiresIn * 1000,
      });
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break;
        entries.delete(oldest);
      }
    },
    find,
    findByUid: none,
    findByUserCode: none,
    async consume(id) {
      const entry = entries.get(id);
      if (entry !== undefined) entry.payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      entries.delete(id);
    },
    revokeByGrantId: none,
  };
}
