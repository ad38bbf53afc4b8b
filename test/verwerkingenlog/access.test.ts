/** Walks every cell of the access matrix over HTTP: function, scope, current confidentiality, past confidentiality. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, EVERY, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL_READ = ['read:restricted', 'read:normal', 'read:confidential'] as const;
const WRITE_ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];

/** An action's current confidentiality, and whether it was ever anything but `normaal`. */
const STATES = [
  { now: 'normaal', ever: false, category: 'normaal' },
  { now: 'normaal', ever: true, category: 'vertrouwelijk' },
  { now: 'vertrouwelijk', ever: true, category: 'vertrouwelijk' },
  { now: 'opgeheven', ever: true, category: 'opgeheven' },
] as const;
type State = (typeof STATES)[number];

let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

/** Brings an action into a state, with all scopes; returns its body and address. */
async function inState({ now, ever }: State, person = newPerson()) {
  const vertrouwelijkheid = ever && now !== 'opgeheven' ? 'vertrouwelijk' : 'normaal';
  const body = actie(person, { vertrouwelijkheid });
  const { actieId } = actieIn(await log.call(WRITE_ALL, 'POST', '/verwerkingsacties', body));
  if (now === 'normaal' && ever) {
    const put = { ...body, vertrouwelijkheid: 'normaal' };
    expect((await log.call(WRITE_ALL, 'PUT', `/verwerkingsacties/${actieId}`, put)).status).toBe(200);
  }
  if (now === 'opgeheven') {
    const path = `/verwerkingsacties?verwerkingId=${body.verwerkingId}`;
    expect((await log.call(WRITE_ALL, 'PATCH', path, { vertrouwelijkheid: 'opgeheven' })).status).toBe(204);
  }
  return { actieId, body, person };
}

async function stateOf(actieId: string): Promise<string | undefined> {
  const path = `/verwerkingsacties/${actieId}?beperkteSet=false`;
  const answer = await log.call(['read:confidential'], 'GET', path, undefined, HEADERS);
  return answer.status === 200 ? `${actieIn(answer).vertrouwelijkheid} ${answer.headers.get('etag')}` : undefined;
}

describe('POST', () => {
  it.each([
    ['create:normal', 'normaal', 201],
    ['create:normal', 'vertrouwelijk', 403],
    ['create:normal', 'opgeheven', 403],
    ['create:confidential', 'normaal', 201],
    ['create:confidential', 'vertrouwelijk', 201],
    ['create:confidential', 'opgeheven', 403],
    ['read:confidential', 'normaal', 403],
  ])('with %s, %s gets %i', async (scope, vertrouwelijkheid, status) => {
    const person = newPerson();
    const answer = await log.call([scope], 'POST', '/verwerkingsacties', actie(person, { vertrouwelijkheid }));
    expect(answer.status).toBe(status);
    const list = await log.call(
      ['read:confidential'],
      'GET',
      `/verwerkingsacties?${ofPerson(person, EVERY)}`,
      undefined,
      HEADERS,
    );
    expect(listIn(list).count).toBe(status === 201 ? 1 : 0);
  });
});

/** The parameters of a list: the limited set or not, and which confidentiality. */
const QUESTIONS = [
  { beperkteSet: true, vertrouwelijkheid: 'normaal', may: ALL_READ },
  { beperkteSet: true, vertrouwelijkheid: 'opgeheven', may: ALL_READ },
  { beperkteSet: true, vertrouwelijkheid: 'vertrouwelijk', may: ['read:confidential'] },
  { beperkteSet: true, vertrouwelijkheid: 'normaal,opgeheven', may: ['read:confidential'] },
  { beperkteSet: true, vertrouwelijkheid: undefined, may: ALL_READ },
  { beperkteSet: true, vertrouwelijkheid: 'normaal,vertrouwelijk,opgeheven', may: ['read:confidential'] },
  { beperkteSet: false, vertrouwelijkheid: 'normaal', may: ['read:normal', 'read:confidential'] },
  { beperkteSet: false, vertrouwelijkheid: 'opgeheven', may: ['read:confidential'] },
  { beperkteSet: false, vertrouwelijkheid: 'vertrouwelijk', may: ['read:confidential'] },
  { beperkteSet: false, vertrouwelijkheid: 'vertrouwelijk,opgeheven', may: ['read:confidential'] },
  { beperkteSet: false, vertrouwelijkheid: 'normaal,vertrouwelijk', may: ['read:confidential'] },
  { beperkteSet: false, vertrouwelijkheid: undefined, may: ['read:normal', 'read:confidential'] },
] as const;

