/** Sends signed requests and reads their answers to the end, unchecked. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { loadPemKey } from '../../src/lib/jades/own-key.ts';
import { createSigner, PLAIN_STYLES } from '../../src/lib/jades/signature.ts';

/** A request as it goes out. */
export interface SignedRequest {
  readonly headers: Record<string, string | number>;
  readonly body: Buffer;
}

/** Milliseconds until the last byte, and the number of bytes. */
export interface Taken {
  readonly ms: number;
  readonly bytes: number;
}

export interface SignedClient {
  sign(body: object, form: 'digest' | 'body'): Promise<SignedRequest>;
  send(url: string, request: SignedRequest): Promise<Taken>;
  /** Signs and sends. */
  post(url: string, body: object, form: 'digest' | 'body'): Promise<Taken>;
  close(): void;
}

export function createSignedClient(key: string, chain: string, authorization: string): SignedClient {
  const own = loadPemKey({ key: readFileSync(key, 'utf8'), chain: readFileSync(chain, 'utf8') }, new Date());
  const signer = createSigner({ ...own, now: () => new Date() });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const client: SignedClient = {
    async sign(value, form) {
      const body = Buffer.from(JSON.stringify(value));
      const { digest, signature } = await signer.sign(body, PLAIN_STYLES[form]);
      const headers = {
        'content-type': 'application/json',
        'content-length': body.length,
        authorization,
        digest,
        'nlgov-adr-payload-sig': signature,
      };
      return { headers, body };
    },
    async send(url, { headers, body }) {
      const started = performance.now();
      return await new Promise((resolve, reject) => {
        const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
          let bytes = 0;
          incoming.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
          });
          incoming.on('error', reject);
          incoming.on('end', () => {
            if (incoming.statusCode === 200) resolve({ ms: performance.now() - started, bytes });
            else reject(new Error(`status ${incoming.statusCode}`));
          });
        });
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    },
    post: async (url, value, form) => client.send(url, await client.sign(value, form)),
    close: () => agent.destroy(),
  };
  return client;
}
