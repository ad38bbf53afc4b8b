import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import description from '../../package.json' with { type: 'json' };
import { settingGroups } from '../../src/settings/read-config.ts';
import { temporaryHome } from '../demo/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callProgram } from '../support/program.ts';

let home: Awaited<ReturnType<typeof temporaryHome>>;
let database: TestDatabase;
beforeAll(async () => {
  home = await temporaryHome();
  database = await createDatabase({ empty: true });
});
afterAll(async () => {
  await database.drop();
  await home.remove();
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  callProgram(args, { KOPPELVLAK_HOME: home.path, ...env });

/** The commands listed on a help page. */
function namedIn(help: string): string[] {
  const list = help.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => String(name)).filter((name) => name !== 'help');
}

describe('help', () => {
  it('exists for every command, with an example for each that does something', async () => {
    const seen: string[] = [];
    const visit = async (words: readonly string[]): Promise<void> => {
      const { status, stdout, stderr } = await run([...words, '--help']);
      const name = ['koppelvlak', ...words].join(' ');
      expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' });
      expect(stdout, name).toContain(`Usage: ${name}`);
      const commands = namedIn(stdout);
      if (commands.length === 0) expect(stdout, name).toMatch(/\nExamples?:\n {2}\$ /);
      seen.push(name);
      for (const command of commands) await visit([...words, command]);
    };
    await visit([]);
    expect(seen).toEqual(
      expect.arrayContaining(['koppelvlak serve', 'koppelvlak gegevens import', 'koppelvlak feed publish']),
    );
  });
});

it('says in one line where to find the conformance suites', async () => {
  const ended = await run(['conformance', 'raadsfeed', 'http://127.0.0.1:9/ori/v1', '--report', 'verslag']);
  expect(ended).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'koppelvlak: the suites are a program of their own: koppelvlak-conformance, in a checkout `npm run conformance --`\n',
  });
});

it('prints only its version', async () => {
  expect(await run(['--version'])).toMatchObject({ status: 0, stdout: `${description.version}\n`, stderr: '' });
});

it.each(['--help', 'gegevens import --help', 'config'])('exits quietly when its output is closed: %s', (words) => {
  const { stderr, status } = spawnSync(
    'bash',
    ['--norc', '-c', `"$0" src/main.ts ${words} | true; exit "\${PIPESTATUS[0]}"`, process.execPath],
    {
      cwd: join(import.meta.dirname, '../..'),
      env: { PATH: process.env.PATH, KOPPELVLAK_HOME: home.path },
      encoding: 'utf8',
    },
  );
  expect({ stderr, status }).toEqual({ stderr: '', status: 141 });
});

