import { randomUUID } from 'node:crypto';
import { isRecord, type JsonObject, valueAt } from '../../src/lib/json/json-value.ts';
import { isUuid } from '../../src/lib/patterns.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { differing, isActie, type Log, logChapter, storingCall } from './log-case.ts';
import { vng } from './sources.ts';
import { daysAgo, objectOf } from './subject.ts';

const POST = 'POST /verwerkingsacties';
/** Clocks differ. */
const MOST_APART_MS = 300_000;
const NAMED = ['actieNaam', 'handelingNaam', 'verwerkingNaam', 'systeem', 'gebruiker', 'gegevensbron'];

export const LOGGING = logChapter('B-LOG', ['Vastleggen', 'Logging'], {
  'B-LOG-01': {
    must: vng('F7446', 'De functie maakt een niet vertrouwelijke verwerkingsactie in het verwerkingenlog'),
    nl: 'Een niet-vertrouwelijke actie wordt vastgelegd (F7446)',
    en: 'A non-confidential action is stored (F7446)',
    needs: [],
    test: async (log) => {
      await log.expect(201, ...log.storing('eerste'));
    },
  },
  'B-LOG-02': {
    must: vng(POST, 'Het element `actieId` is gevuld met een nieuwe UUID'),
    nl: 'Elke actie krijgt een eigen `actieId`, een UUID',
    en: 'Each action gets its own `actieId`, a UUID',
    test: async (log) => {
      const [one, other] = [await log.kept('gewoon'), await log.kept('tweede')].map(({ actieId }) => actieId);
      if (!isUuid(one)) return 'it is not a UUID';
      return one === other ? 'two actions have the same' : undefined;
    },
  },
  'B-LOG-03': {
    must: vng(POST, 'Het element `url` is gevuld met een URL-referentie naar de aangemaakte verwerkingsactie'),
    nl: '`url` en `Location` zijn het adres van de actie',
    en: '`url` and `Location` are the address of the action',
    test: async (log) => {
      const { json, headers, url: asked } = await log.call(...log.storing('adres'));
      const { url, actieId } = isRecord(json) ? json : {};
      if (typeof url !== 'string' || !URL.canParse(url) || !url.endsWith(`/verwerkingsacties/${String(actieId)}`))
        return `\`url\` is ${String(url)}`;
      if (URL.parse(headers.location ?? '', asked)?.href === new URL(url).href) return undefined;
      return `\`Location\` is ${headers.location ?? '(none)'}`;
    },
  },
  'B-LOG-04': {
    must: vng(POST, 'Het element `tijdstipRegistratie` is gevuld met de actuele datum/tijd'),
    nl: '`tijdstipRegistratie` is het tijdstip van vastleggen',
    en: '`tijdstipRegistratie` is the time of recording',
    test: async (log) => {
      const { json } = await log.call(...log.storing('registratie'));
      const at = Date.parse(textAt(json, 'tijdstipRegistratie') ?? '');
      return Math.abs(Date.now() - at) < MOST_APART_MS ? undefined : 'it is not the current time';
    },
  },
  'B-LOG-05': {
    must: vng(POST, 'Alle overige elementen zijn gevuld met dezelfde waarden die in de request zijn meegegeven'),
    nl: 'Het antwoord heeft elk veld met de opgegeven waarde',
    en: 'The answer has each field with the given value',
    test: async (log) => {
      const sent = log.whole('zelfde');
      const { json } = await log.call(...storingCall(sent));
      const { tijdstip: _, verwerkteObjecten: __, ...fields } = sent;
      const other = differing(fields, json);
      if (other.length > 0) return `not the same: ${other.join(', ')}`;
      const [object] = objectsIn(json, 'verwerkteObjecten');
      const [given = {}] = objectsIn(sent, 'verwerkteObjecten');
      const [differs] = differing(given, object);
      return differs && `not the same: verwerkteObjecten.0.${differs}`;
    },
  },
  'B-LOG-06': {
    must: vng(POST, 'Elementen die niet zijn meegegeven … wel teruggegeven in de respons, maar dan met lege waarden'),
    nl: 'Een veld dat niet is opgegeven, staat leeg in het antwoord',
    en: 'A field that was not given is empty in the answer',
    test: async (log) => {
      const bare = { vertrouwelijkheid: 'normaal', tijdstip: daysAgo(3), verwerkteObjecten: [] };
      const json = await log.stored(...storingCall(bare));
      const missing = NAMED.filter((name) => json[name] !== null && json[name] !== '');
      return missing.length === 0 ? undefined : `absent or not empty: ${missing.join(', ')}`;
    },
  },
  'B-LOG-07': {
    must: vng('Moment', 'De provider rekent tijdzones niet om en laat deze dus zoals ze aangeleverd zijn'),
    nl: '`tijdstip` houdt de tijdzone waarin het is opgegeven',
    en: '`tijdstip` keeps the time zone in which it was given',
    test: async (log) => {
      const given = daysAgo(3).replace('Z', '+05:30');
      const { json } = await log.call(...log.storing('tijdzone', { tijdstip: given }));
      const tijdstip = String(valueAt(json, ['tijdstip']));
      if (tijdstip.endsWith('+05:30') && Date.parse(tijdstip) === Date.parse(given)) return undefined;
      return `${given} became ${tijdstip}`;
    },
  },
  'B-LOG-08': {
    must: vng('F6624', 'maakt een verwerkingsactie in het verwerkingenlog en markeert deze als vertrouwelijk'),
    nl: 'Een vertrouwelijke actie wordt vastgelegd (F6624)',
    en: 'A confidential action is stored (F6624)',
    test: async (log) => {
      const { vertrouwelijkheid } = await log.stored(...log.storing('geheim', { vertrouwelijkheid: 'vertrouwelijk' }));
      return vertrouwelijkheid === 'vertrouwelijk' ? undefined : 'it is not confidential';
    },
  },
  'B-LOG-09': {
    must: vng(POST, 'Het element `vertrouwelijkheid` mag nooit de waarde `Opgeheven` hebben. 403'),
    nl: 'Een nieuwe actie kan met geen enkele scope `opgeheven` zijn',
    en: 'A new action cannot be `opgeheven`, whatever the scope',
    test: async (log) => {
      for (const as of ['create:normal', 'create:confidential'] as const)
        await log.expect(403, ...log.storing('opgeheven', { vertrouwelijkheid: 'opgeheven' }, { as }));
    },
  },
  'B-LOG-10': {
    open: vng('F7446', '`"Normaal"` (F7446) … `normaal` (OpenAPI)'),
    nl: 'Of `vertrouwelijkheid` met een hoofdletter mag, zoals in de functies maar niet in het OpenAPI-document',
    en: 'Whether `vertrouwelijkheid` may be capitalised, as in the functions but not in the OpenAPI document',
    test: async (log) => {
      const { status, json } = await log.call(...log.storing('hoofdletter', { vertrouwelijkheid: 'Normaal' }));
      return {
        seen: isActie(status, json) ? `answered as ${String(json.vertrouwelijkheid)}` : `status ${status}`,
      };
    },
  },
  'B-LOG-11': {
    should: vng('OpenAPI', 'VerwerktObject: required `url`, `verwerktObjectId`'),
    nl: 'Elk verwerkt object krijgt een eigen `verwerktObjectId` en `url`',
    en: 'Each processed object gets its own `verwerktObjectId` and `url`',
    test: async (log) => {
      const objects = objectsIn(await keptOfTwo(log), 'verwerkteObjecten');
      const ids = new Set(objects.map(({ verwerktObjectId }) => verwerktObjectId));
      if (objects.length !== 2) return `two were given, and ${objects.length} came back`;
      if (ids.size !== 2 || ![...ids].every(isUuid)) return 'the ids are not two UUIDs';
      return objects.every(({ url }) => URL.canParse(String(url))) ? undefined : 'one has no address';
    },
  },
  'B-LOG-12': {
    should: vng('OpenAPI', 'url, actieId, tijdstipRegistratie: readOnly'),
    nl: 'Alleen-lezenvelden mogen in het verzoek staan, en worden genegeerd',
    en: 'Read-only fields may be sent, and are ignored',
    test: async (log) => {
      const actieId = randomUUID();
      const own = { actieId, url: 'https://conformance.example/eigen', tijdstipRegistratie: '2001-01-01T00:00:00Z' };
      const { actieId: given, tijdstipRegistratie } = await log.stored(...log.storing('eigen', own));
      if (given !== actieId && tijdstipRegistratie !== own.tijdstipRegistratie) return undefined;
      return 'the log stored them';
    },
  },
  'B-LOG-13': {
    must: vng(POST, 'Het element `actieId` is gevuld'),
    nl: 'De aanroeper krijgt een vastgelegde actie terug met een `actieId`',
    en: 'A stored action is returned with an `actieId`',
    needs: [],
    test: async (log) => {
      await log.stored(...log.storing('eerste'));
    },
  },
});

export function keptOfTwo(log: Log): Promise<JsonObject> {
  return log.kept('samen', { verwerkteObjecten: ['samen', 'ander'].map((name) => objectOf(log.person(name))) });
}
