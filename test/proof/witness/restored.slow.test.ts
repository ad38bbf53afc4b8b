/** A restored log whose witness is down or is an independent program. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EMPTY_ROOT } from '../../../src/proof/tlog/merkle.ts';
import { checkpointIn } from '../../../src/proof/tlog/note.ts';
import { PATIENT } from '../../raadsfeed/support.ts';
import { freePort } from '../../support/free-port.ts';
import { hasLeaves } from '../support.ts';
import {
  logKey,
  ORIGIN,
  openWitnessed,
  restoredLogSignsNothing,
  type StandardWitness,
  startMemoryWitness,
} from './restored-log.ts';

it('signs nothing after a restore that caught up with other records: the witness refuses the proof', async () => {
  const witness = await startMemoryWitness();
  const service = await openWitnessed(witness);
  try {
    const before = await service.start();
    await before.publish(['een', 'twee']);
    await expect.poll(() => witness.size(), PATIENT).toBe(2);
    await before.stop();
    await service.backUp();
    const on = await service.start();
    await on.publish(['drie']);
    await expect.poll(() => witness.size(), PATIENT).toBe(3);
    await on.stop();
    await service.restore();
    // It signs while the witness is down, because no quorum is required.
    witness.isAway = true;
    const restored = await service.start();
    try {
      await restored.publish(['vier', 'vijf']);
      await hasLeaves(`${restored.server.url}/proof/v1/raadsfeed`, 4);
      witness.isAway = false;
      await expect
        .poll(restored.ready, PATIENT)
        .toContain('nothing is signed: the witness w refuses the tree of 4 leaves');
      expect(await restored.metric('koppelvlak_proof_conflict')).toBe('1');
      await restored.publish(['zes']);
      await expect
        .poll(() => restored.metric('koppelvlak_proof_lateness_seconds').then(Number), PATIENT)
        .toBeGreaterThan(2);
      expect(checkpointIn(await restored.checkpoint()).size).toBe(4);
    } finally {
      await restored.stop();
    }
  } finally {
    await service.close();
    witness.close();
  }
});

it('signs nothing new after a start while a quorum is required and no witness answers', async () => {
  const witness = await startMemoryWitness();
  const service = await openWitnessed(witness, 'w');
  try {
    const before = await service.start();
    await before.publish(['een', 'twee']);
    await expect.poll(() => witness.size(), PATIENT).toBe(2);
    await before.stop();
    witness.isAway = true;
    const after = await service.start();
    try {
      await after.publish(['drie']);
      await expect
        .poll(after.ready, PATIENT)
        .toContain('nothing new is signed: no witness has answered since the start');
      await expect
        .poll(() => after.metric('koppelvlak_proof_lateness_seconds').then(Number), PATIENT)
        .toBeGreaterThan(2);
      expect(checkpointIn(await after.checkpoint()).size).toBe(2);
      expect(await after.metric('koppelvlak_proof_conflict')).toBe('0');
      witness.isAway = false;
      await expect.poll(() => witness.size(), PATIENT).toBe(3);
      expect(await after.ready()).not.toContain('nothing new is signed');
      // A witness that goes down while the service runs delays nothing.
      witness.isAway = true;
      await after.publish(['vier']);
      await hasLeaves(`${after.server.url}/proof/v1/raadsfeed`, 4);
    } finally {
      await after.stop();
    }
  } finally {
    await service.close();
    witness.close();
  }
});

/**
 * An independent witness: `litewitness` of filippo.io/torchwood. It runs where it is installed: named by PROOF_LITEWITNESS, or on the path
 * (`go install filippo.io/torchwood/cmd/litewitness@v0.9.0`). It signs through an SSH agent.
 */
const LITEWITNESS = process.env.PROOF_LITEWITNESS ?? 'litewitness';
const isThere =
  String(spawnSync(LITEWITNESS, ['-help'], { encoding: 'utf8' }).stderr).includes('ssh-agent') &&
  spawnSync('ssh-agent', ['-h'], { encoding: 'utf8' }).status !== null;
const WITHOUT = isThere ? '' : ' (not run: PROOF_LITEWITNESS names none, and there is none on the path)';

describe.runIf(isThere)(`litewitness of torchwood${WITHOUT}`, () => {
  let directory: string;
  let agent: ChildProcess;
  let program: ChildProcess;
  let witness: StandardWitness;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'litewitness-'));
    const [key, socket, db] = ['key', 'agent', 'db'].map((name) => join(directory, name));
    if (key === undefined || socket === undefined || db === undefined) throw new Error('three paths');
    agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    await vi.waitUntil(() => existsSync(socket), PATIENT);
    run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    run('ssh-add', ['-q', key], { SSH_AUTH_SOCK: socket });
    const [, fingerprint = ''] = run('ssh-keygen', ['-lf', key]).split(' ');
    const listen = `127.0.0.1:${await freePort()}`;
    const args = ['-name', 'lite.example', '-db', db, '-ssh-agent', socket, '-listen', listen, '-key', fingerprint];
    program = spawn(LITEWITNESS, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    program.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const vkey = (): string | undefined => /vkey="?(lite\.example\+[^\s"]+)/.exec(said)?.[1];
    await vi.waitUntil(() => vkey() !== undefined, PATIENT);
    // Its own command to add a log does no more.
    const tables = new DatabaseSync(db);
    tables.exec('pragma busy_timeout = 5000');
    const root = Buffer.from(EMPTY_ROOT).toString('base64');
    tables.prepare('insert into log (origin, tree_size, tree_hash) values (?, 0, ?)').run(ORIGIN, root);
    tables.prepare('insert into key (origin, key) values (?, ?)').run(ORIGIN, logKey.text);
    witness = {
      key: vkey() ?? '',
      url: `http://${listen}`,
      size: async () => Number(tables.prepare('select tree_size from log').get()?.tree_size),
    };
  });
  afterAll(async () => {
    for (const child of [program, agent]) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    rmSync(directory, { recursive: true });
  });

  function run(command: string, args: readonly string[], env: Record<string, string> = {}): string {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
    return stdout;
  }

  it('stops a restored log of which it cosigned 330 leaves', () => restoredLogSignsNothing(witness));
});