describe('the exit status', () => {
  it.each([
    ['an unknown command', ['verzonnen']],
    ['an unknown option', ['serve', '--verzonnen']],
    ['an argument too few', ['gegevens', 'import', '--variant', 'shv']],
    ['a word that an option does not take', ['gegevens', 'import', '--variant', 'xyz', 'a.json']],
    ['no command', []],
  ])('is 2 for %s, which is named on standard error', async (_what, args) => {
    const { status, stdout, stderr } = await run(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.length).toBeGreaterThan(20);
  });

  it('is 1 when a command fails, with the reason on one line', async () => {
    const { status, stderr } = await run(['migrate'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^koppelvlak: .*127\.0\.0\.1:1/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

it('refuses a command without a database, and starts none', async () => {
  for (const words of [['migrate'], ['feed', 'verify'], ['log', 'verify']]) {
    const { status, stdout, stderr } = await run(words);
    expect({ status, stdout }, words.join(' ')).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('DATABASE_URL is not set');
  }
  expect(existsSync(join(home.path, 'postgres'))).toBe(false);
});

describe('serve', () => {
  it('lists every invalid variable at once, repeats no value, and does not listen', async () => {
    const all = Object.values(settingGroups).flatMap((group) => Object.values(group));
    const canBeWrong = all.filter(({ kind }) => {
      try {
        kind.parse('n!et goed');
        return false;
      } catch {
        return true;
      }
    });
    expect(canBeWrong.length).toBeGreaterThan(40);
    const env = Object.fromEntries(canBeWrong.map(({ variable }) => [variable, 'n!et goed']));
    const { status, stdout, stderr } = await run(['serve'], env);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const { variable } of canBeWrong) expect(stderr).toMatch(new RegExp(`^ {2}${variable} .+; allowed: `, 'm'));
    expect(stderr).not.toContain('n!et goed');
  });

  it('lists every unreadable file at once, before opening anything', async () => {
    const variables = [
      'GEGEVENS_TRUST_ANCHORS',
      'GEGEVENS_SIGNING_KEY',
      'GEGEVENS_SIGNING_CHAIN',
      'FSC_TOKEN_CERTIFICATES',
    ];
    const env = Object.fromEntries(variables.map((variable) => [variable, `${home.path}/nergens.pem`]));
    const { status, stdout, stderr } = await run(['serve'], env);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const variable of variables) expect(stderr).toContain(`  ${variable} names no readable file`);
  });

  it('names the missing settings of the mounted areas', async () => {
    const { status, stderr } = await run(['serve']);
    expect(status).toBe(1);
    for (const variable of ['OAUTH_ISSUER', 'GEGEVENS_TRUST_ANCHORS', 'GEGEVENS_SIGNING_KEY']) {
      expect(stderr).toContain(`  ${variable} is missing`);
    }
  });

  it('refuses production without a database of its own', async () => {
    const { status, stderr } = await run(['serve'], { NODE_ENV: 'production', AREAS: 'raadsfeed' });
    expect(status).toBe(1);
    expect(stderr).toContain('DATABASE_URL is missing');
  });
});

describe('config', () => {
  it('shows each value and its source, with secrets hidden', async () => {
    const env = { PORT: '8123', DATABASE_URL: 'postgres://koppelvlak:geheim@db/koppelvlak' };
    const { status, stdout } = await run(['config'], env);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^PORT +8123 +environment$/m);
    expect(stdout).toMatch(/^MANAGEMENT_PORT +9090 +default$/m);
    expect(stdout).toMatch(/^DATABASE_URL +\(secret\) +environment$/m);
    expect(stdout).not.toContain('geheim');
  });

  it('with --serve, lists the settings that `serve` would refuse', async () => {
    const env = { NODE_ENV: 'production', AREAS: 'verwerkingenlog', OAUTH_ISSUER: 'http://login.example' };
    expect((await run(['config'], env)).status).toBe(0);
    const { status, stdout, stderr } = await run(['config', '--serve'], env);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const fault of ['OAUTH_ISSUER is an address with `http:`', 'VERWERKINGENLOG_KEY'])
      expect(stderr).toContain(fault);
  });

  it('gives one machine-readable result with --json', async () => {
    const { stdout } = await run(['config', '--json'], { PORT: '8123' });
    expect(JSON.parse(stdout)).toContainEqual({ variable: 'PORT', value: '8123', source: 'environment' });
  });
});

describe('a refused setting', () => {
  const faultOf = async (variable: string, value: string): Promise<string> => {
    const { stderr } = await run(['config'], { [variable]: value });
    expect(stderr).not.toContain('geheim');
    return stderr;
  };

  it.each(
    Object.values(settingGroups)
      .flatMap((group) => Object.values(group))
      .filter(({ kind, secret }) => /https:/.test(kind.allowed) && !secret)
      .map(({ variable }) => variable),
  )('%s must not have a password in its address, because the address is printed', async (variable) => {
    expect(await faultOf(variable, 'https://gebruiker:geheim@voorbeeld.nl/pad')).toContain(`  ${variable} `);
  });

  it.each(['Authorization', 'Cookie', 'Host', 'X-Forwarded-For', 'Fsc-Authorization', 'Content-Type'])(
    'CLIENT_CERT_HEADER is not %s',
    async (name) => {
      expect(await faultOf('CLIENT_CERT_HEADER', name)).toContain('CLIENT_CERT_HEADER does not have the right form');
    },
  );

  it.each(['999.1.1.1', '10.0.0.0/33', '::1/129', '10.0.0.0/8/8', '1.2.3', ':::', '10.0.0.1,', '100'])(
    'TRUST_PROXY is not %s',
    async (value) => {
      expect(await faultOf('TRUST_PROXY', value)).toContain('TRUST_PROXY has 1 item(s)');
    },
  );

  it.each(['0', '2', '10.0.0.1', '10.0.0.0/8, fd00::/8', '::ffff:10.0.0.1'])('TRUST_PROXY may be %s', async (value) => {
    expect(await faultOf('TRUST_PROXY', value)).toBe('');
  });
});

describe('an unknown variable with one of our prefixes', () => {
  it('is reported at start-up with the nearest name; other variables are ignored', async () => {
    const env = {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
      GEGEVENS_TRUST_ANCHOR: 'geheim',
      DATABASE_URI: 'geheim',
      LOG_LEVLE: 'debug',
      LOG_DIR: '/var/log',
      NODE_OPTIONS: '',
      KOPPELVLAK_SERVICE_HOST: '10.0.0.1',
      KOPPELVLAK_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      DATABASE_MIGRATION_URL_FILE: '',
    };
    const warnings = (text: string): string[] =>
      [...text.matchAll(/"msg":"([^"]+ is not a setting[^"]+)"/g)].map(([, message]) => String(message));
    const wanted = [
      'GEGEVENS_TRUST_ANCHOR is not a setting; did you mean GEGEVENS_TRUST_ANCHORS?',
      'DATABASE_URI is not a setting; did you mean DATABASE_URL?',
      'LOG_LEVLE is not a setting; did you mean LOG_LEVEL?',
    ];
    const served = await run(['serve'], { ...env, AREAS: 'raadsfeed' });
    expect(warnings(served.stdout)).toEqual(wanted);
    const command = await run(['feed', 'verify'], env);
    expect(warnings(command.stderr)).toEqual(wanted);
    expect(served.stdout + command.stderr).not.toContain('geheim');
  });
});

describe('an unreachable database', () => {
  const NOWHERE = 'postgres://nobody:geheim@127.0.0.1:1/nothing';
  it.each([
    ['DATABASE_URL', ['feed', 'verify'], { DATABASE_URL: NOWHERE }],
    ['DATABASE_URL', ['serve'], { DATABASE_URL: NOWHERE, AREAS: 'raadsfeed', DATABASE_MIGRATE: 'false' }],
    ['DATABASE_URL', ['migrate'], { DATABASE_URL: NOWHERE }],
    ['DATABASE_MIGRATION_URL', ['migrate'], { DATABASE_MIGRATION_URL: NOWHERE }],
    ['DATABASE_MIGRATION_URL', ['serve'], { DATABASE_MIGRATION_URL: NOWHERE, AREAS: 'raadsfeed' }],
    ['DATABASE_PRUNE_URL', ['log', 'prune'], { DATABASE_PRUNE_URL: NOWHERE }],
  ])('is reported by its variable: %s of %s', async (variable, args, env) => {
    const own = await createDatabase();
    try {
      const { status, stderr } = await run(args, { DATABASE_URL: own.url, PORT: '0', MANAGEMENT_PORT: '0', ...env });
      expect(status).toBe(1);
      expect(stderr).toMatch(new RegExp(`^koppelvlak: ${variable}: .*ECONNREFUSED 127\\.0\\.0\\.1:1$`, 'm'));
      expect(stderr).not.toContain('geheim');
    } finally {
      await own.drop();
    }
  });
});

describe('an outdated database', () => {
  it('is not migrated by other commands, which say what to do', async () => {
    const behind = await createDatabase({ empty: true });
    try {
      // Roles are shared by the server, so they exist already.
      for (const args of [
        ['feed', 'verify'],
        ['gegevens', 'list'],
        ['log', 'prune'],
        ['register', 'list'],
      ]) {
        const { status, stdout, stderr } = await run(args, { DATABASE_URL: behind.url });
        expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
        expect(stderr).toMatch(/^koppelvlak: the database lacks 0001-roles, .*Run `koppelvlak migrate` first/);
      }
      expect(JSON.parse((await run(['migrate', '--json'], { DATABASE_URL: behind.url })).stdout).applied).toContain(
        '0001-roles',
      );
    } finally {
      await behind.drop();
    }
  });
});

describe('migrate', () => {
  it('brings a database up to date once, and then has nothing to do', async () => {
    const first = await run(['migrate', '--json'], { DATABASE_URL: database.url });
    expect(first).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Database \S+ on .+, as \S+\.\n$/) });
    expect(JSON.parse(first.stdout).applied.length).toBeGreaterThan(0);
    const second = await run(['migrate'], { DATABASE_URL: database.url });
    expect(second).toMatchObject({ status: 0, stdout: 'Nothing to do.\n' });
  });
});

