/** Every GemeenteOplossingen and Parlaeus address numbers from 1, so another address must not continue where a removed one ended. */
import { expect, it } from 'vitest';
import { toSource } from '../../../src/raadsfeed/aggregator/commands/source-list.ts';
import { findSource, removeSource, saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { pool, serviceDatabase } from '../service-database.ts';
import { publishLines } from '../support.ts';

const OLD = 'go:https://oud.example/api';
const NEW = 'go:https://nieuw.example/api';

serviceDatabase();

const sourceOf = (adres: string, replaces?: string) =>
  toSource({ adres, organisaties: ['gm0406'], naam: 'Gemeente Huizen', replaces });
const add = (adres: string, replaces?: string) => saveSources(pool, [sourceOf(adres, replaces)]);
async function remove(adres: string): Promise<void> {
  await removeSource(pool, (await findSource(pool, adres))?.id ?? 0);
}

it('is refused while the feed has items numbered by the removed address, unless it is the same system', async () => {
  await add(OLD);
  await remove(OLD);
  // Nothing was published that it could replace.
  await add(NEW);
  await remove(NEW);
  await add(OLD);
  const organisatie = { gemeente: 'gm0406', naam: 'Gemeente Huizen' };
  const data = { bronidentificatie: 'go-meeting-11', dossiertype: 'vergadering', organisatie, naam: 'Raad' };
  await publishLines(pool, [{ op: 'upsert', resourceType: 'Vergadering', data }]);
  await pool.query(`update raadsfeed.organisaties set herkomst_soort = 'leveranciers-api'`);
  await remove(OLD);
  await expect(add(NEW)).rejects.toThrow(
    /removed go:https:\/\/oud.example\/api .*--replaces go:https:\/\/oud.example\/api/,
  );
  await expect(add(NEW, 'go:https://elders.example/api')).rejects.toThrow('--replaces go:https://oud.example/api');
  await add(OLD);
  await remove(OLD);
  await add(NEW, OLD);
  await remove(NEW);
  await expect(add(OLD)).rejects.toThrow('--replaces go:https://nieuw.example/api');
  // Identifiers of other suppliers are the same everywhere.
  await add('notubiz:281');
});

it('only concerns suppliers whose addresses number independently', () => {
  expect(() => sourceOf('notubiz:281', OLD)).toThrow('--replaces is for go: and parlaeus:');
});
