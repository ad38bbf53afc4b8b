/** Floor of an answer: texts from Postgres, their SHA-256 and one signature; and the same bytes from memory. */
import { createHash, type KeyObject, constants as rsa, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import pg from 'pg';

const signed = promisify((input: Buffer, key: KeyObject, done: (error: Error | null, made: Buffer) => void) =>
  sign('sha256', input, { key, padding: rsa.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, done),
);

export function floorAnswers(url: string, variant: string, key: KeyObject) {
  const pool = new pg.Pool({ connectionString: url });
  let memory: Buffer = Buffer.alloc(0);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/cold') {
      const { rows } = await pool.query({
        text: `select text from gegevens.records join gegevens.leveringen l using (import_id)
          where l.variant = $1 and levering = l.number order by import_id, levering, kind, records.number`,
        values: [variant],
        rowMode: 'array',
      });
      memory = Buffer.from(rows.join(','));
    }
    const digest = createHash('sha256').update(memory).digest('base64');
    const signature = await signed(Buffer.from(`digest: SHA-256=${digest}`), key);
    const headers = { 'content-length': memory.length, digest, signature: signature.toString('base64url') };
    response.writeHead(200, headers).end(memory);
  };
  return { answer, close: () => pool.end() };
}
