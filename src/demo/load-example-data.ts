import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Pool } from '../database/pool.ts';
import { loadModel } from '../gegevens/model/model.ts';
import { filterOf } from '../gegevens/model/selection.ts';
import { findOrganisations } from '../gegevens/store/find-leveringen.ts';
import { importFile } from '../gegevens/store/import-file.ts';
import { isRecord } from '../lib/json/json-value.ts';
import { systemClock } from '../lib/time.ts';
import { createLineValidator } from '../raadsfeed/writer/line-validator.ts';
import { publishLines } from '../raadsfeed/writer/publish-lines.ts';
import { createPublisher } from '../raadsfeed/writer/publisher.ts';
import type { OpenStoreHooks } from '../seams/store-hooks.ts';
import type { Config } from '../settings/read-config.ts';
import type { DemoClient, DemoFile } from './demo-client.ts';
import {
  persons,
  type Regel,
  raadsinformatie,
  raden,
  shvDelivery,
  type VoorbeeldActie,
  verwerkingsacties,
  verwerkingsactiviteiten,
  vsDelivery,
} from './example-data.ts';

/** The database of the demo, as a command opens it. */
export interface DemoDatabase extends Pick<OpenStoreHooks, 'proof'> {
  readonly config: Config;
  readonly pool: Pool;
  readonly signal: AbortSignal;
}

interface LoadOptions extends DemoDatabase {
  readonly client: DemoClient;
  readonly mounts: DemoFile['mounts'];
  /** Where the example files are left to look at. */
  readonly directory: string;
}

/** What each load did; 0 when it was all there. */
interface Loaded {
  readonly shv: number;
  readonly vs: number;
  readonly acties: number;
  readonly records: number;
}

/** Brings the example data in, the way real data come in; what is there already is left as it is. */
export async function loadExampleData(options: LoadOptions): Promise<Loaded> {
  const { areas } = options.config.server;
  await mkdir(options.directory, { recursive: true });
  return {
    shv: areas.includes('shv') ? await loadDelivery('shv', shvDelivery(), options) : 0,
    vs: areas.includes('vs') ? await loadDelivery('vs', vsDelivery(), options) : 0,
    acties: areas.includes('verwerkingenlog') ? await loadActies(options) : 0,
    records: areas.includes('raadsfeed') ? await loadFeed(options) : 0,
  };
}

async function loadDelivery(variant: 'shv' | 'vs', delivery: object, options: LoadOptions): Promise<number> {
  const { config, pool, directory, signal } = options;
  const path = join(directory, `${variant}-levering.json`);
  await writeFile(path, `${JSON.stringify(delivery, null, 2)}\n`);
  const { shvModel, vsModel } = config.gegevens;
  const model = loadModel(variant, variant === 'shv' ? shvModel : vsModel);
  const everything = filterOf(model.mapping, {});
  if ((await findOrganisations(pool, everything)).length > 0) return 0;
  const imported = await importFile(pool, { path, model, signal });
  return imported.delivery.leveringen.length;
}

async function loadActies({ client, mounts }: LoadOptions): Promise<number> {
  for (const { id, body } of verwerkingsactiviteiten()) await register(id, body);
  const logged = new Set<string>();
  for (const bsn of Object.values(persons)) {
    for (const { verwerkingId, tijdstip } of await actiesOf(bsn)) logged.add(`${verwerkingId} ${tijdstip}`);
  }
  const missing = verwerkingsacties().filter(
    ({ verwerkingId, tijdstip }) => !logged.has(`${verwerkingId} ${tijdstip}`),
  );
  for (const actie of missing) await log(actie);
  return missing.length;

  async function actiesOf(bsn: string): Promise<{ verwerkingId: string; tijdstip: string }[]> {
    const person = { objecttype: 'persoon', soortObjectId: 'BSN', objectId: bsn };
    const every = { vertrouwelijkheid__in: 'normaal,vertrouwelijk,opgeheven', limit: '1000' };
    const query = new URLSearchParams({ ...person, ...every });
    const { body } = await client.call('GET', `${mounts.verwerkingenlog}/verwerkingsacties?${query}`, {
      as: 'privacy-officer',
    });
    return (Array.isArray(body.results) ? body.results : []).filter(isRecord).map(({ verwerkingId, tijdstip }) => ({
      verwerkingId: String(verwerkingId),
      tijdstip: new Date(String(tijdstip)).toISOString(),
    }));
  }

  /** What a visitor made of an activity of the register stays as it is. */
  async function register(id: string, body: object): Promise<void> {
    const address = `${mounts.verwerkingenlog}/verwerkingsactiviteiten/${id}`;
    if ((await client.call('GET', address, { as: 'privacy-officer' })).status === 200) return;
    const { status, bytes } = await client.call('PUT', address, { as: 'privacy-officer', body });
    if (status !== 200 && status !== 201)
      throw new Error(`an example activity was refused: ${status} ${bytes.toString()}`);
  }

  async function log(actie: VoorbeeldActie): Promise<void> {
    const as = actie.vertrouwelijkheid === 'normaal' ? 'applicatie' : 'onderzoek';
    const { status, bytes } = await client.call('POST', `${mounts.verwerkingenlog}/verwerkingsacties`, {
      as,
      body: actie,
    });
    if (status !== 201) throw new Error(`an example action was refused: ${status} ${bytes.toString()}`);
  }
}

async function loadFeed(options: LoadOptions): Promise<number> {
  const { client, mounts, directory } = options;
  const lines = raadsinformatie();
  await writeFile(join(directory, 'raadsinformatie.ndjson'), asNdjson(lines));
  const { body } = await client.call('GET', `${mounts.raadsfeed}/`);
  // What was withdrawn must stay so: the lines are published once, in one transaction.
  const known = (Array.isArray(body.organisaties) ? body.organisaties : []).filter(isRecord);
  if (known.some(({ organisatiecode }) => organisatiecode === raden.stad.code)) return 0;
  return publish(options, lines);
}

/** Publishes lines as `koppelvlak feed publish` does; gives how many records that made. @throws {Error} when one is refused */
export async function publish(
  { pool, proof, signal }: Omit<DemoDatabase, 'config'>,
  lines: readonly Regel[],
): Promise<number> {
  const { recorded } = await publishLines(Readable.from([Buffer.from(asNdjson(lines))]), {
    validate: createLineValidator(),
    publisher: createPublisher({ pool, clock: systemClock, proof }),
    refused: (line, faults) => {
      throw new Error(`line ${line} of the example feed is refused: ${faults.join('; ')}`);
    },
    progress: () => {},
    signal,
  });
  return recorded;
}

function asNdjson(lines: readonly Regel[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
