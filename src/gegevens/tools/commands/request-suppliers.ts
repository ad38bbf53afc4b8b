/** `gegevens request --suppliers FILE`: what the office does each quarter, from all suppliers. */
import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolContext } from '../../../commands/run-command.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import { table } from '../../../lib/output.ts';
import { readTextFile } from '../../../lib/text-file.ts';
import type { Requester } from '../requester/request-delivery.ts';
import { type RequestOptions, requestFrom } from './request-from.ts';

interface SupplierLine {
  readonly line: number;
  /** Address of `gegevens`, or the hash of a grant. */
  readonly supplier: string;
  readonly variant: Variant;
  readonly model: string | undefined;
}

interface SupplierResult extends SupplierLine {
  readonly outcome: 'delivered' | 'empty' | 'temporary failure' | 'lasting failure';
  readonly records: number;
  readonly zaken: number;
  readonly blocking: number;
  readonly warnings: number;
  readonly error?: string;
  readonly file?: string;
}

const MAX_FILE_BYTES = 1024 * 1024;

/** @throws {CommandError} when one of them failed, after all have been asked */
export async function requestSuppliers(context: ToolContext, path: string, options: RequestOptions): Promise<void> {
  const { output, config, interrupted } = context;
  if (options.variant !== undefined || options.model !== undefined || options.grantHash !== undefined)
    throw new UsageError('variant, model and grant hash come from the file of --suppliers: leave out their options');
  const lines = await readSuppliers(path, options.outway !== undefined);
  if (options.out !== undefined) await mkdir(options.out, { recursive: true });
  const { openRequester } = await import('../requester/request-delivery.ts');
  const requester = await openRequester(config);
  const results: SupplierResult[] = [];
  const waiting = lines.values();
  const work = async (): Promise<void> => {
    for (const line of waiting) {
      interrupted.throwIfAborted();
      const result = await requestOne(context, line, requester, options);
      output.progress(`${line.supplier}: ${result.outcome}, ${result.records} records`);
      results.push(result);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(options.atOnce, lines.length) }, work));
  } finally {
    await requester.close();
  }
  results.sort((a, b) => a.line - b.line);
  const failed = results.filter(({ error }) => error !== undefined);
  output.result({ suppliers: results }, () => {
    const head = ['line', 'supplier', 'variant', 'outcome', 'records', 'cases', 'blocking', 'warnings'];
    const rows = results.map(({ line, supplier, variant, outcome, records, zaken, blocking, warnings }) =>
      [line, supplier, variant, outcome, records, zaken, blocking, warnings].map(String),
    );
    output.line(table(head, rows));
    for (const { line, error } of failed) output.line(`line ${line}: ${error}`);
  });
  if (failed.length > 0) throw new CommandError(`${failed.length} of ${results.length} suppliers failed`);
}

async function requestOne(
  context: ToolContext,
  line: SupplierLine,
  requester: Requester,
  { outway, ...options }: RequestOptions,
): Promise<SupplierResult> {
  const { output, interrupted } = context;
  const { countFindings } = await import('../check/report.ts');
  const { supplier, variant, model } = line;
  const isGrant = supplier.startsWith('$');
  const out = options.out === undefined ? undefined : join(options.out, `${nameOf(line)}.json`);
  const keep = options.keep === undefined ? undefined : join(options.keep, nameOf(line));
  const own = { ...options, variant, model, keep, out, ...(isGrant ? { outway, grantHash: supplier } : {}) };
  try {
    const { records, zaken, report } = await requestFrom(isGrant ? undefined : supplier, {
      context,
      requester,
      options: own,
      tell: (text) => output.progress(`${supplier}: ${text}`),
    });
    const [blocking, warnings] = [countFindings(report, 'blocking'), countFindings(report, 'warning')];
    const outcome = records === 0 ? 'empty' : 'delivered';
    return { ...line, records, zaken, blocking, warnings, outcome, ...(out === undefined ? {} : { file: out }) };
  } catch (error) {
    interrupted.throwIfAborted();
    const { RequesterError } = await import('../requester/send-request.ts');
    if (!(error instanceof RequesterError || error instanceof CommandError)) throw error;
    const isTemporary = error instanceof RequesterError && error.isTemporary;
    const nothing = { ...line, records: 0, zaken: 0, blocking: 0, warnings: 0 };
    return { ...nothing, outcome: isTemporary ? 'temporary failure' : 'lasting failure', error: error.message };
  }
}

/** The same in each run, wherever the line is in the file. */
function nameOf({ supplier, variant }: SupplierLine): string {
  const hash = createHash('sha256').update(supplier).digest('hex').slice(0, 12);
  const host = URL.parse(supplier)?.hostname;
  return [variant, ...(host === undefined ? [] : [host.replaceAll(/[^a-z0-9.-]/gi, '_')]), hash].join('-');
}

/** @throws {CommandError} naming every line that cannot be used */
async function readSuppliers(path: string, hasOutway: boolean): Promise<SupplierLine[]> {
  const size = (await stat(path)).size;
  if (size > MAX_FILE_BYTES) throw new CommandError(`${path} has more than ${MAX_FILE_BYTES} bytes`);
  const { builtInVersions } = await import('../../../lib/exchange-model/model.ts');
  const faults: string[] = [];
  const seen = new Map<string, number>();
  const lines = (await readTextFile(path)).split(/\r?\n/).flatMap((text, index): SupplierLine[] => {
    const line = index + 1;
    const [supplier, variant, model, ...more] = text.trim().split(/\s+/);
    if (supplier === undefined || supplier === '' || supplier.startsWith('#')) return [];
    const fault = (what: string): SupplierLine[] => {
      faults.push(`line ${line}: ${what}`);
      return [];
    };
    if (variant !== 'shv' && variant !== 'vs') return fault('after the address or grant comes the variant, shv or vs');
    if (more.length > 0) return fault('more than an address or grant, a variant and a model');
    if (model !== undefined && !builtInVersions(variant).includes(model))
      return fault(`no model ${model}: ${builtInVersions(variant).join(', ')}`);
    if (supplier.startsWith('$')) {
      if (!hasOutway) return fault('a grant needs --outway');
    } else if (!/^https?:$/.test(URL.parse(supplier)?.protocol ?? '')) return fault('neither an address nor a grant');
    const before = seen.get(`${supplier} ${variant}`);
    if (before !== undefined) return fault(`the same as line ${before}`);
    seen.set(`${supplier} ${variant}`, line);
    return [{ line, supplier, variant, model }];
  });
  if (faults.length > 0)
    throw new CommandError(`${path} cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  if (lines.length === 0) throw new CommandError(`${path} names no supplier`);
  return lines;
}
