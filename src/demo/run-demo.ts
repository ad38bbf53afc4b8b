import { join, relative } from 'node:path';
import process from 'node:process';
import { openDatabase } from '../database/open-database.ts';
import { openStoreHooks } from '../seams/store-hooks.ts';
import type { Terminal } from '../seams/terminal.ts';
import { stopOnSignals } from '../serve.ts';
import { createDemoClient, type DemoAnswer, type DemoClient } from './demo-client.ts';
import { loadDemoParts } from './demo-parts.ts';
import type { DemoDatabase } from './load-example-data.ts';
import { loadExampleData } from './load-example-data.ts';
import { type Demo, startDemo } from './start-demo.ts';
import { tourFeed } from './tour/tour-feed.ts';
import { tourGegevens } from './tour/tour-gegevens.ts';
import { tourLog } from './tour/tour-log.ts';

interface RunDemoOptions {
  /** End after the tour. */
  readonly once: boolean;
  /** Load no data and play no tour. */
  readonly empty: boolean;
}

/**
 * Starts everything, loads example data, plays the clients, and stays until a signal. The exit status is 1 when a check failed.
 * @throws {Error} with a message for people when it cannot start
 */
export async function runDemo({ once, empty }: RunDemoOptions, terminal: Terminal): Promise<void> {
  const transcript = createTranscript((text) => terminal.stdout.write(text));
  terminal.stdout.write('Koppelvlak demo: everything is being started on this machine …\n');
  const demo = await startDemo(terminal.env);
  let asked = false;
  const signalled = stopOnSignals(terminal, {
    log: demo.log,
    lost: demo.lost,
    timeoutMs: demo.config.server.shutdownTimeoutMs,
    stop: async () => {
      asked = true;
      if (once) terminal.exitCode = 1;
      terminal.stderr.write('\nStopping …\n');
      await demo.stop();
    },
  });
  const work = async (): Promise<void> => {
    if (!empty) await loadAndPlay(demo, transcript);
    if (!once) {
      await describeRest(demo, transcript, empty);
      await signalled;
      return;
    }
    await demo.stop();
  };
  await Promise.race([
    signalled,
    work().catch(async (error: unknown) => {
      // What breaks because everything is being stopped is no failure.
      if (!asked) {
        await demo.stop();
        throw error;
      }
      await signalled;
    }),
  ]);
  if (transcript.failed > 0) terminal.exitCode = 1;
}

async function loadAndPlay(demo: Demo, transcript: Transcript): Promise<void> {
  const { file, config, home, log } = demo;
  const client = createDemoClient(file);
  const database = { ...config.database, url: file.databaseUrl };
  const opened = { ...config, database };
  const { pool, close } = await openDatabase({ config: opened, log, purpose: 'command' });
  const ended = new AbortController();
  try {
    describeStart(demo, transcript);
    const { proof } = await openStoreHooks(opened);
    const needs: DemoDatabase = { config: opened, pool, proof, signal: ended.signal };
    const directory = join(home, 'voorbeelden');
    const loaded = await loadExampleData({ ...needs, client, mounts: file.mounts, directory });
    transcript.section(`Example data (files in ${shortPath(directory)})`);
    const describe = (count: number, what: string): string =>
      count === 0 ? `${what}: there already` : `${what}: ${count} loaded`;
    transcript.line(describe(loaded.shv, 'deliveries of trajectories (SHV)'));
    transcript.line(describe(loaded.vs, 'deliveries of signals (VS)'));
    transcript.line(describe(loaded.acties, 'processing actions of two persons'));
    transcript.line(describe(loaded.records, 'records of the council feed of two organisations'));
    await playTour({ ...needs, demo, client, transcript });
    transcript.line();
    transcript.line(`${transcript.passed} checks ok, ${transcript.failed} failed`);
  } finally {
    ended.abort();
    await close();
  }
}

