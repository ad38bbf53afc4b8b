import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { Party } from '../../../src/lib/authority/authority.ts';
import { loadPemKey } from '../../../src/lib/jades/own-key.ts';
import type { SignatureStyle } from '../../../src/lib/jades/signature.ts';
import { createSigner, PLAIN_STYLES, type Signer } from '../../../src/lib/jades/signature.ts';

/** An answer with its exact bytes. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Headers by name; a list repeats the header. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Sends exactly these headers and bytes; repeated headers stay separate. */
export function send(url: string, method: string, headers: RawHeaders, body?: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const given = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : [...value]] as const],
    );
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const outgoing = request(url, { method, headers: { ...length, ...Object.fromEntries(given) } }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const received = new Headers();
        for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
          for (const value of values) received.append(name, value);
        }
        resolve({ status: incoming.statusCode ?? 0, headers: received, bytes, text: bytes.toString() });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export interface Requester {
  readonly signer: Signer;
  /** The two headers for a body. */
  sign(body: string | Buffer, style?: SignatureStyle): Promise<{ digest: string; 'nlgov-adr-payload-sig': string }>;
}

/** A signer with the key of one of the authority's parties. */
export function createRequester(party: Pick<Party, 'key' | 'chain'>): Requester {
  const own = loadPemKey(
    { key: readFileSync(party.key, 'utf8'), chain: readFileSync(party.chain, 'utf8') },
    new Date(),
  );
  const signer = createSigner({
    key: createPrivateKey(readFileSync(party.key)),
    chain: own.chain,
    kid: own.kid,
    now: () => new Date(),
  });
  return {
    signer,
    async sign(body, style = PLAIN_STYLES.digest) {
      const { digest, signature } = await signer.sign(Buffer.from(body), style);
      return { digest, 'nlgov-adr-payload-sig': signature };
    },
  };
}