describe.each(QUESTIONS)('GET list, beperkteSet=$beperkteSet, vertrouwelijkheid=$vertrouwelijkheid', (question) => {
  const { beperkteSet, vertrouwelijkheid, may } = question;
  const asked: readonly string[] = vertrouwelijkheid?.split(',') ?? ['normaal'];

  let made: { readonly state: State; readonly person: string; readonly actieId: string }[];
  // Reading changes none of them.
  beforeAll(async () => {
    made = await Promise.all(STATES.map(async (state) => ({ state, ...(await inState(state)) })));
  });

  it.each(ALL_READ)('with %s', async (scope) => {
    const allowed = may.some((one) => one === scope);
    for (const { state, person, actieId } of made) {
      const spellings =
        vertrouwelijkheid === undefined
          ? ['']
          : [
              `&vertrouwelijkheid__in=${vertrouwelijkheid.toUpperCase()}`,
              asked.map((word) => `&vertrouwelijkheid=${word}`).join(''),
            ];
      for (const spelling of spellings) {
        // Each reading adds an entry about the person: count only the action itself.
        const path = `/verwerkingsacties?${ofPerson(person)}&beperkteSet=${beperkteSet}${spelling}`;
        const answer = await log.call([scope], 'GET', path, undefined, {
          ...HEADERS,
          Vertrouwelijkheid: 'vertrouwelijk',
        });
        expect(answer.status).toBe(allowed ? 200 : 403);
        if (!allowed) continue;
        const found = listIn(answer).results.filter((result) => result.actieId === actieId);
        expect(found.length, `${state.now}, ever ${state.ever}`).toBe(asked.includes(state.category) ? 1 : 0);
        for (const result of found) expect('systeem' in result).toBe(!beperkteSet);
      }
    }
  });
});

