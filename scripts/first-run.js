// Installs the locked dependencies when they are missing or out of date, then runs the given command on the pinned
// Node. Plain JavaScript, because it must run on any Node that the machine has (20 or newer).
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const stamp = join(modules, '.koppelvlak-installed');
// A link leads to an installation shared with others (a second worktree), which npm would empty.
const isShared = lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
const lockHash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

if (!isShared && (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lockHash)) {
  process.stderr.write('Installing dependencies (first run only) …\n');
  const npm = process.env.npm_execpath;
  // With NODE_ENV=production npm would omit the packages that tests need, and the stamp would still claim a complete
  // installation. The lock file names no registry, so npm asks about each package; cached answers are good enough,
  // because the lock file has the digests. If the cache is older than the lock file, npm asks again.
  let status = 1;
  for (const source of [['--prefer-offline'], []]) {
    const install = ['ci', '--include=dev', '--include=optional', ...source];
    const [command, args] = npm?.endsWith('.js') ? [process.execPath, [npm, ...install]] : ['npm', install];
    // npm's output goes to standard error: standard output belongs to the command that follows.
    ({ status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] }));
    if (status === 0) break;
  }
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, lockHash);
}

const [command, ...args] = process.argv.slice(2);
if (command === undefined) process.exit(0);
const child = spawn(command, args, {
  stdio: 'inherit',
  env: {
    // Node's compile cache, which shortens the next start; Node does without it where it may not write.
    ...(command === 'node' ? { NODE_COMPILE_CACHE: join(modules, '.cache', 'node') } : {}),
    ...process.env,
    PATH: join(modules, '.bin') + delimiter + process.env.PATH,
  },
});
// Ctrl-C reaches the child through the terminal's process group; a signal sent to this process alone is forwarded.
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('error', (error) => {
  process.stderr.write(`${command}: ${error.message}\n`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
