import { afterAll, beforeAll, expect, it } from 'vitest';
import { isBsn } from '../../src/lib/patterns.ts';
import { actie, type LogServer, startLog } from './support.ts';

let log: LogServer;

beforeAll(async () => {
  log = await startLog({ env: { VERWERKINGENLOG_CHECK_BSN: 'true' } });
});
afterAll(() => log?.stop());

it.each([
  ['999990019', true],
  ['123456782', true],
  ['010464554', true],
  ['123456789', false],
  ['000000000', false],
  ['99999001', false],
  ['99999001x', false],
])('checks %s by the eleven test', (text, expected) => {
  expect(isBsn(text)).toBe(expected);
});

it('refuses every invalid number when so configured, and ignores other identifiers', async () => {
  const [object] = actie('999990019').verwerkteObjecten;
  const body = actie('x', {
    soortAfnemerId: 'BSN',
    afnemerId: '123456789',
    verwerkteObjecten: [
      { ...object, objectId: '123456789' },
      { ...object, objectId: '999990019' },
      { ...object, soortObjectId: 'A-nummer', objectId: '1' },
      { ...object, objectId: '12345678' },
    ],
  });
  const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', body);
  expect(answer.status).toBe(400);
  expect(Object(answer.json).invalidParams).toMatchObject([
    { name: 'afnemerId', code: 'bsn' },
    { name: 'verwerkteObjecten.0.objectId', code: 'bsn' },
    { name: 'verwerkteObjecten.3.objectId', code: 'bsn' },
  ]);
});
