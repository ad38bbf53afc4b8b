/** Floor: a bare server that reads the rows of a page with `pg`, joins their text and sends it. */
import { createServer } from 'node:http';
import process from 'node:process';
import pg from 'pg';
import { cpuMs, serveParent } from '../support/children.ts';
import { listen } from '../support/listen.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const server = createServer(async (request, response) => {
  if (stopping) return response.destroy();
  const after = Number(request.url?.slice(1));
  const { rows } = await pool.query({
    name: 'rows',
    text: 'select record_prefix as prefix, record_suffix as suffix from raadsfeed.texts where sequence_number > $1 and sequence_number <= $2 order by sequence_number',
    values: [after, after + 500],
  });
  const records = rows.map(({ prefix, suffix }) => `${prefix}http://127.0.0.1:8080/ori/v1${suffix}`);
  const bytes = Buffer.from(`{"records":[${records.join(',')}]}`);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
});
const url = await listen(server);

let stopping = false;
await serveParent(
  async () => ({ cpuMs: cpuMs(), url }),
  async () => {
    stopping = true;
    server.closeAllConnections();
    await pool.end();
  },
);
