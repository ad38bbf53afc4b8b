import { parseArgs } from 'node:util';
import { temporaryPostgres } from './support/databases.ts';
import { measureHistory } from './support/feed-history.ts';
import { measurePages } from './support/feed-pages.ts';
import { measurePublishing } from './support/feed-publishing.ts';
import { measureStreams } from './support/feed-streaming.ts';
import { createLoader } from './support/load.ts';

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'publishing,pages,history,streams' },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    records: { type: 'string', default: '20000' },
  },
});
const parts = values.parts.split(',');
const [seconds, rounds, records] = [values.seconds, values.rounds, values.records].map(Number);

await using postgres = await temporaryPostgres();
await using loader = await createLoader();
const options = { databaseUrl: postgres.url, loader, seconds: seconds ?? 1, rounds: rounds ?? 5 };
console.log(`${rounds} rounds of ${seconds} s, alternating`);
const needsRecords = ['publishing', 'pages', 'history'].some((part) => parts.includes(part));
if (needsRecords) await measurePublishing(postgres.url, postgres.dir, records ?? 0);
if (parts.includes('pages')) await measurePages(options);
if (parts.includes('history')) await measureHistory(options);
if (parts.includes('streams')) await measureStreams(postgres.url);
