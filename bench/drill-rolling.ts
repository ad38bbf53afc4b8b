/**
 * Restarts two instances behind nginx in turn, under load on all areas: `node bench/drill-rolling.ts [restarts of each]
 * [minimum number of requests] [milliseconds between a client's requests]`.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.ts';
import { startMixedLoad } from './support/mixed-load.ts';
import { type Instance, startInstance, startProxy } from './support/proxied-pair.ts';
import { openSupplierDatabase } from './support/supplier-database.ts';

const [restarts = 10, atLeast = 20_000, pauseMs = 0] = process.argv.slice(2).map(Number);
const CLIENTS = 8;
const DRAIN_MS = 1500;
/** Time until nginx retries an instance (`fail_timeout`). */
const FOUND_MS = 2000;

await using closing = new AsyncDisposableStack();
const { path: dir } = closing.use(await mkdtempDisposable(join(tmpdir(), 'kv-rolling-')));
process.exitCode = (await drill()) ? 0 : 1;

async function drill(): Promise<boolean> {
  const supplier = await openSupplierDatabase(dir);
  closing.defer(supplier.close);
  const env = { ...supplier.env, SHUTDOWN_DRAIN_MS: String(DRAIN_MS) };
  const ports = [await freePort(), await freePort()] as const;
  const instances = [await startInstance(ports[0], env), await startInstance(ports[1], env)];
  closing.defer(async () => void (await Promise.all(instances.map((instance) => instance.stop()))));
  const proxy = await startProxy(dir, ports);
  closing.defer(proxy.stop);
  const load = startMixedLoad({ port: proxy.port, asks: supplier.asks, clients: CLIENTS, pauseMs });
  const startedAt = performance.now();
  try {
    for (let round = 1; round <= restarts; round += 1) {
      for (const [i, port] of ports.entries()) {
        if (instances[i] !== undefined) await stop(instances[i]);
        instances[i] = await startInstance(port, env);
        await sleep(FOUND_MS);
      }
      console.log(`round ${round}: ${load.answered()} answered, ${load.failures.length} failed`);
    }
    while (load.answered() < atLeast) await sleep(100);
  } finally {
    await load.stop();
  }
  for (const failure of load.failures.slice(0, 20)) console.log(`FAULT ${failure}`);
  if (load.failures.length > 0) console.log((await proxy.errors()).split('\n').slice(-20).join('\n'));
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${restarts * 2} restarts in ${seconds.toFixed(0)} s: ${load.answered()} answered, ${load.failures.length} failed`,
  );
  return load.failures.length === 0;
}

/** As an operator would; a load balancer that polls readiness learns that the instance is stopping. */
async function stop(instance: Instance): Promise<void> {
  const ended = instance.stop();
  let said: unknown;
  for (const until = Date.now() + DRAIN_MS; said !== 'stopping' && Date.now() < until; await sleep(20)) {
    const response = await fetch(`${instance.managementUrl}/health/ready`);
    const { status }: { status: string } = JSON.parse(await response.text());
    if (response.status === 503) said = status;
  }
  const code = await ended;
  if (said !== 'stopping' || code !== 0) throw new Error(`an instance reported ${said} and exited with ${code}`);
}
