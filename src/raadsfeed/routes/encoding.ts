import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { acceptedEncoding } from '../../http/negotiation.ts';

export type Encoding = 'zstd' | 'br' | 'gzip' | 'identity';

/** In the order that we prefer when the client has no preference: by what they cost. */
const PREFERRED = ['zstd', 'br', 'gzip'] as const;
/** Smaller bodies gain nothing. */
export const WORTH_COMPRESSING_BYTES = 1024;

/** The encoding to answer in (RFC 9110 12.5.3). When nothing of ours is welcome the answer is plain. */
export function chooseEncoding(accept: string | undefined): Encoding {
  return acceptedEncoding(accept, PREFERRED);
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
