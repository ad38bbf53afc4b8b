/** Sends signed requests and reads their answers to the end, without looking at them. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { loadPemKey } from '../../src/gegevens/jades/own-key.ts';
import { createSigner, plainStyles } from '../../src/gegevens/jades/sign.ts';

export interface SignedClient {
  /** @returns milliseconds until the last byte, and how many bytes there were */
  post(url: string, body: object, form: 'digest' | 'body'): Promise<{ readonly ms: number; readonly bytes: number }>;
  close(): void;
}

export function createSignedClient(key: string, chain: string, authorization: string): SignedClient {
  const own = loadPemKey({ key: readFileSync(key, 'utf8'), chain: readFileSync(chain, 'utf8') }, new Date());
  const signer = createSigner({ ...own, now: () => new Date() });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  return {
    async post(url, body, form) {
      const text = Buffer.from(JSON.stringify(body));
      const { digest, signature } = await signer.sign(text, plainStyles[form]);
      const headers = {
        'content-type': 'application/json',
        'content-length': text.length,
        authorization,
        digest,
        'nlgov-adr-payload-sig': signature,
      };
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
        outgoing.end(text);
      });
    },
    close: () => agent.destroy(),
  };
}
