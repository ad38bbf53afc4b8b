import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { type LogServer, startLog } from '../verwerkingenlog/support.ts';

let tokens: TestTokens;
let log: LogServer;

beforeAll(async () => {
  tokens = await startTokens();
  log = await startLog({ tokens, env: { OAUTH_ISSUER: `${tokens.env.OAUTH_ISSUER}/` } });
});
afterAll(async () => {
  await log?.stop();
  await tokens?.close();
});

it('compares the name of an issuer exactly, including a trailing slash', async () => {
  const statusFor = async (iss: string): Promise<number> => {
    const authorization = await tokens.bearer(['read:normal'], { claims: { iss } });
    return (await log.api.call('GET', '/verwerkingsacties', { headers: authorization })).status;
  };
  expect(await statusFor(`${tokens.env.OAUTH_ISSUER}/`)).not.toBe(401);
  expect(await statusFor(tokens.env.OAUTH_ISSUER)).toBe(401);
});
