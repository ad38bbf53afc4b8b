/** Hashes of 64 bits, by which persons and records are recognised within one check. They are made under a key that ends with it. */
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { hashId } from '../../../gegevens/import/identifiers.ts';
import { isRecord } from '../../../lib/json/json-value.ts';

export interface Digest {
  readonly low: number;
  readonly high: number;
}

/** Names of members that are kept with their hashes: more, and longer ones, than any model has. */
const MAX_NAMES = 1000;
const MAX_NAME_LENGTH = 100;

export class Digester {
  readonly #key = createSecretKey(randomBytes(32));
  readonly #seed = randomBytes(4).readInt32LE();
  readonly #names = new Map<string, Digest>();

  /** Of a short text that may be of a person. */
  text(text: string): Digest {
    const bytes = createHmac('sha256', this.#key).update(text).digest();
    return { low: bytes.readInt32LE(0), high: bytes.readInt32LE(4) };
  }

  /** Of a parsed JSON value; the order of members does not matter. */
  value(value: unknown): Digest {
    if (Array.isArray(value)) {
      let [low, high] = [this.#seed, value.length];
      for (const item of value) {
        const digest = this.value(item);
        low = mix(low, digest.low);
        high = mix(high, digest.high);
      }
      return { low, high };
    }
    if (isRecord(value)) {
      let [low, high] = [~this.#seed, 0];
      for (const name in value) {
        const [member, digest] = [this.#name(name), this.value(value[name])];
        low = (low + mix(member.low, digest.low)) | 0;
        high = (high + mix(member.high, digest.high)) | 0;
      }
      return { low, high };
    }
    const { low, high } = hashId(typeof value === 'string' ? value : `\u0000${String(value)}`);
    return { low: mix(this.#seed, low), high: mix(this.#seed, high) };
  }

  #name(name: string): Digest {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const digest = hashId(name);
    if (this.#names.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH) this.#names.set(name, digest);
    return digest;
  }
}

/** Depends on the order of both; each bit of either changes about half of the result. */
function mix(a: number, b: number): number {
  let mixed = Math.imul(a ^ (a >>> 15), 0x2c1b3c6d) + Math.imul(b ^ (b >>> 13), 0x297a2d39);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x85ebca6b);
  return mixed ^ (mixed >>> 16);
}
