/** Confidentiality and retention of a whole processing, changed by new versions of its actions. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import { change, remove } from './changes.ts';
import { EVERY, found, idsIn, LIMITED, type Log, logChapter, NORMAL, verwerkingPath } from './log-case.ts';
import { contract, oneApi, vng } from './sources.ts';
import type { Scope } from './subject.ts';

const PATCH = 'PATCH /verwerkingsacties';
export const LIFTED_PERSON = 'verwerking-opgeheven';
const CONFIDENTIAL = { beperkteSet: 'false', vertrouwelijkheid: 'vertrouwelijk' };
const LIFTED = { beperkteSet: 'true', vertrouwelijkheid: 'opgeheven' };

const patch = (log: Log, actie: JsonObject, body: JsonObject, status = 204, as: Scope = 'update:confidential') =>
  log.expect(status, 'PATCH', verwerkingPath(actie), { as, body });

/** The ids in a person's lists of actions that were never confidential, with some and with all fields. */
const normalIds = async (log: Log, name: string): Promise<readonly unknown[]> => [
  ...(await log.ids(name, LIMITED)),
  ...(await log.ids(name, NORMAL)),
];

/** An action that was confidential and has been lifted. */
export async function lifted(log: Log): Promise<JsonObject> {
  const known = log.subject.kept.has(LIFTED_PERSON);
  const actie = await log.secret(LIFTED_PERSON);
  if (!known) await patch(log, actie, { vertrouwelijkheid: 'opgeheven' });
  return actie;
}