describe.each(STATES)('one action that is $now, ever confidential: $ever', (state) => {
  it.each(ALL_READ)('is read with %s as its category allows', async (scope) => {
    const { actieId, person } = await inState(state);
    const limited = state.category !== 'vertrouwelijk' || scope === 'read:confidential';
    const full = scope === 'read:confidential' || (scope === 'read:normal' && state.category === 'normaal');
    const get = (query: string) =>
      log.call([scope], 'GET', `/verwerkingsacties/${actieId}?${ofPerson(person)}${query}`, undefined, HEADERS);
    const unasked = await get('');
    expect(unasked.status).toBe(limited ? 200 : 404);
    if (limited) expect(Object.hasOwn(Object(unasked.json), 'systeem')).toBe(full);
    expect((await get('&beperkteSet=true')).status).toBe(limited ? 200 : 404);
    expect((await get('&beperkteSet=false')).status).toBe(full ? 200 : limited ? 403 : 404);
  });

  it.each(['update:normal', 'update:confidential', 'create:confidential'])('is replaced with %s', async (scope) => {
    for (const to of ['normaal', 'vertrouwelijk', 'opgeheven']) {
      const { actieId, body } = await inState(state);
      const before = await stateOf(actieId);
      const put = { ...body, vertrouwelijkheid: to };
      const answer = await log.call([scope], 'PUT', `/verwerkingsacties/${actieId}`, put);
      const allowed =
        to !== 'opgeheven' &&
        (scope === 'update:confidential' ||
          (scope === 'update:normal' && state.category === 'normaal' && to === 'normaal'));
      expect(answer.status, to).toBe(allowed ? 200 : 403);
      if (!allowed) expect(await stateOf(actieId)).toBe(before);
    }
  });

  it.each(['update:normal', 'update:confidential', 'delete:confidential'])('is patched with %s', async (scope) => {
    for (const patch of [
      { bewaartermijn: 'P1Y' },
      { vertrouwelijkheid: 'vertrouwelijk' },
      { vertrouwelijkheid: 'normaal', bewaartermijn: 'P1Y' },
    ]) {
      const { actieId, body } = await inState(state);
      const before = await stateOf(actieId);
      const answer = await log.call([scope], 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, patch);
      const allowed =
        scope === 'update:confidential' ||
        (scope === 'update:normal' && state.category === 'normaal' && !('vertrouwelijkheid' in patch));
      expect(answer.status, JSON.stringify(patch)).toBe(allowed ? 204 : 403);
      if (!allowed) expect(await stateOf(actieId)).toBe(before);
    }
  });

  it.each(['delete:normal', 'delete:confidential', 'update:confidential'])('is deleted with %s', async (scope) => {
    const { actieId } = await inState(state);
    const answer = await log.call([scope], 'DELETE', `/verwerkingsacties/${actieId}`);
    const allowed = scope === 'delete:confidential' || (scope === 'delete:normal' && state.category === 'normaal');
    expect(answer.status).toBe(allowed ? 204 : 403);
    expect((await stateOf(actieId)) === undefined).toBe(allowed);
  });

  it.each(ALL_READ)('is shown to its person with %s by the matrix', async (scope) => {
    const { person, actieId } = await inState(state);
    const get = (path: string) => log.call([scope], 'GET', path, undefined, HEADERS);
    const shown = state.category === 'normaal' || (state.category === 'opgeheven' && scope === 'read:confidential');
    const answer = await get(`/verwerkte-objecten?${ofPerson(person)}`);
    const found = listIn(answer).results.filter((result) => Object(result.verwerkingsactie).actieId === actieId);
    expect(found.length).toBe(shown ? 1 : 0);
    const one = await get(`/verwerkte-objecten/${actieId.slice(0, 32)}0001?${ofPerson(person)}`);
    expect(one.status).toBe(shown ? 200 : 404);
    if (shown) expect(Object(one.json).verwerkingsactie).not.toHaveProperty('systeem');
  });
});

