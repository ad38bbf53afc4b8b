/** Correcting and deleting actions, of which only the last version is current. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import { textAt } from '../json-members.ts';
import { actiePath, EVERY, found, type Log, logChapter, NORMAL } from './log-case.ts';
import { contract, vng } from './sources.ts';
import { daysAgo, type Scope } from './subject.ts';

const PUT = 'PUT /verwerkingsacties/{actieId}';
const DELETE = 'DELETE /verwerkingsacties/{actieId}';

export const remove = (log: Log, actie: JsonObject, status = 204, as: Scope = 'delete:normal') =>
  log.expect(status, 'DELETE', actiePath(actie), { as });

export const change = (log: Log, actie: JsonObject, body: JsonObject, status = 200, as: Scope = 'update:normal') =>
  log.expect(status, 'PUT', actiePath(actie), { as, body });

export const CHANGES = logChapter('B-CHG', ['Wijzigen en verwijderen', 'Correcting and deleting'], {
  'B-CHG-01': {
    must: vng(PUT, 'overschreven met de gegevens in de body van de request'),
    nl: 'Een gewijzigde actie heeft de opgegeven waarden (F8316)',
    en: 'A changed action has the given values (F8316)',
    test: async (log) => {
      const actie = await log.kept('wijzigen');
      const body: JsonObject = { ...actie, actieNaam: 'Gewijzigde actie', gegevensbron: 'Andere bron' };
      await change(log, actie, body);
      const [now] = await log.list('wijzigen');
      const other = ['actieNaam', 'gegevensbron', 'systeem'].find((name) => now?.[name] !== body[name]);
      return other && 'it is not';
    },
  },
  'B-CHG-02': {
    // Part of an algorithm that "should" be applied.
    should: vng(PUT, 'Het attribuut `Tijdstip Registratie` wordt gevuld met de actuele datum/tijd'),
    nl: 'Een wijziging heeft een eigen `tijdstipRegistratie`',
    en: 'A change has its own `tijdstipRegistratie`',
    test: async (log) => {
      const actie = await log.kept('opnieuw-geregistreerd');
      const again = async (): Promise<boolean> => {
        const { json } = await change(log, actie, actie);
        return Date.parse(textAt(json, 'tijdstipRegistratie') ?? '') > Date.parse(String(actie.tijdstipRegistratie));
      };
      if (await again()) return undefined;
      // Two times may be in the same second, and a log may store whole seconds.
      await wait(1000);
      return (await again()) ? undefined : 'it is not later than the first';
    },
  },
  'B-CHG-03': {
    must: vng('GET /verwerkingsacties', 'alleen actuele niet vervallen versies geretourneerd'),
    nl: 'Alleen de laatste versie van een actie wordt gevonden',
    en: 'Only the latest version of an action is found',
    needs: ['B-CHG-01'],
    test: async (log) => {
      const actie = await log.kept('versies', { tijdstip: daysAgo(20) });
      await change(log, actie, { ...actie, tijdstip: daysAgo(2) });
      const all = await log.list('versies');
      if (all.length !== 1) return `${all.length} versions are in the list`;
      const old = { ...NORMAL, beginDatum: daysAgo(21).slice(0, 10), eindDatum: daysAgo(19).slice(0, 10) };
      return found(actie, await log.ids('versies', old), false);
    },
  },
  'B-CHG-04': {
    must: vng(
      PUT,
      'alle elementen van de verwerkingsactie verplicht … dan wordt er een HTTP 400 (Bad Request) foutmelding teruggegeven',
    ),
    nl: 'Een wijziging die een gevuld veld weglaat, geeft 400',
    en: 'A change that omits a field with a value gets 400',
    test: async (log) => {
      const actie = await log.kept('weglaten');
      for (const name of ['systeem', 'verwerkteObjecten', 'tijdstip'])
        await change(log, actie, { ...actie, [name]: undefined }, 400);
    },
  },
  'B-CHG-05': {
    open: vng(
      PUT,
      'alle elementen van de verwerkingsactie verplicht … Het verplicht zijn van deze velden is namelijk situatie-specifiek',
    ),
    nl: 'Wat er gebeurt als een leeg veld (`null`) ontbreekt: de tekst vereist alle elementen, maar veel gegenereerde clients laten lege velden weg',
    en: 'What happens when an empty field (`null`) is absent: the text requires all elements, but many generated clients omit empty ones',
    test: async (log) => {
      const actie = await log.kept('leeg-weglaten', { gegevensbron: null });
      const body = { ...actie, gegevensbron: undefined };
      return { seen: `status ${(await log.call('PUT', actiePath(actie), { as: 'update:normal', body })).status}` };
    },
  },
  'B-CHG-06': {
    open: vng(
      'PUT en B3891',
      'Het attribuut `Actie ID` wordt gevuld met een nieuw UUID … geïdentificeerd met behulp van de path parameter `actieId`',
    ),
    nl: 'Of een gewijzigde actie haar `actieId` houdt: het algoritme geeft een nieuwe, maar het adres blijft',
    en: 'Whether a changed action keeps its `actieId`: the algorithm assigns a new one, but the address stays',
    test: async (log) => {
      const actie = await log.kept('zelfde-id');
      const { status, json } = await log.call('PUT', actiePath(actie), { as: 'update:normal', body: actie });
      const same = textAt(json, 'actieId') === actie.actieId;
      return { seen: `status ${status}, ${same ? 'the same' : 'a new'} actieId` };
    },
  },
  'B-CHG-07': {
    must: vng(PUT, 'niet gematcht kan worden met een verwerkingsactie of … vervallen, dan … HTTP 400'),
    nl: 'Een onbekende of vervallen actie wijzigen geeft 400',
    en: 'Changing an unknown or deleted action gets 400',
    test: async (log) => {
      const actie = await log.store('vervallen-wijzigen');
      await remove(log, actie);
      for (const one of [actie, { ...actie, actieId: randomUUID() }]) await change(log, one, one, 400);
    },
  },
  'B-CHG-08': {
    must: vng(
      PUT,
      'Bij autorisatiescope `update:normal` moet de oorspronkelijke verwerkingsactie `Normaal` zijn en mag deze waarde niet worden gewijzigd. 403',
    ),
    nl: 'Met `update:normal` kan een actie niet vertrouwelijk worden',
    en: 'With `update:normal` an action does not become confidential',
    test: async (log) => {
      const actie = await log.kept('gewoon');
      await change(log, actie, { ...actie, vertrouwelijkheid: 'vertrouwelijk' }, 403);
    },
  },
  'B-CHG-09': {
    must: vng(PUT, 'maar niet in `Opgeheven`. 403'),
    nl: 'Een wijziging kan een actie niet `opgeheven` maken',
    en: 'A change cannot make an action `opgeheven`',
    test: async (log) => {
      const actie = await log.secret('geheim');
      await change(log, actie, { ...actie, vertrouwelijkheid: 'opgeheven' }, 403, 'update:confidential');
    },
  },
  'B-CHG-10': {
    must: vng('F3835', 'wijzigt een bestaande vertrouwelijke verwerkingsactie'),
    nl: 'Een vertrouwelijke actie kan wijzigen, en blijft vertrouwelijk (F3835)',
    en: 'A confidential action can be changed, and stays confidential (F3835)',
    test: async (log) => {
      const actie = await log.secret('geheim-wijzigen');
      const body = { ...actie, actieNaam: 'Gewijzigde actie' };
      await change(log, actie, body, 200, 'update:confidential');
      const query = { beperkteSet: 'false', vertrouwelijkheid: 'vertrouwelijk' };
      const [now] = await log.list('geheim-wijzigen', query, 'read:confidential');
      return now?.actieNaam === body.actieNaam ? undefined : 'it did not change';
    },
  },
  'B-CHG-11': {
    must: vng('F9906', 'markeert … als vervallen. Hierdoor zal deze niet meer geretourneerd worden'),
    nl: 'Een verwijderde actie staat in geen lijst meer (F9906)',
    en: 'A deleted action is no longer in any list (F9906)',
    test: async (log) => {
      const actie = await log.store('verwijderen');
      await remove(log, actie);
      return found(actie, await log.ids('verwijderen', EVERY, 'read:confidential'), false);
    },
  },
  'B-CHG-12': {
    must: vng('F2265', 'markeert de opgegeven vertrouwelijke verwerkingsactie als vervallen'),
    nl: 'Een verwijderde vertrouwelijke actie staat in geen lijst meer (F2265)',
    en: 'A deleted confidential action is no longer in any list (F2265)',
    test: async (log) => {
      const actie = await log.store('geheim-verwijderen', { vertrouwelijkheid: 'vertrouwelijk' });
      await remove(log, actie, 204, 'delete:confidential');
      return found(actie, await log.ids('geheim-verwijderen', EVERY, 'read:confidential'), false);
    },
  },
  'B-CHG-13': {
    must: vng(DELETE, 'Indien de verwerkingsactie niet wordt gevonden … status 400; vervallen … status 400'),
    nl: 'Een onbekende of al vervallen actie verwijderen geeft 400',
    en: 'Deleting an unknown or already deleted action gets 400',
    test: async (log) => {
      const actie = await log.store('tweemaal-verwijderen');
      await remove(log, actie);
      for (const one of [actie, { actieId: randomUUID() }]) await remove(log, one, 400);
    },
  },
  'B-CHG-14': {
    may: contract('IfMatch', 'De `ETag` van de versie die verandert. Is er een nieuwere, dan 412.'),
    nl: 'Een wijziging met de `ETag` van een oudere versie wordt geweigerd',
    en: 'A change with the `ETag` of an older version is refused',
    test: async (log) => {
      const actie = await log.kept('etag');
      const path = actiePath(actie);
      const put = (etag: string | undefined, status: number) =>
        log.expect(status, 'PUT', path, { as: 'update:normal', body: actie, headers: { 'if-match': etag } });
      const { headers } = await put(undefined, 200);
      if (headers.etag === undefined) return { skipped: 'the answers have no ETag' };
      await put(headers.etag, 200);
      await put(headers.etag, 412);
      return undefined;
    },
  },
  'B-CHG-15': {
    may: contract('IfNoneMatch', 'De `ETag` van wat de aanroeper al heeft. Is het nog hetzelfde, dan 304.'),
    nl: 'Een aanroeper met de laatste versie krijgt 304',
    en: 'A caller with the latest version gets 304',
    needs: ['B-QRY-13'],
    test: async (log) => {
      const path = actiePath(await log.kept('gewoon'));
      const { headers } = await log.get(path);
      if (headers.etag === undefined) return { skipped: 'the answer has no ETag' };
      await log.expect(304, 'GET', path, { as: 'read:normal', headers: { 'if-none-match': headers.etag } });
      return undefined;
    },
  },
});
