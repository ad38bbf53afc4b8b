/** Optional features of a log: idempotent requests, inspection by citizens, a register of processing activities. */
import { randomUUID } from 'node:crypto';
import { type JsonObject, valueAt } from '../../src/lib/json/json-value.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { LIFTED_PERSON, lifted } from './confidentiality.ts';
import { EVERY, isActie, type Log, logChapter } from './log-case.ts';
import { LEFT_OUT } from './querying.ts';
import { contract, vng } from './sources.ts';
import type { Scope } from './subject.ts';

const NOT_OFFERED = [404, 405, 501];
const READ = 'GET /verwerkte-objecten';

/** The processed objects of a person that this run wrote. */
async function objects(log: Log, name: string, as: Scope = 'read:normal', headers = {}) {
  const path = log.listPath(name, {}, '/verwerkte-objecten');
  const { status, json } = await log.call('GET', path, { as, headers });
  if (NOT_OFFERED.includes(status)) return undefined;
  return objectsIn(json, 'results').filter((one) =>
    textAt(one, 'verwerkingsactie', 'verwerkingNaam')?.includes(log.subject.run),
  );
}
const ofActie = (found: readonly JsonObject[], { actieId }: JsonObject): JsonObject | undefined =>
  found.find((one) => valueAt(one, ['verwerkingsactie', 'actieId']) === actieId);

const activityOf = (log: Log, vertrouwelijkheid: string): [path: string, body: JsonObject] => [
  `/verwerkingsactiviteiten/${log.subject.activity}`,
  {
    naam: `Conformancetest ${log.subject.run}`,
    verantwoordelijkeOrganisatie: '00000099000000001000',
    doel: 'Testen of dit log voldoet',
    grondslag: 'Publieke taak',
    vertrouwelijkheid,
  },
];

