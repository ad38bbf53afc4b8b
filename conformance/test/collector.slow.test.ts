/** The suite for an intake of log lines on a real OpenTelemetry Collector, if available: named by OTELCOL, or on the path. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { freePort } from '../../test/support/free-port.ts';
import { LDV } from '../ldv/suite.ts';
import { runLdv } from './run-ldv.ts';

const OTELCOL = process.env.OTELCOL ?? 'otelcol-contrib';
const isThere = spawnSync(OTELCOL, ['--help']).status === 0;
/** Cases for a service that checks tokens, offers reading, is busy, or has a certificate; and cases that need a refused line. */
const SKIPPED = ['L-ANS-01', 'L-ANS-02', 'L-ANS-11', 'L-ANS-16', 'L-ANS-17'];

it.runIf(isThere)('an OpenTelemetry Collector passes every must', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'koppelvlak-otelcol-'));
  const listen = `127.0.0.1:${await freePort()}`;
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: listen } } } },
    exporters: { debug: {} },
    service: {
      pipelines: { traces: { receivers: ['otlp'], exporters: ['debug'] } },
      telemetry: { metrics: { level: 'none' } },
    },
  };
  writeFileSync(join(directory, 'collector.yaml'), JSON.stringify(config));
  const collector = spawn(OTELCOL, ['--config', join(directory, 'collector.yaml')], { stdio: 'ignore' });
  try {
    const isUp = () =>
      fetch(`http://${listen}/v1/traces`).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(isUp, { interval: 100 }).toBe(405);
    const results = await runLdv(`http://${listen}/v1`, async () => 'een-token');
    const cases = LDV.chapters.flatMap((chapter) => chapter.cases);
    const musts = cases.filter(({ level }) => level === 'must').map(({ id }) => id);
    const others = results.filter(({ id, outcome }) => musts.includes(id) && outcome !== 'passed');
    expect(others.filter(({ outcome }) => outcome !== 'skipped')).toEqual([]);
    expect(others.map(({ id }) => id)).toEqual(SKIPPED);
  } finally {
    collector.kill('SIGKILL');
    await once(collector, 'exit');
    rmSync(directory, { recursive: true });
  }
});