describe('an action of several persons', () => {
  const [mine, theirs, nobody] = [newPerson(), newPerson(), newPerson()];
  let actieId = '';
  beforeAll(async () => {
    const [object] = actie(mine).verwerkteObjecten;
    const body = actie(mine, {
      verwerkteObjecten: [object, { ...object, objectId: theirs }, { ...object, betrokkenheid: 'Partner' }],
    });
    actieId = actieIn(await log.call(WRITE_ALL, 'POST', '/verwerkingsacties', body)).actieId;
  });

  const get = (scopes: readonly string[], path: string) => log.call(scopes, 'GET', path, undefined, HEADERS);
  const identifiers = (answer: { json: unknown }): string[] =>
    Object(answer.json).verwerkteObjecten.map(({ objectId }: { objectId: string }) => objectId);

  it('shows with `read:restricted` the objects of the named person, and is not found without a name', async () => {
    const named = await get(['read:restricted'], `/verwerkingsacties/${actieId}?${ofPerson(mine)}`);
    expect(identifiers(named)).toEqual([mine, mine]);
    expect(named.text).not.toContain(theirs);
    for (const query of [
      '',
      `?${ofPerson(nobody)}`,
      `?objectId=${mine}`,
      `?soortObjectId=BSN&objectId=${mine}`,
      `?objecttype=persoon&soortObjectId=OIN&objectId=${mine}`,
    ]) {
      expect((await get(['read:restricted'], `/verwerkingsacties/${actieId}${query}`)).status, query).toBe(404);
    }
  });

  it('is shown in full with the other scopes, or for the named person; an incomplete name is a fault', async () => {
    for (const scope of ['read:normal', 'read:confidential']) {
      expect(identifiers(await get([scope], `/verwerkingsacties/${actieId}`))).toEqual([mine, theirs, mine]);
      expect(identifiers(await get([scope], `/verwerkingsacties/${actieId}?${ofPerson(theirs)}`))).toEqual([theirs]);
      expect((await get([scope], `/verwerkingsacties/${actieId}?${ofPerson(nobody)}`)).status).toBe(404);
      const part = await get([scope], `/verwerkingsacties/${actieId}?objectId=${mine}`);
      expect(part.json).toMatchObject({
        status: 400,
        invalidParams: [{ name: 'objecttype' }, { name: 'soortObjectId' }],
      });
    }
  });

  it('shows one object with `read:restricted` only to a caller that names its person', async () => {
    const first = `/verwerkte-objecten/${actieId.slice(0, 32)}0001`;
    expect((await get(['read:restricted'], `${first}?${ofPerson(mine)}`)).status).toBe(200);
    for (const query of ['', `?${ofPerson(theirs)}`, `?objectId=${mine}`]) {
      expect((await get(['read:restricted'], `${first}${query}`)).status, query).toBe(404);
    }
    expect((await get(['read:normal'], first)).status).toBe(200);
  });

  it("has only that object in an object's action", async () => {
    const path = `/verwerkte-objecten/${actieId.slice(0, 32)}0001`;
    const single = Object((await get(['read:normal'], path)).json);
    const list = listIn(await get(['read:normal'], `/verwerkte-objecten?${ofPerson(mine)}`)).results;
    const listed = list.find(({ verwerktObjectId }) => verwerktObjectId === single.verwerktObjectId);
    for (const { verwerkingsactie, ...object } of [single, Object(listed)]) {
      expect(object.objectId).toBe(mine);
      expect(verwerkingsactie.verwerkteObjecten).toEqual([object]);
      expect(JSON.stringify(verwerkingsactie)).not.toContain(theirs);
    }
  });

  it.each(['', '/bewijs'])('that is confidential gets exactly the answer of an unknown one (GET …%s)', async (part) => {
    const hidden = await inState(STATES[2]);
    const unknown = `${hidden.actieId.slice(0, -12)}000000000000`;
    for (const scope of ['read:restricted', 'read:normal']) {
      for (const query of [
        '',
        `?${ofPerson(hidden.person)}`,
        `?${ofPerson(nobody)}`,
        `?objectId=${mine}`,
        '?beperkteSet=false',
        `?${ofPerson(hidden.person)}&beperkteSet=false`,
      ]) {
        const ask = (id: string) => get([scope], `/verwerkingsacties/${id}${part}${query}`);
        const [answer, other] = [await ask(hidden.actieId), await ask(unknown)];
        const about = (text: string) => text.replaceAll(/"instance":"[^"]*"/g, '');
        expect(answer.status, `${scope} ${query}`).toBe(404);
        expect(about(answer.text)).toBe(about(other.text));
      }
    }
  });
});

it('changes no action of a processing when the caller may not change one of them', async () => {
  const open = await inState(STATES[0]);
  const secret = actie(newPerson(), { vertrouwelijkheid: 'vertrouwelijk', verwerkingId: open.body.verwerkingId });
  await log.call(WRITE_ALL, 'POST', '/verwerkingsacties', secret);
  const path = `/verwerkingsacties?verwerkingId=${open.body.verwerkingId}`;
  expect((await log.call(['update:normal'], 'PATCH', path, { bewaartermijn: 'P1D' })).status).toBe(403);
  expect(await stateOf(open.actieId)).toBe('normaal "1"');
});
