/**
 * `migrations/released.json` holds the SHA-256 of every released migration, none of which may change. `node
 * scripts/released-migrations.ts` adds missing ones; so does a release.
 */
import { hash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LIST = 'migrations/released.json';

function currentHashes(root: string): Readonly<Record<string, string>> {
  const names = globSync('*.sql', { cwd: join(root, 'migrations') }).sort();
  return Object.fromEntries(names.map((name) => [name, hash('sha256', readFileSync(join(root, 'migrations', name)))]));
}

/** Released migrations that were changed or deleted. */
export function changedMigrations(root: string): string[] {
  const current = currentHashes(root);
  const released: object = JSON.parse(readFileSync(join(root, LIST), 'utf8'));
  return Object.entries(released).flatMap(([name, digest]) => (current[name] === digest ? [] : [name]));
}

/**
 * Adds the migrations that are not listed yet.
 * @throws Error when a released one has changed
 */
export function listMigrations(root: string): void {
  const changed = changedMigrations(root);
  if (changed.length > 0) throw new Error(`released migrations have changed: ${changed.join(', ')}`);
  writeFileSync(join(root, LIST), `${JSON.stringify(currentHashes(root), undefined, 2)}\n`);
}

if (import.meta.main) listMigrations(join(import.meta.dirname, '..'));
