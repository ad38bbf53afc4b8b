/** Our own requester, driven by lines of JSON, as anybody would write it for a requester in another language. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { callProgram } from '../../../test/support/program.ts';

interface Told {
  readonly url: string;
  readonly variant: string;
  readonly model: string;
  readonly body: Readonly<Record<string, string | number>>;
  readonly token: string;
  readonly key: string;
  readonly chain: string;
  readonly trust: string;
}

const OPTIONS: Readonly<Record<string, string>> = {
  aanleverperiodeStartdatum: '--start',
  aanleverperiodeEinddatum: '--end',
  pageSize: '--page-size',
};

async function ask(told: Told): Promise<object> {
  const dir = await mkdtemp(join(tmpdir(), 'eigen-afnemer-'));
  try {
    const token = join(dir, 'token');
    await writeFile(token, told.token);
    const order = Object.entries(told.body).flatMap(([name, value]) => [
      OPTIONS[name] ?? '--organisation',
      String(value),
    ]);
    const ended = await callProgram(
      [
        ...['gegevens', 'request', told.url, '--variant', told.variant, '--model', told.model],
        ...['--token-file', token, '--json', ...order],
      ],
      {
        GEGEVENS_SIGNING_KEY: told.key,
        GEGEVENS_SIGNING_CHAIN: told.chain,
        GEGEVENS_TRUST_ANCHORS: told.trust,
        GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
      },
    );
    if (ended.status !== 0) return { refused: ended.stderr.trim() };
    return { accepted: true, records: JSON.parse(ended.stdout).records };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await ask(JSON.parse(line)))}\n`);
