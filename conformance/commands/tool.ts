import { readFile } from 'node:fs/promises';
import { UsageError } from '../../src/lib/command-error.ts';
import { interruptible, reportFailure } from '../../src/lib/command-line.ts';
import { reasonOf } from '../../src/lib/log.ts';
import type { ProxySettings } from '../../src/lib/outbound/guarded-fetch.ts';
import { createOutput, type Output } from '../../src/lib/output.ts';
import type { Environment, Terminal } from '../../src/lib/terminal.ts';
import { decodeUtf8, EncodingError } from '../../src/lib/text-file.ts';

export const PROGRAM = 'koppelvlak-conformance';

export interface ToolContext {
  readonly terminal: Terminal;
  readonly output: Output;
  readonly proxy: ProxySettings;
  /** Allows revocation services at private addresses. */
  readonly allowPrivate: boolean;
  /** Fires on Ctrl-C and `SIGTERM`: stop, leaving nothing half done. */
  readonly interrupted: AbortSignal;
}

/** Runs a command. Exit status 0, or 1 or 2 with the reason on standard error. */
export async function runTool(
  terminal: Terminal,
  options: { readonly json?: boolean },
  command: (context: ToolContext) => Promise<unknown>,
): Promise<void> {
  const work = async (): Promise<void> => {
    const output = createOutput(terminal, options.json ?? false);
    const environment = await readEnvironment(terminal.env);
    await interruptible(terminal, (interrupted) => command({ terminal, output, interrupted, ...environment }));
  };
  await reportFailure(terminal, work, PROGRAM);
}

/**
 * The settings that the suites share with the service.
 * @throws {UsageError} without repeating the value, which may be secret
 */
async function readEnvironment(env: Environment): Promise<Pick<ToolContext, 'proxy' | 'allowPrivate'>> {
  const file = env.OUTBOUND_PROXY_FILE;
  const outboundProxy = file === undefined ? env.OUTBOUND_PROXY : (await readText(file)).trim();
  if (outboundProxy !== undefined && !/^https?:$/.test(URL.parse(outboundProxy)?.protocol ?? ''))
    throw new UsageError('OUTBOUND_PROXY is not the address of a proxy: http://… or https://…');
  const allowed = env.GEGEVENS_REVOCATION_ALLOW_PRIVATE ?? 'false';
  if (allowed !== 'true' && allowed !== 'false')
    throw new UsageError('GEGEVENS_REVOCATION_ALLOW_PRIVATE is neither true nor false');
  const outboundNoProxy = (env.OUTBOUND_NO_PROXY ?? '').split(',').map((host) => host.trim());
  return {
    proxy: { outboundProxy, outboundNoProxy: outboundNoProxy.filter((host) => host !== '') },
    allowPrivate: allowed === 'true',
  };
}

/** @throws {UsageError} when the value of an option is invalid */
export function asUsage<Value>(option: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw error instanceof Error ? new UsageError(`${option}: ${error.message}`) : error;
  }
}

/** @throws {UsageError} when the file cannot be read */
export function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be read: ${reasonOf(cause)}`);
  });
}

/** @throws {UsageError} when the file cannot be read or is not UTF-8 */
export async function readText(file: string): Promise<string> {
  return asText(await readBytes(file), file);
}

/** The texts of files, one after another. @throws {UsageError} as `readText` */
export async function readJoined(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(readText))).join('\n');
}

/** @throws {UsageError} naming the first line that is not UTF-8 */
export function asText(bytes: Buffer, file: string): string {
  try {
    return decodeUtf8(bytes, file);
  } catch (error) {
    if (error instanceof EncodingError) throw new UsageError(error.message);
    throw error;
  }
}