export const EXTRAS = logChapter('B-EXT', ['Functies die een log kan aanbieden', 'Optional functions of a log'], {
  'B-EXT-01': {
    may: contract('Conflict', 'Dezelfde `Idempotency-Key` is al gebruikt met een andere body.'),
    nl: 'Een `Idempotency-Key` met een andere body geeft 409',
    en: 'An `Idempotency-Key` with a different body gets 409',
    test: async (log) => {
      const headers = { 'idempotency-key': `cf-${log.subject.run}-1` };
      const post = (wishes: JsonObject) => log.call(...log.storing('herhaald', wishes, { headers }));
      const first = await post({});
      const { status, json } = await post({ actieNaam: 'Iets anders' });
      if (isActie(first.status, first.json) && isActie(status, json))
        return { skipped: 'Idempotency-Key is not offered' };
      return status === 409 ? undefined : `the answer has status ${status}`;
    },
  },
  'B-EXT-02': {
    may: contract('Idempotency-Key', 'geeft 24 uur lang hetzelfde antwoord en geen tweede actie'),
    nl: 'Hetzelfde verzoek met dezelfde `Idempotency-Key` maakt geen tweede actie',
    en: 'The same request with the same `Idempotency-Key` creates no second action',
    needs: ['B-EXT-01'],
    test: async (log) => {
      const headers = { 'idempotency-key': `cf-${log.subject.run}-2` };
      const call = log.storing('zelfde-sleutel', {}, { headers });
      const [first, second] = [await log.stored(...call), await log.stored(...call)];
      if (first.actieId !== second.actieId) return 'the answers have different ids';
      const { length } = await log.list('zelfde-sleutel');
      return length === 1 ? undefined : `${length} actions are in the list`;
    },
  },
  'B-EXT-03': {
    may: vng(READ, 'alleen verwerkte objecten … niet geretourneerd: `systeem`, `gebruiker` en `gegevensbron`'),
    nl: 'De inzage toont de verwerkingen van een persoon, met de beperkte set velden',
    en: 'Inspection shows the processings of a person, with the limited set of fields',
    test: async (log) => {
      const actie = await log.kept('gewoon');
      const all = await objects(log, 'gewoon');
      if (all === undefined) return { skipped: 'verwerkte-objecten is not offered' };
      const object = ofActie(all, actie);
      if (object === undefined) return 'the action is missing';
      if (object.objectId !== log.person('gewoon')) return 'it is about another person';
      const shown = LEFT_OUT.filter((name) => textAt(object, 'verwerkingsactie', name) !== undefined);
      return shown.length === 0 ? undefined : `it has ${shown.join(', ')}`;
    },
  },
  'B-EXT-04': {
    may: vng(READ, 'verwerkte objecten waarvan de verwerkingsactie niet vertrouwelijk is'),
    nl: 'De inzage toont geen vertrouwelijke acties',
    en: 'Inspection shows no confidential actions',
    needs: ['B-EXT-03'],
    test: async (log) => {
      const actie = await log.secret('geheim');
      for (const as of ['read:normal', 'read:confidential'] as const) {
        const all = await objects(log, 'geheim', as);
        if (ofActie(all ?? [], actie) !== undefined) return `with ${as} it does`;
      }
      return undefined;
    },
  },
  'B-EXT-05': {
    may: contract(
      'getVerwerktObject',
      'Geeft één verwerkt object met zijn actie. Onbekend, vervallen of vertrouwelijk: 404',
    ),
    nl: 'Eén verwerkt object is op te vragen met zijn id; een vertrouwelijk of onbekend object geeft 404',
    en: 'A processed object can be requested by its id; a confidential or unknown one gets 404',
    needs: ['B-EXT-03'],
    test: async (log) => {
      const get = (id: unknown, status: number) => log.get(`/verwerkte-objecten/${String(id)}`, 'read:normal', status);
      const [known] = objectsIn(await log.kept('gewoon'), 'verwerkteObjecten');
      const [secret] = objectsIn(await log.secret('geheim'), 'verwerkteObjecten');
      const { json } = await get(known?.verwerktObjectId, 200);
      if (textAt(json, 'objectId') !== log.person('gewoon')) return 'it is a different one';
      for (const id of [secret?.verwerktObjectId, randomUUID()]) await get(id, 404);
      return undefined;
    },
  },
  'B-EXT-06': {
    should: vng(
      `${READ}; B9177`,
      'dient de bevraging van het log te loggen … Het UUID van de verwerking in het attribuut Verwerking ID afnemer',
    ),
    nl: 'Inzage wordt zelf vastgelegd, met de verwerking van de aanroeper',
    en: "Inspection itself is logged, with the caller's processing",
    needs: ['B-EXT-03'],
    test: async (log) => {
      const verwerkingId = randomUUID();
      await log.kept('bekeken');
      await objects(log, 'bekeken', 'read:normal', { VerwerkingId: verwerkingId });
      const { json } = await log.get(log.listPath('bekeken', EVERY), 'read:confidential');
      return objectsIn(json, 'results').some(({ verwerkingIdAfnemer }) => verwerkingIdAfnemer === verwerkingId)
        ? undefined
        : 'the log has no entry with that `verwerkingIdAfnemer`';
    },
  },
  'B-EXT-07': {
    may: contract(
      'putVerwerkingsactiviteit',
      'Neemt de verwerkingsactiviteit op onder dit kenmerk (201) of vervangt haar (200).',
    ),
    nl: 'In het register is een verwerkingsactiviteit op te nemen en te vervangen',
    en: 'A processing activity can be added to the register and replaced',
    test: async (log) => {
      const [path, body] = activityOf(log, 'normaal');
      const { status } = await log.call('PUT', path, { as: 'register:write', body });
      if (NOT_OFFERED.includes(status)) return { skipped: 'the register is not offered' };
      if (status !== 201) return `the answer has status ${status} instead of 201`;
      await log.expect(200, 'PUT', path, { as: 'register:write', body: { ...body, doel: 'Iets anders' } });
      const { json } = await log.get(path);
      return textAt(json, 'doel') === 'Iets anders' ? undefined : 'it was not replaced';
    },
  },
  'B-EXT-08': {
    may: contract('getVerwerkingsactiviteit', 'vertrouwelijk en zonder `read:confidential` gevraagd: 404'),
    nl: 'Alleen een bevoegde aanroeper ziet een vertrouwelijke verwerkingsactiviteit',
    en: 'Only an authorised caller sees a confidential processing activity',
    needs: ['B-EXT-07'],
    test: async (log) => {
      const [path, body] = activityOf(log, 'vertrouwelijk');
      await log.expect(200, 'PUT', path, { as: 'register:write', body });
      await log.get(path, 'read:confidential');
      await log.get(path, 'read:normal', 404);
    },
  },
  'B-EXT-09': {
    may: contract('security', 'register:write: Het register van verwerkingsactiviteiten bijhouden'),
    nl: 'Het register wijzigen kan alleen met de scope daarvoor',
    en: 'Changing the register requires its scope',
    needs: ['B-EXT-07'],
    test: async (log) => {
      const [path, body] = activityOf(log, 'normaal');
      for (const as of ['update:confidential', 'read:confidential'] as const) {
        await log.expect(403, 'PUT', path, { as, body });
        await log.expect(403, 'DELETE', path, { as });
      }
    },
  },
  'B-EXT-10': {
    may: contract(
      'deleteVerwerkingsactiviteit',
      'Verwijdert de verwerkingsactiviteit uit het register. Onbekend: 404.',
    ),
    nl: 'Een verwijderde verwerkingsactiviteit staat niet meer in het register',
    en: 'A deleted processing activity is no longer in the register',
    needs: ['B-EXT-08', 'B-EXT-09'],
    test: async (log) => {
      const [path] = activityOf(log, 'normaal');
      await log.expect(204, 'DELETE', path, { as: 'register:write' });
      await log.get(path, 'read:confidential', 404);
      await log.expect(404, 'DELETE', path, { as: 'register:write' });
    },
  },
  'B-EXT-11': {
    may: vng(READ, 'niet vertrouwelijk is of waarvan de vertrouwelijkheid van is opgeheven'),
    nl: 'Wie vertrouwelijke acties mag zien, ziet bij inzage ook opgeheven acties; een ander niet',
    en: 'A caller that may see confidential actions also sees lifted ones on inspection; others do not',
    needs: ['B-EXT-03', 'B-CNF-04'],
    test: async (log) => {
      const actie = await lifted(log);
      const sees = async (as: Scope) => ofActie((await objects(log, LIFTED_PERSON, as)) ?? [], actie) !== undefined;
      if (!(await sees('read:confidential'))) return 'with read:confidential it is not shown';
      return (await sees('read:normal')) ? 'with read:normal it is shown' : undefined;
    },
  },
});
