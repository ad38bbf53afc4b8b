/** The proof of an entry that a citizen gets in the session. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stateFile } from '../../proof/support.ts';
import { PATIENT } from '../../raadsfeed/support.ts';
import { callProgram } from '../../support/program.ts';
import { actie, actieIn } from '../support.ts';
import { type InzageServer, newBsn, startInzage } from './support.ts';
import { readPage as read } from './valid-page.ts';

const OVERVIEW = '/inzage/overzicht';
const state = stateFile();
let inzage: InzageServer;
beforeAll(async () => {
  inzage = await startInzage({ env: state.env });
});
afterAll(async () => {
  await inzage?.stop();
  state.remove();
});

async function log(bsn: string, wishes: Record<string, unknown> = {}): Promise<string> {
  const scopes = ['create:confidential'];
  return actieIn(await inzage.call(scopes, 'POST', '/verwerkingsacties', actie(bsn, wishes))).actieId;
}

const BSN = { objecttype: 'persoon', soortObjectId: 'BSN' };

it("is a file beside the citizen's view of it, and anybody can check the two", async () => {
  const [bsn, other] = [newBsn(), newBsn()];
  const actieId = await log(bsn, { verwerkteObjecten: [bsn, other].map((objectId) => ({ ...BSN, objectId })) });
  const citizen = await inzage.loggedIn(bsn);
  const address = `/inzage/bewijs/${actieId}`;
  expect((await read(citizen, OVERVIEW)).text).toContain(`href="${address}"`);
  const { text: page } = await read(citizen, address);
  for (const shown of [`${address}.json`, `${address}.tlog-proof`, '/proof/v1/controleer'])
    expect(page).toContain(`href="${shown}"`);
  let proof = await citizen.open(`${address}.tlog-proof`);
  if (proof.status !== 200) expect(proof.text).toContain('Het bewijs volgt');
  await expect
    .poll(async () => {
      proof = await citizen.open(`${address}.tlog-proof`);
      return proof.status;
    }, PATIENT)
    .toBe(200);
  expect(proof.headers.get('content-disposition')).toBe(`attachment; filename="bewijs-${actieId}.tlog-proof"`);
  expect(proof.headers.get('cache-control')).toBe('no-store');
  const record = await citizen.open(`${address}.json`);
  expect(record.headers.get('content-disposition')).toBe(`attachment; filename="gegeven-${actieId}.json"`);
  expect(record.text).toContain(bsn);
  for (const hidden of [other, 'gebruiker', 'systeem']) expect(record.text).not.toContain(hidden);
  const key = (await (await fetch(`${inzage.server.url}/proof/v1/verwerkingen/key`)).text()).trim();
  const check = async (text: string) => {
    const files = [`${state.path}.tlog-proof`, `${state.path}.record`] as const;
    writeFileSync(files[0], proof.text);
    writeFileSync(files[1], text);
    return await callProgram(['proof', 'check', ...files, '--key', key], {});
  };
  expect(await check(record.text)).toMatchObject({ status: 0 });
  expect(await check(record.text.replace('Intake', 'Afsluiting'))).toMatchObject({ status: 1 });
});

it('is for this citizen only, and for nothing that the overview omits', async () => {
  const [bsn, other] = [newBsn(), newBsn()];
  const citizen = await inzage.loggedIn(bsn);
  const hidden = [
    await log(other),
    await log(bsn, { vertrouwelijkheid: 'vertrouwelijk' }),
    await log(bsn, { soortAfnemerId: 'BSN', afnemerId: other }),
    '0198c0de-7c1f-7bb0-8c2d-4e6f80120000',
  ];
  const { text } = await read(citizen, OVERVIEW);
  for (const actieId of hidden) {
    expect(text).not.toContain(`/inzage/bewijs/${actieId}`);
    for (const kind of ['.json', '.tlog-proof'])
      expect((await read(citizen, `/inzage/bewijs/${actieId}${kind}`, 404)).text).toContain('Er is geen bewijs');
  }
  for (const path of ['niets', '0198c0de-7c1f-7bb0-8c2d-4e6f80120000.xml'])
    await read(citizen, `/inzage/bewijs/${path}`, 404);
  await read(inzage.browser(), `/inzage/bewijs/${hidden[0]}.json`, 401);
});