export const RETENTION = logChapter('B-CNF', ['Vertrouwelijkheid en bewaartermijn', 'Confidentiality and retention'], {
  'B-CNF-01': {
    must: vng('F9787', 'retourneert geen verwerkingsacties die vertrouwelijk zijn of waren'),
    nl: 'Een vertrouwelijke actie staat in geen lijst van niet-vertrouwelijke acties (F4086, F9787)',
    en: 'A confidential action is in no list of non-confidential actions (F4086, F9787)',
    test: async (log) => found(await log.secret('geheim'), await normalIds(log, 'geheim'), false),
  },
  'B-CNF-02': {
    must: vng('F0143', 'retourneert alleen verwerkingsacties die vertrouwelijk zijn of waren'),
    nl: 'Een bevoegde aanroeper vindt vertrouwelijke acties, en alleen die (F0143)',
    en: 'An authorised caller finds confidential actions, and only those (F0143)',
    test: async (log) =>
      found(await log.secret('geheim'), await log.ids('geheim', CONFIDENTIAL, 'read:confidential'), true) ??
      found(await log.kept('gewoon'), await log.ids('gewoon', CONFIDENTIAL, 'read:confidential'), false),
  },
  'B-CNF-03': {
    must: vng(PATCH, 'Alle verwerkingsacties met de opgegeven query parameter `verwerkingId` worden … aangepast'),
    nl: 'De vertrouwelijkheid van alle acties van de verwerking wijzigt (F2969)',
    en: 'The confidentiality of all actions of the processing changes (F2969)',
    test: async (log) => {
      const processing = await storeTwo(log, 'verwerking');
      await patch(log, processing, { vertrouwelijkheid: 'vertrouwelijk' });
      const now = await log.list('verwerking', EVERY, 'read:confidential');
      const states = now.map(({ vertrouwelijkheid }) => String(vertrouwelijkheid));
      return states.join() === 'vertrouwelijk,vertrouwelijk' ? undefined : `they are ${states.join(' and ')}`;
    },
  },
  'B-CNF-04': {
    must: vng('F2525', 'retourneert alleen verwerkingsacties waarvan de vertrouwelijkheid is opgeheven'),
    nl: 'Een opgeheven actie is te vinden als `opgeheven` (F2525)',
    en: 'A lifted action is found as `opgeheven` (F2525)',
    test: async (log) =>
      found(await lifted(log), await log.ids(LIFTED_PERSON, LIFTED, 'read:confidential'), true) ??
      found(await log.kept('gewoon'), await log.ids('gewoon', LIFTED, 'read:confidential'), false),
  },
  'B-CNF-05': {
    must: vng('F4086', 'alleen voorkomens … die niet vertrouwelijk zijn en dat ook nooit geweest zijn'),
    nl: 'Een actie die ooit vertrouwelijk was, telt niet als `normaal`, ook niet als de vertrouwelijkheid is opgeheven',
    en: 'An action that was once confidential does not count as `normaal`, even when it was lifted',
    needs: ['B-CNF-04'],
    test: async (log) => found(await lifted(log), await normalIds(log, LIFTED_PERSON), false),
  },
  'B-CNF-06': {
    must: vng('F9787', 'retourneert geen verwerkingsacties die vertrouwelijk zijn of waren'),
    nl: 'Een actie die ooit vertrouwelijk was en weer `normaal` is gemaakt, telt ook niet als `normaal`',
    en: 'An action that was once confidential and was made `normaal` again does not count as `normaal` either',
    test: async (log) => {
      const actie = await log.secret('was-geheim');
      await change(log, actie, { ...actie, vertrouwelijkheid: 'normaal' }, 200, 'update:confidential');
      return found(actie, await log.ids('was-geheim', NORMAL), false);
    },
  },
  'B-CNF-07': {
    must: oneApi('GET /verwerkingsacties', '`vertrouwelijkheid__in` … moeten voldoen aan één van deze waarden'),
    nl: '`vertrouwelijkheid__in` vindt acties met een van de waarden',
    en: '`vertrouwelijkheid__in` finds actions with any of the values',
    needs: ['B-CNF-02'],
    test: async (log) => {
      const ids = async (person: string, vertrouwelijkheid__in: string) =>
        log.ids(person, { beperkteSet: 'false', vertrouwelijkheid__in }, 'read:confidential');
      return (
        found(await log.secret('geheim'), await ids('geheim', 'vertrouwelijk,opgeheven'), true) ??
        found(await log.kept('gewoon'), await ids('gewoon', 'vertrouwelijk,opgeheven'), false) ??
        found(await log.kept('gewoon'), await ids('gewoon', 'vertrouwelijk,normaal'), true)
      );
    },
  },
  'B-CNF-08': {
    should: vng('OpenAPI', 'vertrouwelijkheid: Je kunt meerdere waarden tegelijk opgeven'),
    nl: '`vertrouwelijkheid` mag herhaald worden',
    en: '`vertrouwelijkheid` may be repeated',
    needs: ['B-CNF-02'],
    test: async (log) => {
      const actie = await log.secret('geheim');
      const repeated = 'vertrouwelijkheid=opgeheven&vertrouwelijkheid=vertrouwelijk&beperkteSet=false';
      const { json } = await log.get(`${log.listPath('geheim')}&${repeated}`, 'read:confidential');
      return found(actie, idsIn(json), true);
    },
  },
  'B-CNF-09': {
    must: vng(
      PATCH,
      'Bij autorisatiescope `update:normal` moet de vertrouwelijkheid van de oorspronkelijke verwerkingsactie `Normaal` zijn … 403',
    ),
    nl: 'Met `update:normal` wijzigt geen enkele actie van een verwerking met een vertrouwelijke actie',
    en: 'With `update:normal` a processing with a confidential action does not change, and none of its actions',
    test: async (log) => {
      const processing = await storeTwo(log, 'gemengd', { vertrouwelijkheid: 'vertrouwelijk' });
      await patch(log, processing, { bewaartermijn: 'P9D' }, 403, 'update:normal');
      const now = await log.list('gemengd', EVERY, 'read:confidential');
      return now.some(({ bewaartermijn }) => bewaartermijn === 'P9D') ? 'one was changed' : undefined;
    },
  },
  'B-CNF-10': {
    must: vng(
      'F4415',
      'wijzigt de bewaartermijn van alle acties die in het kader van de opgegeven verwerking gelogd zijn',
    ),
    nl: 'De bewaartermijn van alle acties van de verwerking wijzigt, en verder niets (F4415)',
    en: 'The retention period of all actions of the processing changes, and nothing else (F4415)',
    test: async (log) => {
      const processing = await storeTwo(log, 'termijn');
      await patch(log, processing, { bewaartermijn: 'P3D' }, 204, 'update:normal');
      const now = await log.list('termijn');
      if (now.length !== 2 || now.some(({ bewaartermijn }) => bewaartermijn !== 'P3D')) return 'not all were changed';
      const isOther = ({ actieNaam, vertrouwelijkheid }: JsonObject): boolean =>
        actieNaam !== 'Conformancetest' || vertrouwelijkheid !== 'normaal';
      return now.some(isOther) ? 'something else has changed' : undefined;
    },
  },
  'B-CNF-11': {
    must: vng(PATCH, 'Als de `verwerkingId` niet gematcht kan worden met een verwerkingsactie … HTTP 400'),
    nl: 'Een onbekende verwerking wijzigen geeft 400',
    en: 'Changing an unknown processing gets 400',
    test: async (log) => {
      await patch(log, { verwerkingId: randomUUID() }, { bewaartermijn: 'P3D' }, 400);
    },
  },
  'B-CNF-12': {
    must: vng(PATCH, 'of de gevonden verwerkingsactie blijkt te zijn vervallen … HTTP 400'),
    nl: 'Een verwerking waarvan alle acties vervallen zijn, wijzigen geeft 400',
    en: 'Changing a processing whose actions were all deleted gets 400',
    test: async (log) => {
      const actie = await log.store('vervallen-verwerking');
      await remove(log, actie);
      await patch(log, actie, { bewaartermijn: 'P3D' }, 400);
    },
  },
  'B-CNF-13': {
    may: contract('VerwerkingsactieWijziging', 'minProperties: 1, additionalProperties: false'),
    nl: 'Een wijziging zonder inhoud of met een ander veld geeft 400',
    en: 'A change without content or with another field gets 400',
    test: async (log) => {
      const actie = await log.kept('gewoon');
      for (const body of [{}, { bewaartermijn: 'P3D', actieNaam: 'Anders' }]) await patch(log, actie, body, 400);
    },
  },
  'B-CNF-14': {
    may: contract('getVerwerkingsacties', 'een bewaartermijn die voorbij is, verbergt niets'),
    nl: 'Een actie waarvan de bewaartermijn voorbij is, blijft vindbaar zolang zij bestaat',
    en: 'An action whose retention period has expired can be found as long as it exists',
    test: async (log) => {
      const actie = await log.kept('verstreken', { bewaartermijn: 'PT1H' });
      return found(actie, await log.ids('verstreken'), true);
    },
  },
});

/** Stores two actions of one processing. */
async function storeTwo(log: Log, name: string, other: JsonObject = {}): Promise<JsonObject> {
  const processing = { verwerkingId: randomUUID() };
  await log.store(name, processing);
  await log.store(name, { ...processing, ...other });
  return processing;
}
