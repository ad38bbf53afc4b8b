import { expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { actie, HEADERS, KEY, newPerson, startLog } from '../verwerkingenlog/support.ts';
import { addDeliveriesAndRemovals, publishMeetings, runTamperingDrill } from './proof-drill.ts';
import { hasLeaves, stateFile } from './support.ts';
import { hasGo } from './tlog/judge.ts';

const OUTSIDE = hasGo ? 'and the outside judge accepts none' : '(Go is not on the path: no outside judge)';

it(`reports every change by someone with all rights on the database, even disguised, ${OUTSIDE}`, async () => {
  const database = await createDatabase();
  const state = stateFile();
  const env = { ...state.env, AREAS: 'verwerkingenlog,raadsfeed' };
  const log = await startLog({ env, databaseUrl: database.url });
  try {
    const address = `${log.server.url}/proof/v1`;
    const scopes = ['create:normal', 'update:normal'];
    await Promise.all(
      Array.from({ length: 150 }, () => log.call(scopes, 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS)),
    );
    await publishMeetings(database.url, env, 150);
    await hasLeaves(`${address}/verwerkingen`, 150);
    await hasLeaves(`${address}/raadsfeed`, 150);
    await log.server.stop();
    const all = { ...env, AREAS: `${env.AREAS},shv`, VERWERKINGENLOG_KEY: KEY };
    await addDeliveriesAndRemovals(database.url, all, { deliveries: 40, removals: 5 });
    const result = await runTamperingDrill({
      databaseUrl: database.url,
      env: all,
      statePath: state.path,
      changes: Number(process.env.PROOF_CHANGES ?? 37),
    });
    expect(result).toEqual({ before: [], missed: [], isJudgedOutside: hasGo });
  } finally {
    await log.stop();
    await database.drop();
    state.remove();
  }
});
