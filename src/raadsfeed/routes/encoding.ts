import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { readWeights } from '../../http/weighted-list.ts';

export type Encoding = 'zstd' | 'br' | 'gzip' | 'identity';

/** In the order that we prefer when the client has no preference: by what they cost. */
const PREFERRED = ['zstd', 'br', 'gzip'] as const;
/** Smaller bodies gain nothing. */
export const WORTH_COMPRESSING_BYTES = 1024;

/** Clients send the same few values over and over. */
const chosen = new Map<string, Encoding>();
const REMEMBERED = 1000;

/** The encoding to answer in (RFC 9110 12.5.3). When nothing of ours is welcome the answer is plain. */
export function chooseEncoding(accept: string | undefined): Encoding {
  if (accept === undefined || accept === '') return 'identity';
  let encoding = chosen.get(accept);
  if (encoding === undefined) {
    encoding = weigh(accept);
    if (chosen.size < REMEMBERED) chosen.set(accept, encoding);
  }
  return encoding;
}

function weigh(accept: string): Encoding {
  const weights = new Map(readWeights(accept).map(({ name, weight }) => [name, weight]));
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  let best: Encoding = 'identity';
  // Plain is always allowed, but anything asked for by name goes before it.
  let bestWeight = weights.get('identity') ?? 0;
  for (const name of PREFERRED) {
    const weight = weightOf(name);
    if (weight > 0 && (weight > bestWeight || (best === 'identity' && weight >= bestWeight))) {
      best = name;
      bestWeight = weight;
    }
  }
  return best;
}

const compressors = {
  zstd: (bytes: Buffer) => promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 5 }),
} as const;

/** Compresses on a thread of its own: the event loop goes on. */
export function compress(bytes: Buffer, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  return compressors[encoding](bytes);
}
