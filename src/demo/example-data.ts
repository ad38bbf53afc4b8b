/** The example data of `examples/demo`. Its organisations and persons do not exist: codes and numbers are outside the assigned ranges. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFeedPublisher, type Outcome } from '../client/raadsfeed.ts';
import type { Pool } from '../database/pool.ts';
import { filterOf } from '../gegevens/model/selection.ts';
import { importFile } from '../gegevens/store/import-file.ts';
import { findOrganisations } from '../gegevens/store/read-leveringen.ts';
import { loadModel } from '../lib/exchange-model/model.ts';
import { isRecord, type JsonObject } from '../lib/json/json-value.ts';
import type { Config } from '../settings/read-config.ts';
import { type DemoClient, type DemoFile, recordsOf } from './demo-client.ts';
import { asIfThisWeek, firstStart } from './example-days.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/demo');

export const examplesIn = (home: string): string => join(home, 'voorbeelden');

export const period = { start: '2026-01-01', end: '2026-03-31' } as const;

/** Product and version of the deliveries, as the statistics office asks. */
export const leverancierscode = 'Voorbeeldpakket 1.0';

/** Citizen service numbers for tests: they pass the eleven test and belong to nobody. */
export const persons = { eerste: '999990019', tweede: '999991905' } as const;

export const uitvoerder = '00000099000000003000';
export const organisation = 'Gemeente Voorbeeldstad';

export const raden = ['gm9901', 'ws9901'] as const;

/** The lines of the feed in their original order. @param directory with the example files; absent: as written */
export const raadsinformatie = (directory = EXAMPLES): Promise<JsonObject[]> => readLines(directory, 'raadsinformatie');

export async function voorbeeldActie(): Promise<JsonObject> {
  const [example] = await readLines(EXAMPLES, 'verwerkingsacties');
  const now = { verwerkingId: randomUUID(), tijdstip: new Date().toISOString(), bewaartermijn: 'P1Y' };
  return { ...example, ...now, systeem: 'Rondleiding', gebruiker: 'demo' };
}

interface LoadOptions {
  readonly config: Config;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  readonly client: DemoClient;
  readonly file: DemoFile;
  readonly directory: string;
}

interface Loaded {
  readonly shv: number;
  readonly vs: number;
  readonly acties: number;
  readonly records: number;
}

/** Loads the example data the way real data are loaded; existing data stay unchanged. */
export async function loadExampleData(options: LoadOptions): Promise<Loaded> {
  const { areas } = options.config.server;
  await copyExamples(options.directory, await firstStart(options.config.server.home));
  return {
    shv: areas.includes('shv') ? await loadDelivery('shv', options) : 0,
    vs: areas.includes('vs') ? await loadDelivery('vs', options) : 0,
    acties: areas.includes('verwerkingenlog') ? await loadActies(options) : 0,
    records: areas.includes('raadsfeed') ? await loadFeed(options) : 0,
  };
}

/** Existing files stay: their days are those of the loaded data. */
async function copyExamples(directory: string, now: Date): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const name of await readdir(EXAMPLES)) {
    if (existsSync(join(directory, name))) continue;
    const text = await readFile(join(EXAMPLES, name), 'utf8');
    // Deliveries belong to the quarter that the tour requests.
    await writeFile(join(directory, name), name.endsWith('.ndjson') ? asIfThisWeek(text, now) : text);
  }
}

async function loadDelivery(variant: 'shv' | 'vs', { config, pool, directory, signal }: LoadOptions): Promise<number> {
  const { shvModel, vsModel } = config.gegevens;
  const model = loadModel(variant, variant === 'shv' ? shvModel : vsModel);
  if ((await findOrganisations(pool, filterOf(model.mapping, {}))).length > 0) return 0;
  const path = join(directory, `${variant}-levering.json`);
  return (await importFile(pool, { path, model, signal })).delivery.leveringen.length;
}

/** The activities come last: once they are registered, the actions are there. */
async function loadActies({ client, file, directory }: LoadOptions): Promise<number> {
  const log = file.mounts.verwerkingenlog;
  const activities = await readLines(directory, 'verwerkingsactiviteiten');
  const known = await client.call('GET', `${log}/verwerkingsactiviteiten/${activities.at(-1)?.id}`, {
    as: 'privacy-officer',
  });
  if (known.status === 200) return 0;
  const acties = await readLines(directory, 'verwerkingsacties');
  for (const body of acties) {
    const as = body.vertrouwelijkheid === 'normaal' ? 'applicatie' : 'onderzoek';
    const { status, bytes } = await client.call('POST', `${log}/verwerkingsacties`, { as, body });
    if (status !== 201) throw new Error(`an example action was refused: ${status} ${bytes.toString()}`);
  }
  for (const { id, body } of activities) {
    const { status, bytes } = await client.call('PUT', `${log}/verwerkingsactiviteiten/${id}`, {
      as: 'privacy-officer',
      body,
    });
    if (status > 201) throw new Error(`an example activity was refused: ${status} ${bytes.toString()}`);
  }
  return acties.length;
}

async function loadFeed({ client, file, directory }: LoadOptions): Promise<number> {
  const { body } = await client.call('GET', `${file.mounts.raadsfeed}/`);
  // Withdrawn records must stay withdrawn: the lines are published once, in one transaction.
  if (recordsOf(body.organisaties).some(({ organisatiecode }) => organisatiecode === raden[0])) return 0;
  return (await publish(file, await raadsinformatie(directory))).filter((outcome) => outcome !== 'no-op').length;
}

/** Publishes lines as another application would: through the package's exports. */
export async function publish(
  { databaseUrl, environment: { PROOF_SEALING_KEY: sealingKey } }: DemoFile,
  lines: readonly object[],
): Promise<Outcome[]> {
  const application = createFeedPublisher({ databaseUrl, ...(sealingKey === undefined ? {} : { sealingKey }) });
  try {
    return await application.publish(lines);
  } finally {
    await application.close();
  }
}

async function readLines(directory: string, name: string): Promise<JsonObject[]> {
  const lines = (await readFile(join(directory, `${name}.ndjson`), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(isRecord);
}
