import { randomUUID } from 'node:crypto';
import { valueAt } from '../../src/lib/json/json-value.ts';
import { objectsIn } from '../json-members.ts';
import { actiePath, differing, found, idsIn, LIMITED, logChapter, NORMAL } from './log-case.ts';
import { keptOfTwo } from './logging.ts';
import { contract, oneApi, vng } from './sources.ts';
import { daysAgo, KIND } from './subject.ts';

const GET = 'GET /verwerkingsacties';
/** The fields that the limited set lacks. */
export const LEFT_OUT = ['systeem', 'gebruiker', 'gegevensbron'];

export const QUERYING = logChapter('B-QRY', ['Opvragen', 'Querying'], {
  'B-QRY-01': {
    must: vng('F9787', 'retourneert alle verwerkingsacties die over de opgegeven persoon gelogd zijn'),
    nl: 'De acties over een persoon zijn te vinden (F9787)',
    en: 'The actions about a person are found (F9787)',
    test: async (log) => found(await log.kept('gewoon'), await log.ids('gewoon'), true),
  },
  'B-QRY-02': {
    must: vng(GET, 'Alleen de verwerkingsacties waarbij een verwerkt object matcht … worden geretourneerd'),
    nl: 'Acties over anderen worden niet gevonden',
    en: 'Actions about others are not found',
    needs: ['B-QRY-01'],
    test: async (log) => found(await log.kept('tweede'), await log.ids('gewoon'), false),
  },
  'B-QRY-03': {
    must: oneApi(GET, 'alleen de verwerkte objecten geretourneerd waarbij de gezochte persoon betrokken is'),
    nl: 'Bij een actie over meer personen bevat het antwoord alleen de gezochte persoon',
    en: 'For an action about several persons the answer contains only the requested person',
    test: async (log) => {
      await keptOfTwo(log);
      const [actie] = await log.list('samen');
      if (actie === undefined) return 'the action is not in the list';
      return objectsIn(actie, 'verwerkteObjecten').every(({ objectId }) => objectId === log.person('samen'))
        ? undefined
        : 'another person is in the answer';
    },
  },
  'B-QRY-04': {
    must: vng(GET, 'groter of gelijk aan `beginDatum`, kleiner dan de `eindDatum`'),
    nl: '`beginDatum` telt mee, `eindDatum` niet',
    en: '`beginDatum` is included, `eindDatum` is not',
    needs: ['B-QRY-01'],
    test: async (log) => {
      // Far from midnight in any time zone.
      const noon = `${daysAgo(5).slice(0, 10)}T12:00:00Z`;
      const actie = await log.kept('periode', { tijdstip: noon });
      const ids = (begin: number, end: number) =>
        log.ids('periode', {
          ...NORMAL,
          beginDatum: daysAgo(begin).slice(0, 10),
          eindDatum: daysAgo(end).slice(0, 10),
        });
      if (!(await ids(5, 4)).includes(actie.actieId)) return 'the day of `beginDatum` is not included';
      if ((await ids(6, 5)).includes(actie.actieId)) return 'the day of `eindDatum` is included';
      return (await ids(4, 3)).includes(actie.actieId) ? 'an action before `beginDatum` is included' : undefined;
    },
  },
  'B-QRY-05': {
    must: vng(
      GET,
      'Indien de zoekparameter `verwerkingsactiviteitId` is opgegeven … alleen de verwerkingsacties die voldoen aan die waarde',
    ),
    nl: '`verwerkingsactiviteitId` beperkt het resultaat tot de acties van die activiteit',
    en: '`verwerkingsactiviteitId` limits the result to the actions of that activity',
    needs: ['B-QRY-01'],
    test: async (log) => {
      const actie = await log.kept('gewoon');
      const ids = (verwerkingsactiviteitId: string) => log.ids('gewoon', { ...NORMAL, verwerkingsactiviteitId });
      return found(actie, await ids(log.subject.activity), true) ?? found(actie, await ids(randomUUID()), false);
    },
  },
  'B-QRY-06': {
    must: oneApi(GET, '`beperkteSet=true` … niet geretourneerd: `systeem`, `gebruiker` en `gegevensbron`'),
    nl: 'De beperkte set bevat geen `systeem`, `gebruiker` of `gegevensbron`',
    en: 'The limited set has no `systeem`, `gebruiker` or `gegevensbron`',
    test: async (log) => {
      await log.kept('gewoon');
      const [actie] = await log.list('gewoon', LIMITED, 'read:restricted');
      if (actie === undefined) return 'the action is not in the list';
      const shown = LEFT_OUT.filter((name) => actie[name] !== undefined && actie[name] !== null);
      return shown.length === 0 ? undefined : `the answer has ${shown.join(', ')}`;
    },
  },
  'B-QRY-07': {
    must: vng('F9787', 'De functie retourneert van die verwerkingsacties alle attributen'),
    nl: 'Alle velden zijn op te vragen zoals ze zijn vastgelegd',
    en: 'All fields can be requested as they were stored',
    needs: ['B-QRY-01'],
    test: async (log) => {
      const sent = await log.kept('gewoon');
      const actie = (await log.list('gewoon')).find(({ actieId }) => actieId === sent.actieId);
      const { url: _, verwerkteObjecten: __, ...fields } = sent;
      const other = differing(fields, actie);
      return other.length === 0 ? undefined : `not as stored: ${other.join(', ')}`;
    },
  },
  'B-QRY-08': {
    should: oneApi('OpenAPI', 'beperkteSet: default: true'),
    nl: 'Zonder `beperkteSet` is het antwoord de beperkte set',
    en: 'Without `beperkteSet` the answer is the limited set',
    needs: ['B-QRY-06'],
    test: async (log) => {
      await log.kept('gewoon');
      const [actie] = await log.list('gewoon', { vertrouwelijkheid: 'normaal' });
      return LEFT_OUT.some((name) => typeof actie?.[name] === 'string') ? 'it is not the limited set' : undefined;
    },
  },
  'B-QRY-09': {
    should: oneApi('OpenAPI', 'vertrouwelijkheid: default: Normaal'),
    nl: 'Zonder `vertrouwelijkheid` bevat het antwoord geen vertrouwelijke acties',
    en: 'Without `vertrouwelijkheid` the answer has no confidential actions',
    test: async (log) => {
      const actie = await log.secret('geheim');
      return found(actie, await log.ids('geheim', { beperkteSet: 'true' }, 'read:confidential'), false);
    },
  },
  'B-QRY-10': {
    must: vng('OpenAPI', 'objecttype, soortObjectId, objectId: required: true'),
    nl: '`objecttype`, `soortObjectId` en `objectId` zijn verplicht',
    en: '`objecttype`, `soortObjectId` and `objectId` are required',
    test: async (log) => {
      const person = { objecttype: 'persoon', soortObjectId: KIND, objectId: log.person('gewoon') };
      for (const name of Object.keys(person)) {
        const query = new URLSearchParams({ ...person, ...NORMAL });
        query.delete(name);
        await log.get(`/verwerkingsacties?${query}`, 'read:normal', 400);
      }
    },
  },
  'B-QRY-11': {
    open: oneApi('OpenAPI', 'objecttype enum: `Persoon` (één API) … `persoon` (0.9.0)'),
    nl: 'Of `objecttype` met een hoofdletter mag, zoals in de vorm met één API en de voorbeelden van 0.9.0, maar niet in het OpenAPI-document van 0.9.0',
    en: 'Whether `objecttype` may be capitalised, as in the single-API version and the examples of 0.9.0, but not in the OpenAPI document of 0.9.0',
    test: async (log) => {
      const path = log.listPath('gewoon', { ...NORMAL, objecttype: 'Persoon' });
      const { status, json } = await log.call('GET', path, { as: 'read:normal' });
      return { seen: `status ${status}${status === 200 ? `, ${idsIn(json).length} actions` : ''}` };
    },
  },
  'B-QRY-12': {
    may: contract('getVerwerkingsacties', 'de nieuwste eerst'),
    nl: 'De nieuwste actie staat voorop',
    en: 'The newest action comes first',
    needs: ['B-QRY-01'],
    test: async (log) => {
      for (const days of [9, 7, 8]) await log.store('volgorde', { tijdstip: daysAgo(days) });
      const times = (await log.list('volgorde')).map(({ tijdstip }) => Date.parse(String(tijdstip)));
      if (times.every((time, i) => i === 0 || time <= (times[i - 1] ?? 0)) && times.length === 3) return undefined;
      return `${times.length} actions, not from new to old`;
    },
  },
  'B-QRY-13': {
    must: vng('OpenAPI', 'GET /verwerkingsacties/{actieId}'),
    nl: 'Een actie is op te vragen met haar `actieId`',
    en: 'An action can be requested by its `actieId`',
    test: async (log) => {
      const actie = await log.kept('gewoon');
      const { json } = await log.get(actiePath(actie));
      const same = ['actieId', 'systeem'].every((name) => valueAt(json, [name]) === actie[name]);
      return same ? undefined : 'it is a different action, or lacks fields';
    },
  },
  'B-QRY-14': {
    may: contract('getVerwerkingsactie', 'Onbekend of vervallen: 404'),
    nl: 'Een onbekende actie opvragen geeft 404',
    en: 'Requesting an unknown action gets 404',
    needs: ['B-QRY-13'],
    test: async (log) => {
      await log.get(actiePath({ actieId: randomUUID() }), 'read:normal', 404);
    },
  },
  'B-QRY-15': {
    may: contract('getVerwerkingsactie', 'ook een actie die met het token in geen enkele vorm is op te vragen'),
    nl: 'Een aanroeper die een vertrouwelijke actie niet mag zien, krijgt 404 en geen 403, als bij een onbekende actie',
    en: 'A caller that may not see a confidential action gets 404, not 403, as for an unknown one',
    needs: ['B-QRY-13'],
    test: async (log) => {
      const actie = await log.secret('geheim');
      await log.get(actiePath(actie), 'read:normal', 404);
    },
  },
  'B-QRY-16': {
    may: contract(
      'getVerwerkingsactie',
      'Met alleen `read:restricted` moeten … een persoon in de actie noemen, anders 404',
    ),
    nl: 'Met `read:restricted` is een actie alleen te zien als de aanroeper een persoon erin noemt',
    en: 'With `read:restricted` an action is seen only by a caller that names a person in it',
    needs: ['B-QRY-13'],
    test: async (log) => {
      const path = actiePath(await log.kept('gewoon'));
      const named = (name: string): string => log.listPath(name, {}, path);
      await log.get(named('gewoon'), 'read:restricted');
      for (const wrong of [path, named('tweede')]) await log.get(wrong, 'read:restricted', 404);
    },
  },
});
