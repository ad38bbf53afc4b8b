import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import type { Running } from '../support/program.ts';

/** A separate directory for a program under test. */
export async function temporaryHome(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(inject('databaseHomes'), 'koppelvlak-program-'));
  const remove = async (): Promise<void> => {
    // The Postgres of a killed program notices its death, and keeps writing until it has exited.
    while (await hasPostgres(path)) await sleep(25);
    await rm(path, { recursive: true, force: true });
  };
  return { path, remove };
}

/** The environment of a demo on free ports. */
export function freePorts(home: string): Record<string, string> {
  return { PORT: '0', MANAGEMENT_PORT: '0', KOPPELVLAK_HOME: home };
}

const LONGEST_MS = 120_000;

/** @throws when the program has exited, or takes too long: with its output */
function requireRunning({ child, output }: Running, began: number, wanted: string): void {
  const ended = child.exitCode ?? child.signalCode;
  if (ended === null && Date.now() < began + LONGEST_MS) return;
  const { stdout, stderr } = output();
  throw new Error(`${ended === null ? 'still' : `ended with ${ended},`} without ${wanted}:\n${stdout}\n${stderr}`);
}

/**
 * Reads `demo.json` once it exists.
 * @throws when the program exits first
 */
export async function waitForDemo(home: string, running: Running): Promise<Record<string, unknown>> {
  for (const began = Date.now(); ; await sleep(25)) {
    const text = await readFile(join(home, 'demo.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) {
      const file: unknown = JSON.parse(text);
      if (isRecord(file)) return file;
    }
    requireRunning(running, began, 'demo.json');
  }
}

/**
 * Resolves when the program's standard output contains the text.
 * @throws when the program exits first
 */
export async function waitForText(running: Running, text: string): Promise<void> {
  for (const began = Date.now(); !running.output().stdout.includes(text); await sleep(25)) {
    requireRunning(running, began, text);
  }
}

/** True when a Postgres runs on this home's data. */
export async function hasPostgres(home: string): Promise<boolean> {
  const lines = await readFile(join(home, 'postgres', 'postmaster.pid'), 'utf8').catch(() => undefined);
  const pid = Number(lines?.split('\n', 1)[0]);
  if (!Number.isSafeInteger(pid) || pid < 2) return false;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.includes(home);
}
