/** Checks whether a record, as answered or printed, belongs to a proof. Needs no network and no database. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonObject } from '../lib/json/json-value.ts';
import { openDisclosure, type Parts } from './record.ts';
import { checkpointIn, FormatError, readOrReason, type VerifierKey } from './tlog/note.ts';
import { parseProof, type TrustedCheckpoint, verifyProof } from './tlog/proof-file.ts';

/** The last part of an origin names the log; from the second origin on, a number follows. */
const ORIGIN = /\/proof\/v1\/(verwerkingen|leveringen|raadsfeed)(?:\/[1-9][0-9]*)?$/;

const FURTHER = ['systeem', 'gebruiker', 'gegevensbron'];

/** The parts of a record, according to its log. @throws {FormatError} when it cannot be a record of that log */
export function partsOf(origin: string, record: unknown): Parts {
  if (!isRecord(record)) throw new FormatError('the record is not a JSON object');
  const log = ORIGIN.exec(origin)?.[1];
  if (log === 'leveringen') return { levering: record };
  if (log === 'raadsfeed') return { record: without(record, ['resourceUrl']) };
  if (log !== 'verwerkingen') throw new FormatError('the checkpoint is of a log whose records are unknown here');
  // The answer for a processed object contains its action, which contains that object again.
  if (isRecord(record.verwerkingsactie)) {
    const parts = actieParts(record.verwerkingsactie);
    const own = objectPart(without(record, ['verwerkingsactie']));
    for (const [name, part] of Object.entries(own)) {
      if (Object.hasOwn(parts, name) && !isDeepStrictEqual(parts[name], part))
        throw new FormatError('the processed object is not the one that its action has');
    }
    return { ...parts, ...own };
  }
  return actieParts(record);
}

function actieParts(actie: JsonObject): Parts {
  const { verwerkteObjecten = [] } = actie;
  if (!Array.isArray(verwerkteObjecten)) throw new FormatError('`verwerkteObjecten` is not a list');
  const further = FURTHER.filter((name) => Object.hasOwn(actie, name));
  return {
    basis: without(actie, ['url', 'verwerkteObjecten', ...FURTHER]),
    ...(further.length === 0 ? {} : { aanvullend: Object.fromEntries(further.map((name) => [name, actie[name]])) }),
    ...Object.assign({}, ...verwerkteObjecten.map(objectPart)),
  };
}

function objectPart(object: unknown): Parts {
  if (!isRecord(object) || typeof object.verwerktObjectId !== 'string')
    throw new FormatError('a processed object has no `verwerktObjectId`');
  return { [`object/${object.verwerktObjectId}`]: without(object, ['url']) };
}

function without(record: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

type CheckVerdict =
  | (TrustedCheckpoint & { readonly isProven: true; readonly hiddenParts: number })
  | { readonly isProven: false; readonly reason: string };

/** Checks a record with its proof. Never throws because of their content. @param keysFor trusted verifier keys of an origin */
export function checkRecord(
  proofText: string,
  record: unknown,
  keysFor: (origin: string) => readonly VerifierKey[],
): CheckVerdict {
  const proven = readOrReason(() => {
    const proof = parseProof(proofText);
    const { origin } = checkpointIn(proof.checkpoint);
    const { entry, hiddenParts } = openDisclosure(partsOf(origin, record), proof.extra);
    return { isProven: true as const, hiddenParts, ...verifyProof(proof, entry, keysFor(origin)) };
  });
  return typeof proven === 'string' ? { isProven: false, reason: proven } : proven;
}
