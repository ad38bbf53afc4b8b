import { expect, it } from 'vitest';
import { createLogger } from '../../src/lib/log.ts';

const secrets = {
  authorization: 'Bearer secret',
  'fsc-authorization': 'secret',
  cookie: 'secret',
  'set-cookie': ['secret'],
  'nlgov-adr-payload-sig': 'secret',
};
const hidden = Object.fromEntries(Object.keys(secrets).map((name) => [name, '[hidden]']));

function open() {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}

it('hides secrets in headers, also within logged objects, without changing those objects', () => {
  const { logger, lines } = open();
  const headers = { ...secrets, accept: '*/*' };
  const failed = Object.assign(new Error('refused'), { headers });
  logger.info({ headers, request: { id: 7, headers }, failed, other: { status: 200, headers: null } }, 'asked');
  const shown = { ...hidden, accept: '*/*' };
  expect(lines).toMatchObject([
    {
      headers: shown,
      request: { id: 7, headers: shown },
      failed: { headers: shown },
      other: { status: 200 },
      msg: 'asked',
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret');
  expect(headers.cookie).toBe('secret');
});

it('hides secrets in the bindings of a child logger, and of its own child', () => {
  const { logger, lines } = open();
  logger
    .child({ headers: secrets })
    .child({ request: { headers: secrets } }, {})
    .info('asked');
  expect(lines).toMatchObject([{ headers: hidden, request: { headers: hidden } }]);
});

it('logs an error by its named parts, whatever else it carries', () => {
  const { logger, lines } = open();
  logger.error({ err: Object.assign(new Error('refused'), { headers: secrets }) }, 'failed');
  logger.error(Object.assign(new Error('refused'), { headers: secrets }));
  expect(lines).toMatchObject([{ err: { type: 'Error', message: 'refused' } }, { err: { message: 'refused' } }]);
  expect(JSON.stringify(lines)).not.toContain('secret');
});
