/** Records as the service answers them, each with its proof: what a citizen or a supplier of data has. */
import { expect } from 'vitest';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { PATIENT } from '../../raadsfeed/support.ts';
import { createDatabase } from '../../support/database.ts';
import { actie, actieIn, HEADERS, newPerson, ofPerson, startLog } from '../../verwerkingenlog/support.ts';
import { publishMeetings } from '../proof-drill.ts';
import { getText, stateFile } from '../support.ts';

export interface RealAnswer {
  readonly what: string;
  readonly record: unknown;
  readonly proof: string;
  /** Verifier key of the log. */
  readonly key: string;
}

/** Starts a service, records, reads, and stops it. */
export async function realAnswers(): Promise<RealAnswer[]> {
  const database = await createDatabase();
  const state = stateFile();
  const env = { ...state.env, AREAS: 'verwerkingenlog,raadsfeed' };
  const log = await startLog({ env, databaseUrl: database.url });
  const address = `${log.server.url}/proof/v1`;
  try {
    const all = ['create:normal', 'read:normal'];
    const person = newPerson();
    const [object] = actie(person).verwerkteObjecten;
    const both = { verwerkteObjecten: [object, { ...object, objectId: newPerson() }] };
    const { actieId } = actieIn(await log.call(all, 'POST', '/verwerkingsacties', actie(person, both), HEADERS));
    await publishMeetings(database.url, { ...state.env, AREAS: 'raadsfeed' }, 1);

    const key = (await getText(`${address}/verwerkingen/key`)).text.trim();
    const read = async (scopes: readonly string[], path: string, query: string): Promise<RealAnswer> => {
      const get = (of: string) => log.call(scopes, 'GET', `${of}${query}`, undefined, HEADERS);
      let proof = '';
      await expect
        .poll(async () => {
          const answer = await get(`${path}/bewijs`);
          proof = answer.text;
          return answer.status;
        }, PATIENT)
        .toBe(200);
      return { what: `${scopes.join()} ${path}${query}`, record: (await get(path)).json, proof, key };
    };
    const action = `/verwerkingsacties/${actieId}`;
    const whole = await read(all, action, '');
    const [first] =
      isRecord(whole.record) && Array.isArray(whole.record.verwerkteObjecten) ? whole.record.verwerkteObjecten : [];
    const objectId = isRecord(first) ? String(first.verwerktObjectId) : '';
    const feed: unknown = await (await fetch(`${log.server.url}/ori/v1/feed`)).json();
    const [record] = isRecord(feed) && Array.isArray(feed.records) ? feed.records : [];
    const answers = [
      whole,
      await read(all, action, '?beperkteSet=true'),
      await read(['read:restricted'], action, `?${ofPerson(person)}`),
      await read(['read:restricted'], `/verwerkte-objecten/${objectId}`, `?${ofPerson(person)}`),
    ];
    let proof = '';
    await expect
      .poll(async () => {
        const answer = await getText(`${address}/raadsfeed/record/1`);
        proof = answer.text;
        return answer.status;
      }, PATIENT)
      .toBe(200);
    const feedKey = (await getText(`${address}/raadsfeed/key`)).text.trim();
    return [...answers, { what: 'a record of the feed', record, proof, key: feedKey }];
  } finally {
    await log.stop();
    await database.drop();
    state.remove();
  }
}
