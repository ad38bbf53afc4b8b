import { hash } from 'node:crypto';

/** Octets as text with a character for each: `hash` and `Buffer.write` are much slower with buffers. */
export type Octets = string;

export function octets(bytes: Uint8Array): Octets {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const SHORT_TEXT_BYTES = 4096;

/** Reused by every call: most texts fit, and no call needs it afterwards. */
const shortInner = Buffer.alloc(BLOCK_BYTES + SHORT_TEXT_BYTES, 0x36);
const outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES, 0x5c);

/** HMAC-SHA-256 (RFC 2104) in two hashes: `createHmac` takes more than three times as long, and every append makes several. @param key of 32 bytes */
export function hmacSha256(key: Octets, text: string, encoding: 'binary' | 'hex' = 'binary'): string {
  if (key.length !== HASH_BYTES) throw new TypeError(`a key has ${HASH_BYTES} bytes`);
  // A UTF-16 unit is three bytes of UTF-8 at most.
  const inner =
    text.length * 3 <= SHORT_TEXT_BYTES ? shortInner : Buffer.alloc(BLOCK_BYTES + Buffer.byteLength(text), 0x36);
  for (let place = 0; place < HASH_BYTES; place += 1) {
    const byte = key.charCodeAt(place);
    inner[place] = byte ^ 0x36;
    outer[place] = byte ^ 0x5c;
  }
  const length = BLOCK_BYTES + inner.write(text, BLOCK_BYTES);
  outer.write(hash('sha256', inner.subarray(0, length), 'binary'), BLOCK_BYTES, 'latin1');
  return hash('sha256', outer, encoding);
}