it.each(['src/main.ts', 'scripts/koppelvlak.js'])(
  'reports the required Node version first, whatever the command: %s',
  (file) => {
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`;
    const main = join(import.meta.dirname, '../..', file);
    const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, main, 'serve'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { NODE_ENV: 'test' },
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: 'koppelvlak needs Node 24 or newer; this is 20.20.2.\n',
    });
  },
);

it('names the owner of an unreadable file and the user of the process', async () => {
  const { stderr } = await callProgram(['serve'], { AREAS: 'raadsfeed', SECURITY_TXT: '/nergens/security.txt' });
  expect(stderr).toContain('SECURITY_TXT names no readable file: /nergens/security.txt: it does not exist');
  const key = join(home.path, 'signing-key.pem');
  writeFileSync(key, 'geheim', { mode: 0o600 });
  chmodSync(key, 0o000);
  chmodSync(home.path, 0o755);
  // The administrator may read everything, so switch to another user.
  const who = process.getuid?.() === 0 ? 65534 : process.getuid?.();
  const main = join(import.meta.dirname, '../../src/main.ts');
  const env = { NODE_ENV: 'test', AREAS: 'shv', GEGEVENS_SIGNING_KEY: key };
  const denied = spawnSync(process.execPath, [main, 'serve'], { encoding: 'utf8', env, uid: who });
  const owner = process.getuid?.();
  expect(denied.stderr).toContain(
    `GEGEVENS_SIGNING_KEY names no readable file: ${key} belongs to user ${owner} and group ${process.getgid?.()} with mode 0000, and this process is user ${who}`,
  );
  expect(denied.stderr).not.toContain('geheim');
});
