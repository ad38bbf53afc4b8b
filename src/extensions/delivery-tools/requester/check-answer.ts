import { builtInVersions, checkWhole, loadModel, type Model, type PartCheck } from '../../../gegevens/model/model.ts';
import { JadesError } from '../../../lib/jades/errors.ts';
import type { Verified, Verifier } from '../../../lib/jades/verify.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { isTemporaryStatus, parseJson, RequesterError, type SupplierResponse } from './send-request.ts';

/** A page of which digest, signature, form and model are right. */
export interface CheckedPage {
  readonly gegevens: JsonObject;
  readonly paginering: Paginering | undefined;
  readonly verified: Verified;
}

const PAGINERING = ['pageSize', 'currentPage', 'totalPages', 'totalRecords'] as const;
type Paginering = Readonly<Record<(typeof PAGINERING)[number], number>>;

const SHOWN_FAULTS = 10;

/** The model that answers must fit, as a whole. */
export interface ExpectedModel {
  readonly model: Model;
  readonly check: PartCheck;
}

/** Checks one answer. @throws {RequesterError} that says what is wrong */
export async function checkAnswer(
  { status, headers, body }: SupplierResponse,
  verifier: Verifier,
  { model, check }: ExpectedModel,
): Promise<CheckedPage> {
  if (status !== 200) {
    // An Outway or Inway that refuses says why in a header too, with or without a body.
    const problem = describeProblem(body, headers['fsc-error-code']?.[0]);
    throw new RequesterError(`status ${status}: ${problem}`, { isTemporary: isTemporaryStatus(status) });
  }
  const verified = await verifier
    .verify({ digestHeader: headers.digest, signatureHeader: headers['nlgov-adr-payload-sig'], body })
    .catch((cause: unknown) => {
      if (!(cause instanceof JadesError)) throw cause;
      throw new RequesterError(`the answer is not signed as it should be: ${cause.message}`, { cause });
    });
  const value = parseJson(body);
  if (value === undefined) throw new RequesterError('the answer is not JSON');
  if (!isRecord(value) || !isRecord(value.gegevens)) throw new RequesterError('the answer has no `gegevens`');
  const unknown = Object.keys(value).filter((name) => name !== 'gegevens' && name !== 'paginering');
  if (unknown.length > 0) throw new RequesterError(`the answer has unknown members: ${unknown.join(', ')}`);
  const { gegevens } = value;
  if (!check.ok(gegevens)) {
    const shown = check
      .faults(gegevens)
      .slice(0, SHOWN_FAULTS)
      .map(({ instancePath, message }) => `  ${instancePath || '/'} ${message}`);
    const { versie } = model.mapping;
    const other = builtInVersions(model.variant)
      .toReversed()
      .find((version) => version !== versie && checkWhole(loadModel(model.variant, version)).ok(gegevens));
    const advice =
      other === undefined ? [] : [`it is a delivery of model ${other}: --model ${other} requests it as such`];
    throw new RequesterError([`\`gegevens\` does not fit the model ${versie}:`, ...shown, ...advice].join('\n'));
  }
  if (value.paginering !== undefined && !isPaginering(value.paginering)) {
    throw new RequesterError('`paginering` is not what the contract says');
  }
  return { gegevens, paginering: value.paginering, verified };
}

function isPaginering(value: unknown): value is Paginering {
  if (!isRecord(value)) return false;
  return PAGINERING.every((name) => {
    const number = value[name];
    return typeof number === 'number' && Number.isInteger(number) && number >= (name === 'totalRecords' ? 0 : 1);
  });
}

/** What a problem document or FSC error says. */
export function describeProblem(body: Buffer, code?: string): string {
  const value = parseJson(body);
  if (!isRecord(value)) return code ?? 'no explanation';
  const { title, detail, domain } = value;
  return [value.code ?? code ?? value.type, domain, title, detail]
    .filter((text) => typeof text === 'string')
    .join(' - ');
}
