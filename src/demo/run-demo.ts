import { join, relative } from 'node:path';
import process from 'node:process';
import { openDatabase } from '../database/open-database.ts';
import type { Terminal } from '../lib/terminal.ts';
import { createProofWriters } from '../proof/writer.ts';
import { HOME } from '../raadsfeed/pages/context.ts';
import { stopOnSignals } from '../serve.ts';
import { createDemoClient } from './demo-client.ts';
import type { Demo, TourNeeds } from './demo-part.ts';
import { examplesIn, loadExampleData } from './example-data.ts';
import { tourLdv } from './parts/ldv.ts';
import { tourProof } from './parts/proof.ts';
import { tourSuppliers } from './parts/suppliers.ts';
import { tourPreflight } from './parts/tools.ts';
import { startDemo } from './start-demo.ts';
import { tourFeed } from './tour/tour-feed.ts';
import { tourGegevens } from './tour/tour-gegevens.ts';
import { tourLog } from './tour/tour-log.ts';
import { Transcript } from './transcript.ts';

interface RunDemoOptions {
  readonly once: boolean;
  readonly empty: boolean;
}

/** Starts everything, loads example data, plays the clients, and runs until a signal. Exit status 1 when a check failed. */
export async function runDemo({ once, empty }: RunDemoOptions, terminal: Terminal): Promise<void> {
  const transcript = new Transcript((text) => terminal.stdout.write(text));
  terminal.stdout.write('Koppelvlak demo: starting everything on this machine …\n');
  const demo = await startDemo(terminal.env);
  let isStopping = false;
  const signalled = stopOnSignals(terminal, {
    log: demo.log,
    lost: demo.lost,
    timeoutMs: demo.config.server.shutdownTimeoutMs,
    stop: async () => {
      isStopping = true;
      if (once) terminal.exitCode = 1;
      terminal.stderr.write('\nStopping …\n');
      await demo.stop();
    },
  });
  const work = async (): Promise<void> => {
    try {
      describeStart(demo, transcript);
      if (!empty) await loadAndPlay(demo, transcript);
      if (!once) describeRest(demo, transcript);
    } catch (error) {
      // Failures during shutdown do not count.
      if (isStopping) return await signalled;
      await demo.stop();
      throw error;
    }
    if (once) await demo.stop();
    else await signalled;
  };
  await Promise.race([signalled, work()]);
  if (transcript.failed > 0) terminal.exitCode = 1;
}

async function loadAndPlay(demo: Demo, transcript: Transcript): Promise<void> {
  const { file, home, log } = demo;
  const client = createDemoClient(file);
  const config = { ...demo.config, database: { ...demo.config.database, url: file.databaseUrl } };
  const { pool, close } = await openDatabase({ config, log, purpose: 'command' });
  const ended = new AbortController();
  try {
    const proof = createProofWriters(config);
    const needs = { config, pool, proof, signal: ended.signal, client };
    const directory = examplesIn(home);
    const loaded = await loadExampleData({ ...needs, file, directory });
    transcript.section(`Example data (files in ${shortPath(directory)})`);
    const describe = (count: number, what: string): void =>
      transcript.line(count === 0 ? `${what}: there already` : `${what}: ${count} loaded`);
    describe(loaded.shv, 'deliveries of trajectories (SHV)');
    describe(loaded.vs, 'deliveries of signals (VS)');
    describe(loaded.acties, 'processing actions of two persons');
    describe(loaded.records, 'records of the council feed of two organisations');
    await playTour({ ...needs, demo, transcript });
    transcript.line();
    transcript.line(`${transcript.passed} checks ok, ${transcript.failed} failed`);
  } finally {
    ended.abort();
    await close();
  }
}

async function playTour(needs: TourNeeds): Promise<void> {
  const { areas } = needs.config.server;
  if (areas.includes('shv')) await tourGegevens(needs, 'shv');
  if (areas.includes('vs')) await tourGegevens(needs, 'vs');
  if (areas.includes('verwerkingenlog')) {
    await tourLog(needs);
    await tourLdv(needs);
    await tourProof(needs);
  }
  if (areas.includes('raadsfeed')) await tourFeed(needs);
  await tourSuppliers(needs);
  await tourPreflight(needs);
}

function describeStart({ file, home, logFile }: Demo, transcript: Transcript): void {
  transcript.section('Everything is running, on this machine only');
  transcript.line(`service        ${file.baseUrl}`);
  transcript.line(`tokens         ${file.tokenUrl}   (a throw-away authorization server)`);
  transcript.line(
    `certificates   ${file.pki.ocspUrl}   (a throw-away certificate authority: never trust it elsewhere)`,
  );
  transcript.line(`operations     ${file.managementUrl}/health/ready, /metrics`);
  transcript.line(`data and keys  ${shortPath(home)}   (remove it to start over)`);
  transcript.line(`addresses, secrets and key files for a client of your own: ${shortPath(join(home, 'demo.json'))}`);
  transcript.line(`log            ${shortPath(logFile)}`);
}

function describeRest({ file, config }: Demo, transcript: Transcript): void {
  transcript.section('What next');
  transcript.line('read the interfaces in a browser:');
  for (const mount of Object.values(file.mounts)) transcript.line(`  ${mount}/docs`);
  const { inzage, pages, server } = config;
  if (inzage.pages && server.areas.includes('verwerkingenlog')) {
    transcript.line(
      `see what was done with your data, as a citizen: ${file.baseUrl}/inzage (log in as one of two persons)`,
    );
  }
  if (pages.isOn && server.areas.includes('raadsfeed')) {
    transcript.line(`browse the council information: ${file.baseUrl}${HOME}`);
  }
  transcript.line('read the data from the command line while this is running:');
  transcript.command('npm run --silent koppelvlak -- --help');
  transcript.line('Ctrl-C stops everything; the data is kept for the next start.');
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
