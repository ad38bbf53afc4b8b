/**
 * Runs one program of `bench/`: `bench NAME` is bench/NAME.ts, `drill NAME` is bench/drill-NAME.ts. Without a name it
 * lists them.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';

const [kind = 'bench', name, ...args] = process.argv.slice(2);
const directory = join(import.meta.dirname, '../bench');
const prefix = kind === 'drill' ? 'drill-' : '';
const names = globSync('*.ts', { cwd: directory })
  .map((file) => basename(file, '.ts'))
  .filter((file) => file.startsWith('drill-') === (kind === 'drill'))
  .map((file) => file.slice(prefix.length))
  .toSorted();

const file = join(directory, `${prefix}${name}.ts`);
if (name === undefined || !names.includes(name) || !existsSync(file)) {
  console.error(`${kind}: name one of ${names.length === 0 ? '(none yet)' : names.join(', ')}`);
  process.exitCode = name === undefined ? 0 : 2;
} else {
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
