/**
 * Runs the suites of the two sides against each other: one plays, the other judges. The expected outcome of each case is in `outcomes/`;
 * `vitest -u` rewrites it.
 */
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { parsePemCertificates } from '../../src/lib/jades/certificate.ts';
import { createGuardedFetch } from '../../src/lib/outbound/guarded-fetch.ts';
import { createClient } from '../client.ts';
import { makeStrangers } from '../gegevens/strangers.ts';
import { readSubject } from '../gegevens/subject.ts';
import { GEGEVENS } from '../gegevens/suite.ts';
import { openStage } from '../raadsfeed-consumer/played-feed.ts';
import { makeKeys } from '../requester/keys.ts';
import { startSuppliers } from '../requester/suppliers.ts';
import { type CaseResult, runSuite } from '../run-suite.ts';
import { readTrust } from '../signature/trust.ts';
import { runRaadsfeed, WAITING } from './run-raadsfeed.ts';

async function expectOutcomes(results: readonly CaseResult[], file: string): Promise<void> {
  const lines = results.map(({ id, outcome, reason }) =>
    [id, outcome, ...(reason === undefined ? [] : [reason.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1')])].join(' '),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`outcomes/${file}`);
}

it('judges as a reader the feed played for consumers: each case as before', async () => {
  const stage = await openStage(0);
  const feed = stage.open();
  for (const id of ['a', 'b', 'c']) feed.upsert(id);
  feed.upsert('a', { titel: 'Gewijzigd' });
  feed.delete('b');
  feed.redact('c');
  const results = await runRaadsfeed(feed.url, (id) => !WAITING.includes(id));
  await stage.close();
  await expectOutcomes(results, 'raadsfeed-and-played-feed.txt');
});

it('judges as an office the supplier played for requesters: each case as before', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'elkaar-'));
  const keys = await makeKeys(dir);
  const model = loadModel('shv');
  const suppliers = await startSuppliers({ keys, model, port: 0, token: 'proefsleutel', mostRequests: 1000 });
  const url = suppliers.addressOf('pages');
  const { signal } = new AbortController();
  const token = async () => 'proefsleutel';
  const client = createClient({ subject: url, rate: 100_000, signal, tokens: { read: token } });
  const network = createGuardedFetch({ allowPrivate: true });
  const [key, chain, anchors] = await Promise.all(
    [keys.requester.key, keys.requester.chain, keys.root].map((file) => readFile(file, 'utf8')),
  );
  const x5c = parsePemCertificates(chain ?? '').map(({ der }) => der.toString('base64'));
  const identity = { key: createPrivateKey(key ?? ''), x5c };
  const subject = await readSubject(
    {
      url,
      model,
      otherModels: [],
      token,
      tokenHeader: 'authorization',
      expired: undefined,
      revoked: undefined,
      identity,
      strangers: makeStrangers(identity),
      trust: readTrust({ anchors: anchors ?? '', at: new Date(), fetch: network.fetch, signal }),
    },
    client,
  );
  const results = await runSuite({ chapters: GEGEVENS.chapters, subject, isWanted: () => true, signal });
  await Promise.all([suppliers.close(), keys.close(), client.close(), network.close()]);
  await rm(dir, { recursive: true });
  await expectOutcomes(results, 'gegevens-and-played-supplier.txt');
});
