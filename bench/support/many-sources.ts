/**
 * Many sources in one process, with their records generated before it reports ready, so that serving them costs little.
 */
import { createServer } from 'node:http';
import process from 'node:process';
import { contentHash } from '../../src/lib/feed/record.ts';
import { serveParent } from './children.ts';
import { listen } from './listen.ts';

const sources = Number(process.env.SOURCES ?? 300);
const perSource = Number(process.env.RECORDS ?? 1000);

/** Texts of records by source; number n is at index n - 1. */
const logs = Array.from({ length: sources }, (_, source) =>
  Array.from({ length: perSource }, (_, n) => recordText(source, n + 1)),
);

function code(source: number): string {
  return `gm${String(source + 1).padStart(4, '0')}`;
}

function recordText(source: number, number: number): string {
  const gemeente = code(source);
  const data = {
    bronidentificatie: `document-${number}`,
    dossiertype: 'informatieobject',
    organisatie: { gemeente, naam: `Gemeente ${source + 1}` },
    webpaginalink: `https://raad.example/${gemeente}/document/${number}`,
    titel: `Raadsvoorstel ${number} over de inrichting van de openbare ruimte en het onderhoud daarvan`,
    wooinformatiecategorie: 'c_db4862c3',
    datumingediend: '2026-01-08',
    bestandsurl: `https://raad.example/${gemeente}/bestand/${number}.pdf`,
    formaat: 'application/pdf',
    omvang: 100_000 + number,
    omschrijving: 'Voorstel aan de raad, met het advies van de commissie en de reactie van het college. '.repeat(3),
    vergaderingen: [{ bronidentificatie: `vergadering-${number % 50}` }],
    gewijzigdop: '2026-01-09T10:00:00+01:00',
  };
  return JSON.stringify({
    sequenceNumber: number,
    op: 'upsert',
    resourceType: 'Informatieobject',
    resource: { organisatiecode: gemeente, bronidentificatie: data.bronidentificatie },
    storedAt: '2026-01-09T09:00:00Z',
    contentHash: contentHash(data),
    gewijzigdOp: data.gewijzigdop,
    data,
  });
}

function answer(base: string, url: URL): string {
  const [, source = '', path = ''] = /^\/(\d+)(.*)$/.exec(url.pathname) ?? [];
  const log = logs[Number(source)] ?? [];
  const at = `${base}/${source}`;
  if (path === '') {
    const organisaties = [{ organisatiecode: code(Number(source)), naam: `Gemeente ${Number(source) + 1}` }];
    return JSON.stringify({ rol: 'bronhouder', organisaties, feedUrl: `${at}/feed`, snapshotUrl: `${at}/snapshot` });
  }
  const limit = Number(url.searchParams.get('limit') ?? 500);
  const after = Number(/^c(\d+)$/.exec(url.searchParams.get('cursor') ?? '')?.[1] ?? 0);
  const last = Math.min(log.length, after + limit);
  const records = log.slice(after, last).join(',');
  const more = last < log.length;
  if (path === '/feed')
    return `{"records":[${records}],"cursor":"c${last}","head":${log.length},"hasMore":${more},"next":null}`;
  return `{"records":[${records}],"feedCursor":"c${perSource}","cursor":${more ? `"c${last}"` : null},"hasMore":${more},"next":null}`;
}

const server = createServer((request, response) => {
  const body = answer(base, new URL(request.url ?? '/', base));
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=5' }).end(body);
});
const base = await listen(server);

await serveParent(
  async (message) => {
    const { add } = Object(message);
    if (typeof add === 'number') logs[add]?.push(recordText(add, (logs[add]?.length ?? 0) + 1));
    return { base, number: logs[Number(add)]?.length };
  },
  async () => {
    server.closeAllConnections();
    server.close();
  },
);
