import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { checkRecord } from '../../proof/check.ts';
import { readSealingKey } from '../../proof/keys.ts';
import { parseVerifierKey } from '../../proof/tlog/note.ts';
import { verifyStoredLog } from '../../proof/verify.ts';
import type { Config } from '../../settings/read-config.ts';
import { verwerkingenProofLog } from '../../verwerkingenlog/proof-log.ts';
import { processingHeaders } from '../demo-client.ts';
import type { DemoSetup, TourNeeds } from '../demo-part.ts';
import { uitvoerder, voorbeeldActie } from '../example-data.ts';

/** Milliseconds until a proof must be there: a few checkpoints. */
const PATIENCE_MS = 20_000;

export async function tourProof(needs: TourNeeds): Promise<void> {
  const { transcript, demo, client } = needs;
  const { verwerkingenlog } = demo.file.mounts;
  transcript.section('Proof: no change to the log goes unnoticed, not even one by the database administrator', 'proof');
  await transcript.part('an action is proven, and a change is found', async () => {
    const headers = processingHeaders(uitvoerder);
    const logged = await client.call('POST', `${verwerkingenlog}/verwerkingsacties`, {
      as: 'applicatie',
      body: { ...(await voorbeeldActie()), vertrouwelijkheid: 'normaal' },
    });
    const address = `${verwerkingenlog}/verwerkingsacties/${logged.body.actieId}`;
    const read = (path: string) => client.call('GET', address + path, { as: 'applicatie', headers });
    let proof = await read('/bewijs');
    for (
      const until = Date.now() + PATIENCE_MS;
      proof.status !== 200 && Date.now() < until;
      proof = await read('/bewijs')
    )
      await sleep(500);
    transcript.line(`GET ${address}/bewijs -> ${proof.status}, once its checkpoint was published`);
    const key = await client.call('GET', `${demo.file.baseUrl}/proof/v1/verwerkingen/key`);
    const keys = [parseVerifierKey(key.bytes.toString().trim())];
    const action = await read('');
    const check = (record: object): boolean => checkRecord(proof.bytes.toString(), record, () => keys).isProven;
    transcript.check('the proof file and the key alone prove the action', check(action.body));
    transcript.check(
      'they do not prove the same action with another user',
      !check({ ...action.body, gebruiker: 'ander' }),
    );

    const owner = new pg.Client(demo.file.databaseUrl);
    await owner.connect();
    try {
      const put = (gebruiker: string) =>
        owner.query('update verwerkingenlog.versies set gebruiker = $2 where actie_id = $1', [
          logged.body.actieId,
          gebruiker,
        ]);
      await put('ander');
      const faults = await verify(needs);
      transcript.line(
        `the owner of the database changes its user; \`koppelvlak proof verify\` names: ${faults.join(', ')}`,
      );
      transcript.check(
        'a change in the database is found, and its record is named',
        faults.length === 1 && faults[0] === `version 1 of ${logged.body.actieId}`,
        faults.join(', '),
      );
      await put('demo');
    } finally {
      await owner.end();
    }
    const left = await verify(needs);
    transcript.check('once restored, everything matches what was published', left.length === 0, left.join(', '));
    transcript.command('koppelvlak proof verify verwerkingen');
  });
}

async function verify(needs: TourNeeds): Promise<string[]> {
  const verified = await verifyStoredLog(needs, verwerkingenProofLog);
  if (verified === undefined) throw new Error('the demo keeps no proof log');
  return verified.faults.map(({ name }) => name);
}

export const proofVariables = async ({ home, secret }: DemoSetup): Promise<Record<string, string>> => ({
  PROOF_KEY: await secret('proof-key'),
  PROOF_STATE: join(home, 'proof-state.json'),
});

/** For other applications, which write but do not sign. */
export function sealingVariables({ proof }: Config): Record<string, string> {
  const key = readSealingKey(proof);
  return key === undefined ? {} : { PROOF_SEALING_KEY: Buffer.from(key).toString('base64') };
}
