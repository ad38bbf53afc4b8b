import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface NginxOptions {
  readonly port: number;
  /** The kernel sends the file by itself, and nothing is copied; off by default in nginx. */
  readonly sendfile: boolean;
}

/** Serves a body as a file with nginx; `undefined` when it is not installed. */
export async function startNginx(
  parent: string,
  body: Buffer,
  { port, sendfile }: NginxOptions,
): Promise<{ url: string; stop: () => Promise<void> } | undefined> {
  const dir = join(parent, `nginx-${port}`);
  await mkdir(join(dir, 'www'), { recursive: true });
  await writeFile(join(dir, 'www', 'page.json'), body);
  const conf = `user root; worker_processes 1; daemon off; pid ${dir}/nginx.pid; error_log ${dir}/nginx.log;
    events { worker_connections 1024; }
    http { access_log off; ${sendfile ? 'sendfile on; tcp_nopush on; ' : ''}keepalive_requests 100000000; types { application/json json; }
      server { listen 127.0.0.1:${port}; root ${dir}/www; } }`;
  await writeFile(join(dir, 'nginx.conf'), conf);
  const child = spawn('nginx', ['-c', join(dir, 'nginx.conf'), '-p', dir], { stdio: 'ignore' });
  const started = new AbortController();
  const failed = Promise.race([once(child, 'error'), once(child, 'exit')]).then(() => true);
  try {
    if (await Promise.race([failed, listening(port, started.signal)])) return undefined;
  } finally {
    // Looking on for a server that never comes would keep the benchmark from ending.
    started.abort();
  }
  return {
    url: `http://127.0.0.1:${port}/page.json`,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function listening(port: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const up = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.unref();
    });
    if (up) return false;
    await sleep(50);
  }
  return true;
}