function describeStart({ file, home, logFile }: Demo, transcript: Transcript): void {
  transcript.section('Everything runs, on this machine only');
  transcript.line(`service        ${file.baseUrl}`);
  transcript.line(`tokens         ${file.tokenUrl}   (a throw-away authorization server)`);
  transcript.line(`certificates   ${file.pki.ocspUrl}   (a throw-away authority: nobody must trust it)`);
  transcript.line(`operations     ${file.managementUrl}/health/ready, /metrics`);
  transcript.line(`data and keys  ${shortPath(home)}   (remove it to start over)`);
  transcript.line(`addresses, secrets and key files for your own client: ${shortPath(join(home, 'demo.json'))}`);
  transcript.line(`log            ${shortPath(logFile)}`);
}

async function describeRest(demo: Demo, transcript: Transcript, empty: boolean): Promise<void> {
  const { file } = demo;
  if (empty) describeStart(demo, transcript);
  transcript.section('What next');
  transcript.line('read the interfaces in a browser:');
  for (const mount of Object.values(file.mounts)) transcript.line(`  ${mount}/docs`);
  for (const { next } of await loadDemoParts())
    for (const line of next?.(demo.config, file.baseUrl) ?? []) transcript.line(line);
  transcript.line('read the data with the command line, while this runs:');
  transcript.command('npm run --silent koppelvlak -- --help');
  transcript.line('Ctrl-C stops everything; the data are kept for the next start.');
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** The database is for what has no address to the outside, such as publishing to the feed. */
export interface TourNeeds extends DemoDatabase {
  readonly demo: Demo;
  readonly client: DemoClient;
  readonly transcript: Transcript;
}

/** Plays the clients of every mounted area and checks what they get. */
async function playTour(needs: TourNeeds): Promise<void> {
  const { areas } = needs.demo.config.server;
  if (areas.includes('shv')) await tourGegevens(needs, 'shv');
  if (areas.includes('vs')) await tourGegevens(needs, 'vs');
  const parts = await loadDemoParts();
  if (areas.includes('verwerkingenlog')) {
    await tourLog(needs);
    for (const part of parts) await part.tourLog?.(needs);
  }
  if (areas.includes('raadsfeed')) await tourFeed(needs);
  if (areas.includes('shv') || areas.includes('vs')) for (const part of parts) await part.tourLast?.(needs);
}

/** What the demo tells: sections, lines, and checks that are counted. */
export interface Transcript {
  section(title: string): void;
  line(text?: string): void;
  /** A command to try, on a line of its own so that it can be copied. */
  command(text: string): void;
  /** Names a check and how it went. */
  check(name: string, isRight: boolean, found?: string): void;
  /** Checks the status of an answer; of another one it shows the status and how it begins. */
  status(name: string, answer: DemoAnswer, expected: number): void;
  /** Runs a part; what it throws becomes a failed check, and the next part goes on. */
  part(name: string, work: () => Promise<void>): Promise<void>;
  readonly passed: number;
  readonly failed: number;
}

/** @param write takes whole lines, with their end */
export function createTranscript(write: (text: string) => void): Transcript {
  let passed = 0;
  let failed = 0;
  let sections = 0;
  const transcript: Transcript = {
    get passed() {
      return passed;
    },
    get failed() {
      return failed;
    },
    section(title) {
      sections += 1;
      write(`\n${sections}. ${title}\n`);
    },
    line: (text = '') => write(text === '' ? '\n' : `   ${text}\n`),
    command: (text) => write(`     $ ${text}\n`),
    check(name, isRight, found) {
      if (isRight) passed += 1;
      else failed += 1;
      write(
        `   ${isRight ? 'ok    ' : 'FAILED'} ${name}${isRight || found === undefined ? '' : ` (found: ${found})`}\n`,
      );
    },
    status(name, { status, bytes }, expected) {
      transcript.check(name, status === expected, `${status} ${bytes.toString().slice(0, 300)}`);
    },
    async part(name, work) {
      try {
        await work();
      } catch (error) {
        transcript.check(name, false, error instanceof Error ? error.message : String(error));
      }
    },
  };
  return transcript;
}
