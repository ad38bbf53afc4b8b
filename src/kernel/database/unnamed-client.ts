import pg from 'pg';

/** A client that ignores the names of statements: behind a transaction pooler the next use may meet another server process. */
export class UnnamedClient extends pg.Client {}

Object.defineProperty(UnnamedClient.prototype, 'query', {
  value(this: pg.Client, query: unknown, ...rest: unknown[]) {
    const unnamed = isNamed(query) ? { ...query, name: undefined } : query;
    return Reflect.apply(pg.Client.prototype.query, this, [unnamed, ...rest]);
  },
});

function isNamed(query: unknown): query is { name: unknown; text: string } {
  // A Submittable (COPY, cursor) must stay the object it is.
  return typeof query === 'object' && query !== null && 'name' in query && !('submit' in query);
}
