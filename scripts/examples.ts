/**
 * Imports real example files into a running demo and checks that they come out unchanged: deliveries of both variants
 * (`DIR/gegevens/{shv,vs}-*.json`; then the equivalent table, where NAME.csv or NAME.xlsx is beside NAME.json, with
 * NAME.mapping.yaml) and council information (`DIR/raadsfeed/NAME.ndjson`, with its revision `NAME-update.ndjson`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { objectsIn } from '../conformance/json-members.ts';
import { isSameContent } from '../conformance/raadsfeed/same-content.ts';
import { createDemoClient, processingHeaders, readDemoFile } from '../src/demo/demo-client.ts';
import { checkMessage, signMessage } from '../src/demo/signed-message.ts';
import { followFeed } from '../src/demo/tour/tour-feed.ts';
import { Transcript } from '../src/demo/transcript.ts';
import { isRecord, type JsonObject } from '../src/lib/json/json-value.ts';
import { readConfig } from '../src/settings/read-config.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const RECORDS = { shv: 'schuldhulptrajecten', vs: 'vroegsignalen' } as const;

const directory = process.argv[2];
if (directory === undefined) {
  console.error('usage: npm run examples -- DIR   (a directory with gegevens/ and raadsfeed/, while the demo runs)');
  process.exit(2);
}
const { server } = readConfig(process.env, 'tool');
const file = await readDemoFile(resolve(server.home)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
const client = createDemoClient(file);
const transcript = new Transcript((text) => process.stdout.write(text));
const { key, chain, oin } = file.requester;
const identity = { key: readFileSync(key, 'utf8'), chain: readFileSync(chain, 'utf8') };

for (const variant of ['shv', 'vs'] as const) {
  transcript.section(`Deliveries of ${variant}`);
  for (const path of globSync(join(directory, 'gegevens', `${variant}-*.json`)).toSorted()) {
    const tables = ['csv', 'xlsx'].map((extension) => path.replace(/json$/, extension));
    for (const source of [path, ...tables.filter((each) => existsSync(each))])
      await transcript.part(`${basename(source)} was tried`, () => tryDelivery(variant, path, source));
  }
}
transcript.section('Council information');
for (const path of globSync(join(directory, 'raadsfeed', '*.ndjson')).toSorted()) {
  if (!path.endsWith('-update.ndjson')) await transcript.part(`${basename(path)} was tried`, () => tryFeed(path));
}
transcript.line();
transcript.line(`${transcript.passed} checks ok, ${transcript.failed} failed`);
if (transcript.failed > 0 || transcript.passed === 0) process.exitCode = 1;

/**
 * Runs `koppelvlak` on the demo's database and returns its result.
 * @throws {Error} with its output on failure
 */
function koppelvlak(...words: string[]): Record<string, unknown> {
  const env = { ...process.env, ...file.environment, DATABASE_URL: file.databaseUrl };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...words, '--json'], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`koppelvlak ${words.join(' ')}: ${stderr}${stdout}`);
  const result: unknown = JSON.parse(stdout);
  if (!isRecord(result)) throw new Error(`koppelvlak ${words.join(' ')} gave no result`);
  return result;
}

/** @param source the message at `path` itself, or an equivalent table */
async function tryDelivery(variant: 'shv' | 'vs', path: string, source: string): Promise<void> {
  const name = basename(source);
  const given: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isRecord(given)) throw new Error(`${name} is not a delivery`);
  const mapping = source === path ? [] : ['--mapping', path.replace(/json$/, 'mapping.yaml')];
  koppelvlak('gegevens', 'import', '--variant', variant, ...mapping, source);
  for (const levering of objectsIn(given, 'leveringen')) {
    const asked = nameOf(levering);
    const request = {
      aanleverperiodeStartdatum: given.startdatumLevering,
      aanleverperiodeEinddatum: given.einddatumLevering,
      aanleverende_organisatie: asked,
    };
    const body = Buffer.from(JSON.stringify(request));
    const headers = { ...processingHeaders(oin), ...(await signMessage(body, identity, 'body')) };
    const answer = await client.call('POST', `${file.mounts[variant]}/gegevens`, { as: 'statistiek', headers, body });
    transcript.check(`${name}: ${asked} is delivered (200)`, answer.status === 200, answer.bytes.toString());
    const checked = await checkMessage(answer.bytes, answer.headers, readFileSync(file.pki.root, 'utf8'));
    const isSigned = checked.digestMatches && checked.signatureHolds && checked.leadsToRoot;
    transcript.check(`${name}: ${asked}: digest, signature and chain hold`, isSigned);
    const delivered = objectsIn(answer.body.gegevens, 'leveringen');
    // An organisation that delivers for several municipalities has a levering for each.
    const own = objectsIn(given, 'leveringen').filter((one) => nameOf(one) === asked);
    const before = objectsIn(levering, RECORDS[variant]);
    const isThere = delivered.some((one) => isDeepStrictEqual(objectsIn(one, RECORDS[variant]), before));
    transcript.check(
      `${name}: ${asked}: the ${before.length} ${RECORDS[variant]} come back unchanged`,
      delivered.length === own.length && isThere,
    );
  }
}

function nameOf({ aanleverende_organisatie: organisation }: JsonObject): string {
  return isRecord(organisation) ? String(organisation['(Statutaire) Naam'] ?? organisation.naam) : '';
}

/** Publishes a file twice and then its revision; the number of new records each time follows from the files. */
async function tryFeed(path: string): Promise<void> {
  const update = path.replace(/\.ndjson$/, '-update.ndjson');
  const [first = [], revised = []] = [path, update].map((one) => readFileSync(one, 'utf8').trimEnd().split('\n'));
  const changed = revised.filter((line) => !first.includes(line)).length;
  const code = organisationOf(first[0] ?? '{}');
  const { raadsfeed } = file.mounts;
  const isKnown = (await followFeed(client, `${raadsfeed}/feed?organisatiecode=${code}`)).records.length > 0;

  const steps = [
    [path, 'published', isKnown ? changed : first.length],
    [path, 'published again', 0],
    [update, 'revised', changed],
  ] as const;
  for (const [source, what, expected] of steps) {
    const { lines, recorded, refused } = koppelvlak('feed', 'publish', source);
    transcript.check(
      `${basename(source)} ${what}: ${lines} lines, ${recorded} new`,
      recorded === expected && refused === 0,
      `${recorded} new instead of ${expected}`,
    );
  }
  const { records } = await followFeed(client, `${raadsfeed}/snapshot?organisatiecode=${code}`);
  const served = new Map(records.map(({ data }) => [isRecord(data) ? String(data.bronidentificatie) : '', data]));
  const isSame = revised.every((line) => {
    const { data }: Record<string, unknown> = JSON.parse(line);
    return isRecord(data) && isSameContent(served.get(String(data.bronidentificatie)), data);
  });
  transcript.check(`${code}: the snapshot holds all ${revised.length} resources as they were last published`, isSame);
}

function organisationOf(line: string): string {
  const { data }: Record<string, unknown> = JSON.parse(line);
  const organisatie = isRecord(data) && isRecord(data.organisatie) ? data.organisatie : {};
  return String(organisatie.gemeente ?? organisatie.provincie ?? organisatie.waterschap);
}
