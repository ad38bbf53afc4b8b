import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/**
 * `contentHash` of a resource: SHA-256 over its canonical JSON (RFC 8785).
 * @throws {TypeError} when it has no canonical form
 */
export function contentHash(data: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(data))}`;
}
