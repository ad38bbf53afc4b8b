import type { Db } from '../../database/transaction.ts';
import type { ProofWriter, StoredProof } from '../../proof/proof-log.ts';
import { entryOf } from '../../proof/record.ts';
import { type IdentityKeys, provenRecord, reveal, type StoredVersie } from '../domain/encryption.ts';
import { proofRecordOf } from '../domain/proof-parts.ts';
import type { Versie } from '../domain/verwerkingsactie.ts';
import { listMonths } from './months.ts';
import { versionsOfMonth } from './versions.ts';

export async function proofNumbersOf(db: Db, actieIds: readonly string[]): Promise<number[]> {
  const { rows } = await db.query<{ number: number }>(
    'select proof_number as number from verwerkingenlog.versies where actie_id = any($1::uuid[]) and proof_number is not null',
    [actieIds],
  );
  return rows.map(({ number }) => number);
}

/** A proof as text, or why there is no proof: the action was deleted, its entry is older than the log, or in no published checkpoint yet. */
export type VersionProof = { readonly proof: string } | { readonly none: 'removed' | 'without-entry' | 'pending' };

/** The proof of a version for a reader who sees these parts of it. @param versie the stored version in clear, whole */
export async function proveVersion(
  db: Db,
  writer: ProofWriter | undefined,
  { stored, versie, shown }: { stored: StoredVersie; versie: Versie; shown: readonly string[] },
  keys: IdentityKeys,
): Promise<VersionProof> {
  if (stored.vervallen) return { none: 'removed' };
  if (writer === undefined || stored.bewijsNr === null) return { none: 'without-entry' };
  const proof = await writer.prove(db, {
    ...provenRecord(stored, versie, keys),
    number: stored.bewijsNr,
    shown: new Set(shown),
  });
  return proof === undefined ? { none: 'pending' } : { proof };
}

interface ProvenVersion {
  readonly versie: number;
  readonly parts: Readonly<Record<string, unknown>>;
  /** `null`: from before the log was switched on, or in no published checkpoint yet. */
  readonly bewijs: string | null;
}

/** Versions in clear with their proofs, all parts shown, for the operator of the log. */
export async function provenVersions(
  db: Db,
  writer: ProofWriter,
  versions: readonly StoredVersie[],
  keys: IdentityKeys,
): Promise<ProvenVersion[]> {
  const proven: ProvenVersion[] = [];
  for (const stored of versions) {
    const versie = await reveal(stored, keys);
    const { bewijsNr: number } = stored;
    const entry = number === null ? undefined : { number, ...provenRecord(stored, versie, keys) };
    const parts = Object.fromEntries((entry?.record ?? proofRecordOf(versie)).parts);
    const bewijs = entry && (await writer.prove(db, { ...entry, shown: new Set(Object.keys(parts)) }));
    proven.push({ versie: stored.versie, parts, bewijs: bewijs ?? null });
  }
  return proven;
}

export async function lastProven(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select max(tijdstip_registratie) as at from verwerkingenlog.versies where proof_number is not null',
  );
  return rows[0]?.at ?? undefined;
}

const BATCH = 500;

export async function* storedVersions(db: Db, keys: IdentityKeys): AsyncGenerator<StoredProof> {
  for (const month of await listMonths(db)) {
    for await (const versions of versionsOfMonth(db, month, BATCH))
      for (const stored of versions) yield await storedProof(stored, keys);
  }
}

async function storedProof(stored: StoredVersie, keys: IdentityKeys): Promise<StoredProof> {
  const { actieId, versie, bewijsNr } = stored;
  const name = `version ${versie} of ${actieId}`;
  const recordedAt = new Date(stored.tijdstipRegistratie);
  if (bewijsNr === null) {
    const fault = 'was recorded without an entry';
    return stored.seed === null ? { name, recordedAt, fault } : { name, fault };
  }
  try {
    const { record, seed } = provenRecord(stored, await reveal(stored, keys), keys);
    return { name, number: bewijsNr, entry: entryOf(seed, record) };
  } catch {
    return { name, number: bewijsNr, fault: 'its seed or its identifiers cannot be read' };
  }
}
