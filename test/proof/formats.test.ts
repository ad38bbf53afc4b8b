/** A member is added to an action: older entries verify under their format, new ones under the new. */
import { afterAll, expect, it, vi } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { createDatabase } from '../support/database.ts';
import { getText, hasLeaves, stateFile } from './support.ts';

const SCOPES = ['create:normal', 'read:normal'];
const TABLE = '../../src/verwerkingenlog/domain/member-table.ts';

const database = await createDatabase();
const state = stateFile();
afterAll(async () => {
  vi.doUnmock(TABLE);
  await database.drop();
  state.remove();
});

it('proves old entries without the new member, new ones with it, and refuses an unproven one', async () => {
  const { PROOF_FORMAT } = await import('../../src/verwerkingenlog/domain/members.ts');
  const { actie, actieIn, newPerson, startLog, KEY } = await import('../verwerkingenlog/support.ts');
  const old = await startLog({ env: state.env, databaseUrl: database.url });
  const before = actieIn(await old.call(SCOPES, 'POST', '/verwerkingsacties', actie(newPerson())));
  await hasLeaves(`${old.server.url}/proof/v1/verwerkingen`, 1);
  await old.stop();

  vi.resetModules();
  // As if the offset of `tijdstip` had become a member of the limited set.
  vi.doMock(TABLE, async (original) => {
    const table = await original<typeof import('../../src/verwerkingenlog/domain/member-table.ts')>();
    return {
      ...table,
      MEMBERS: {
        ...table.MEMBERS,
        tijdstipOffset: { ...table.MEMBERS.tijdstipOffset, part: 'basis', since: PROOF_FORMAT + 1 },
      },
    };
  });
  const next = await import('../verwerkingenlog/support.ts');
  const { koppelvlak } = await import('../verwerkingenlog/cli.ts');
  const { partsOf } = await import('../../src/proof/check.ts');
  const { openDisclosure } = await import('../../src/proof/record.ts');
  const { parseProof } = await import('../../src/proof/tlog/proof-file.ts');
  const { checkpointIn } = await import('../../src/proof/tlog/note.ts');
  const log = await next.startLog({ env: state.env, databaseUrl: database.url });
  try {
    const wishes = { tijdstip: '2026-01-15T14:35:42+01:00' };
    const base = `${log.server.url}/verwerkingenlog/v1`;
    const headers = { ...(await log.tokens.bearer(SCOPES)), 'content-type': 'application/json' };
    const body = JSON.stringify(next.actie(next.newPerson(), wishes));
    const made = await fetch(`${base}/verwerkingsacties`, { method: 'POST', headers, body });
    const after: unknown = await made.json();
    if (!isRecord(after)) throw new Error('no action');
    expect(after).toMatchObject({ tijdstipOffset: '+01:00' });
    await hasLeaves(`${log.server.url}/proof/v1/verwerkingen`, 2);

    const proofOf = async (id: unknown) => {
      const record: unknown = await (await fetch(`${base}/verwerkingsacties/${id}`, { headers })).json();
      const { text } = await getText(`${base}/verwerkingsacties/${id}/bewijs`, headers);
      const proof = parseProof(text);
      const { origin } = checkpointIn(proof.checkpoint);
      if (!isRecord(record)) throw new Error('no record');
      return (extra: object = {}) => openDisclosure(partsOf(origin, { ...record, ...extra }), proof.extra).entry;
    };
    const ofOld = await proofOf(before.actieId);
    const ofNew = await proofOf(after.actieId);
    expect(ofOld()[0]).toBe(PROOF_FORMAT);
    expect(ofNew()[0]).toBe(PROOF_FORMAT + 1);
    expect(() => ofOld({ tijdstipOffset: '+01:00' })).toThrow('does not cover the member "tijdstipOffset"');
    expect(ofNew({ tijdstipOffset: '+02:00' })).not.toEqual(ofNew());
    const env = { ...state.env, AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY };
    const verified = await koppelvlak(database.url, ['proof', 'verify', 'verwerkingen', '--json'], env);
    expect(verified).toMatchObject({ code: 0, json: { logs: [{ faults: [] }] } });
  } finally {
    await log.stop();
  }
});
