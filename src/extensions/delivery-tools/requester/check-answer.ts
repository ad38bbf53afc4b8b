import { builtInVersions, checkWhole, loadModel, type Model, type PartCheck } from '../../../gegevens/model/model.ts';
import { JadesError } from '../../../lib/jades/errors.ts';
import type { Verified, Verifier } from '../../../lib/jades/verify.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { isTemporaryStatus, RequesterError, type SupplierResponse } from './send-request.ts';

/** A page of which digest, signature, form and model are right. */
export interface CheckedPage {
  readonly gegevens: JsonObject;
  readonly paginering: Paginering | undefined;
  readonly verified: Verified;
}

export interface Paginering {
  readonly pageSize: number;
  readonly currentPage: number;
  readonly totalPages: number;
  readonly totalRecords: number;
}

const SHOWN_FAULTS = 10;

/** The model that answers must fit, as a whole. */
export interface ExpectedModel {
  readonly model: Model;
  readonly check: PartCheck;
}

/** Checks one answer. @throws {RequesterError} that says what is wrong */
export async function checkAnswer(
  answered: SupplierResponse,
  verifier: Verifier,
  { model, check }: ExpectedModel,
): Promise<CheckedPage> {
  const { status, headers, body } = answered;
  if (status !== 200) {
    // An Outway or Inway that refuses says why in a header too, with or without a body.
    const [code] = headers['fsc-error-code'] ?? [];
    throw new RequesterError(`status ${status}: ${describeProblem(body, code)}`, {
      isTemporary: isTemporaryStatus(status),
    });
  }
  const verified = await verifier
    .verify({ digestHeader: headers.digest, signatureHeader: headers['nlgov-adr-payload-sig'], body })
    .catch((error: unknown) => {
      throw error instanceof JadesError
        ? new RequesterError(`the answer is not signed as it should be: ${error.message}`, { cause: error })
        : error;
    });
  const value = parse(body);
  if (!isRecord(value) || !isRecord(value.gegevens)) throw new RequesterError('the answer has no `gegevens`');
  const unknown = Object.keys(value).filter((name) => name !== 'gegevens' && name !== 'paginering');
  if (unknown.length > 0) throw new RequesterError(`the answer has unknown members: ${unknown.join(', ')}`);
  const faults = check.faults(value.gegevens);
  if (faults.length > 0) {
    const shown = faults
      .slice(0, SHOWN_FAULTS)
      .map(({ instancePath, message }) => `  ${instancePath || '/'} ${message}`);
    const { versie } = model.mapping;
    const other = otherModel(value.gegevens, model);
    const advice =
      other === undefined ? [] : [`it is a delivery of model ${other}: --model ${other} requests it as such`];
    throw new RequesterError([`\`gegevens\` does not fit the model ${versie}:`, ...shown, ...advice].join('\n'));
  }
  return { gegevens: value.gegevens, paginering: readPaginering(value.paginering), verified };
}

/** The newest other built-in model that a delivery fits; `undefined` when it fits none. */
function otherModel(gegevens: JsonObject, { variant, mapping }: Model): string | undefined {
  return builtInVersions(variant)
    .toReversed()
    .find((version) => version !== mapping.versie && checkWhole(loadModel(variant, version)).ok(gegevens));
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw new RequesterError('the answer is not JSON', { cause });
  }
}

function readPaginering(value: unknown): Paginering | undefined {
  if (value === undefined) return undefined;
  const numbers = ['pageSize', 'currentPage', 'totalPages', 'totalRecords'].map((name) =>
    isRecord(value) ? value[name] : undefined,
  );
  const [pageSize, currentPage, totalPages, totalRecords] = numbers.filter((n) => typeof n === 'number');
  if (
    pageSize === undefined ||
    currentPage === undefined ||
    totalPages === undefined ||
    totalRecords === undefined ||
    ![pageSize, currentPage, totalPages, totalRecords + 1].every((n) => Number.isInteger(n) && n >= 1)
  ) {
    throw new RequesterError('`paginering` is not what the contract says');
  }
  return { pageSize, currentPage, totalPages, totalRecords };
}

/** What a problem document or FSC error says. */
export function describeProblem(body: Buffer, code?: string): string {
  const fallback = code ?? 'no explanation';
  try {
    const value: unknown = JSON.parse(body.toString());
    if (!isRecord(value)) return fallback;
    const { title, detail, domain } = value;
    return [value.code ?? code ?? value.type, domain, title, detail]
      .filter((text) => typeof text === 'string')
      .join(' - ');
  } catch {
    return fallback;
  }
}
