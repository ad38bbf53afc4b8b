/**
 * A Kubernetes API server with its etcd, for as long as a check lasts: no nodes and no controllers, so nothing runs, but everything is
 * admitted or refused as in a cluster. `kube-apiserver`, `etcd` and `kubectl` are looked for in PATH.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const START_MS = 120_000;

export interface Cluster {
  /** Runs kubectl. @throws {Error} with what it wrote when it fails */
  kubectl(args: readonly string[], input?: string): string;
  stop(): Promise<void>;
}

/** Whether this machine has what a cluster needs. */
export function hasCluster(): boolean {
  return ['kube-apiserver', 'etcd', 'kubectl'].every((program) => spawnSync(program, ['--help']).error === undefined);
}

export async function startCluster(): Promise<Cluster> {
  const dir = mkdtempSync(join(tmpdir(), 'kv-cluster-'));
  const key = join(dir, 'service-account.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const token = randomUUID();
  writeFileSync(join(dir, 'tokens.csv'), `${token},check,check,system:masters\n`, { mode: 0o600 });
  const [client, peer, secure] = await Promise.all([freePort(), freePort(), freePort()]);
  const etcd = `http://127.0.0.1:${client}`;
  const running: ChildProcess[] = [];
  const start = (command: string, args: readonly string[]): void => {
    running.push(spawn(command, args, { stdio: 'ignore' }));
  };
  start('etcd', [
    ...['--data-dir', join(dir, 'etcd'), '--listen-client-urls', etcd, '--advertise-client-urls', etcd],
    ...['--listen-peer-urls', `http://127.0.0.1:${peer}`],
  ]);
  start('kube-apiserver', [
    ...[`--etcd-servers=${etcd}`, '--bind-address=127.0.0.1', `--secure-port=${secure}`, `--cert-dir=${dir}`],
    ...['--authorization-mode=RBAC', `--token-auth-file=${join(dir, 'tokens.csv')}`],
    '--service-cluster-ip-range=10.0.0.0/24',
    ...['--service-account-issuer=https://kubernetes.default.svc', `--service-account-key-file=${key}`],
    `--service-account-signing-key-file=${key}`,
    // Without controllers no namespace gets the account that it would give to pods.
    '--disable-admission-plugins=ServiceAccount',
  ]);
  const kubectl = (args: readonly string[], input?: string): string => {
    const all = [`--server=https://127.0.0.1:${secure}`, '--insecure-skip-tls-verify', `--token=${token}`, ...args];
    const { status, stdout, stderr } = spawnSync('kubectl', all, { encoding: 'utf8', input });
    if (status !== 0) throw new Error(`kubectl ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout;
  };
  const stop = async (): Promise<void> => {
    for (const child of running.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  };
  const latest = Date.now() + START_MS;
  for (;;) {
    try {
      kubectl(['get', '--raw', '/readyz']);
      return { kubectl, stop };
    } catch (error) {
      if (Date.now() > latest) {
        await stop();
        throw error;
      }
      await delay(500);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
