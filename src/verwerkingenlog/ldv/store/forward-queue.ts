/** Actions that wait to be forwarded to another logbook, and the differences between that logbook and this one. */
import type { Db } from '../../../database/transaction.ts';
import { traceHeaders } from '../../../lib/trace-context.ts';
import type { Config } from '../../../settings/config.ts';
import type { StoredVersie } from '../../domain/encryption.ts';
import type { NewVersion, QueueForward } from '../../store/append.ts';
import { fromRow, SELECT_VERSIE, type VersieRow } from '../../store/versions.ts';

/** Queues first versions, and notes later ones of forwarded actions. @returns undefined when nothing is forwarded */
export function createForwardQueue({
  forwardUrl,
  forwardConfidential,
}: Pick<Config['ldvOut'], 'forwardUrl' | 'forwardConfidential'>): QueueForward | undefined {
  if (forwardUrl === undefined) return undefined;
  return async (db, added) => {
    const isForwarded = ({ versie: { versie, vertrouwelijkheid } }: NewVersion): boolean =>
      versie === 1 && (forwardConfidential || vertrouwelijkheid === 'normaal');
    const first = added.filter(isForwarded);
    if (first.length > 0) await queueFirst(db, first);
    const later = added.map(({ versie }) => versie).filter(({ versie }) => versie > 1);
    if (later.length > 0) await noteLater(db, later, forwardConfidential);
  };
}

async function queueFirst(db: Db, added: readonly NewVersion[]): Promise<void> {
  const traces = added.map(({ trace }) => (trace === undefined ? {} : traceHeaders(trace)));
  await db.query({
    name: 'verwerkingenlog-forward-queue',
    text: `insert into verwerkingenlog.ldv_forward_queue (actie_id, traceparent, tracestate)
      select actie_id, traceparent, tracestate
      from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as a(actie_id, traceparent, tracestate, position)
      order by position`,
    values: [
      added.map(({ versie }) => versie.actieId),
      traces.map(({ traceparent }) => traceparent ?? null),
      traces.map(({ tracestate }) => tracestate ?? null),
    ],
  });
}

/** In two statements, because on Citus the log is distributed and the notes are not. */
async function noteLater(db: Db, later: readonly NewVersion['versie'][], isConfidentialToo: boolean): Promise<void> {
  const { rows } = await db.query<{ actieId: string }>({
    name: 'verwerkingenlog-forward-sent',
    text: `select actie_id as "actieId" from verwerkingenlog.versies
      where versie = 1 and actie_id = any($1::uuid[]) and ($2::boolean or vertrouwelijkheid = 'normaal')`,
    values: [later.map(({ actieId }) => actieId), isConfidentialToo],
  });
  const sent = new Set(rows.map(({ actieId }) => actieId));
  const noted = later.filter(({ actieId }) => sent.has(actieId));
  if (noted.length === 0) return;
  await db.query({
    name: 'verwerkingenlog-forward-note',
    text: `insert into verwerkingenlog.ldv_forward_issues (kind, actie_id, versie)
      select * from unnest($1::text[], $2::uuid[], $3::integer[])`,
    values: [
      noted.map(({ vervallen }) => (vervallen ? 'verwijdering' : 'wijziging')),
      noted.map(({ actieId }) => actieId),
      noted.map(({ versie }) => versie),
    ],
  });
}

/**
 * Makes this transaction the one that forwards until it ends; undefined while another does, nothing waits, or it is too early after a failure.
 * @param silenceMs after which the database ends the transaction @returns consecutive failures, of any process
 */
export async function beginForwarding(db: Db, silenceMs: number): Promise<{ failures: number } | undefined> {
  await db.query(`set local idle_in_transaction_session_timeout = ${silenceMs}`);
  const { rows } = await db.query<{ failures: number }>({
    name: 'verwerkingenlog-forward-turn',
    text: `select failures from verwerkingenlog.ldv_forward_state
      where coalesce(not_before <= clock_timestamp(), true) and exists (select from verwerkingenlog.ldv_forward_queue)
      for update skip locked`,
  });
  return rows[0];
}

/** Records a failure: no process tries again before the wait is over. */
export async function recordForwardFailure(db: Db, reason: string, waitMs: number): Promise<void> {
  await db.query({
    name: 'verwerkingenlog-forward-failure',
    text: `update verwerkingenlog.ldv_forward_state
      set failures = failures + 1, error = $1::text, error_since = coalesce(error_since, clock_timestamp()),
        not_before = clock_timestamp() + make_interval(secs => $2::double precision / 1000)`,
    values: [reason, waitMs],
  });
}

export interface QueuedActie extends ActieFacts {
  readonly position: number;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

interface ActieFacts {
  readonly actieId: string;
  /** How many lines it becomes, at most. */
  readonly spans: number;
  /** Whether it was deleted, or made confidential, since. */
  readonly vervallen: boolean;
  readonly vertrouwelijk: boolean;
}

export async function readForwardQueue(db: Db, limit: number): Promise<QueuedActie[]> {
  const { rows: queued } = await db.query<Omit<QueuedActie, keyof ActieFacts> & { actieId: string }>({
    name: 'verwerkingenlog-forward-read',
    text: `select position, actie_id as "actieId", traceparent, tracestate
      from verwerkingenlog.ldv_forward_queue order by position limit $1::integer`,
    values: [limit],
  });
  // Separate, because the queue stays on the coordinator when the log is distributed.
  const { rows: facts } = await db.query<ActieFacts & Record<string, unknown>>({
    name: 'verwerkingenlog-forward-facts',
    text: `
      select actie_id as "actieId", 1 + coalesce(max(json_array_length(objecten)) filter (where versie = 1), 0) as spans,
        (array_agg(vervallen order by versie desc))[1] as vervallen,
        (array_agg(vertrouwelijkheid order by versie desc))[1] = 'vertrouwelijk' as vertrouwelijk
      from verwerkingenlog.versies where actie_id = any($1::uuid[]) group by actie_id`,
    values: [queued.map(({ actieId }) => actieId)],
  });
  const known = new Map(facts.map((fact) => [fact.actieId, fact]));
  const removed = { spans: 1, vervallen: false, vertrouwelijk: false };
  return queued.map((one) => ({ ...removed, ...known.get(one.actieId), ...one }));
}

export async function readFirstVersies(db: Db, acties: readonly string[]): Promise<Map<string, StoredVersie>> {
  const { rows } = await db.query<VersieRow>({
    name: 'verwerkingenlog-forward-versies',
    text: `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
      where v.actie_id = any($1::uuid[]) and v.versie = 1`,
    values: [acties],
  });
  return new Map(rows.map((row) => [row.actieId, fromRow(row)]));
}

export const FORWARD_ISSUES = [
  'geweigerd',
  'wijziging',
  'verwijdering',
  'ingehouden',
  'verdwenen',
  'onleesbaar',
  'onverzendbaar',
] as const;
type ForwardIssueKind = (typeof FORWARD_ISSUES)[number];

export interface ForwardIssue {
  readonly soort: ForwardIssueKind;
  /** `null`: one or more of `acties`; the other logbook did not say which. */
  readonly actieId: string | null;
  readonly spanId?: string | undefined;
  readonly acties?: readonly string[] | undefined;
  readonly aantal?: number;
  readonly reden?: string | undefined;
}

/** Removes acknowledged actions from the queue, and stores their issues. */
export async function finishForwarding(
  db: Db,
  done: { readonly positions: readonly number[]; readonly sent: number; readonly issues: readonly ForwardIssue[] },
): Promise<void> {
  await db.query({
    name: 'verwerkingenlog-forward-finish',
    text: `update verwerkingenlog.ldv_forward_state
      set failures = 0, not_before = null, error = null, error_since = null, sent = sent + $1::bigint`,
    values: [done.sent],
  });
  await db.query({
    name: 'verwerkingenlog-forward-delete',
    text: 'delete from verwerkingenlog.ldv_forward_queue where position = any($1::bigint[])',
    values: [done.positions],
  });
  if (done.issues.length === 0) return;
  await db.query({
    name: 'verwerkingenlog-forward-issues',
    text: `insert into verwerkingenlog.ldv_forward_issues (kind, actie_id, span_id, actie_ids, line_count, reason)
      select soort, "actieId", "spanId", acties, coalesce(aantal, 1), reden from jsonb_to_recordset($1::jsonb)
        as i(soort text, "actieId" uuid, "spanId" text, acties uuid[], aantal integer, reden text)`,
    values: [JSON.stringify(done.issues)],
  });
}

interface ForwardState {
  readonly pending: number;
  readonly oldestSeconds: number;
  readonly sent: number;
  readonly failure: string | null;
  readonly failingSince: Date | null;
  readonly issues: Readonly<Record<string, number>>;
}

export async function readForwardState(db: Db): Promise<ForwardState> {
  const { rows } = await db.query<ForwardState & Record<string, unknown>>({
    name: 'verwerkingenlog-forward-state',
    text: `
      select (select count(*) from verwerkingenlog.ldv_forward_queue)::integer as pending,
        coalesce((select greatest(0, extract(epoch from clock_timestamp() - queued_at)) from verwerkingenlog.ldv_forward_queue
          order by position limit 1), 0)::double precision as "oldestSeconds",
        s.sent, s.error as failure, s.error_since as "failingSince",
        coalesce((select json_object_agg(kind, lines) from
          (select kind, sum(line_count)::integer as lines from verwerkingenlog.ldv_forward_issues group by kind) m), '{}') as issues
      from verwerkingenlog.ldv_forward_state s`,
  });
  const [row] = rows;
  if (row === undefined) throw new TypeError('the state of forwarding has no row');
  return row;
}

interface ListedIssue extends Required<Pick<ForwardIssue, 'soort' | 'actieId' | 'aantal'>>, Record<string, unknown> {
  readonly id: number;
  readonly op: Date;
  readonly versie: number | null;
  readonly spanId: string | null;
  readonly acties: string[] | null;
  readonly reden: string | null;
}

export async function listForwardIssues(db: Db, soort: string | undefined, limit: number): Promise<ListedIssue[]> {
  const { rows } = await db.query<ListedIssue>(
    `select id, noted_at as op, kind as soort, actie_id as "actieId", versie, span_id as "spanId", actie_ids as acties,
       line_count as aantal, reason as reden
     from verwerkingenlog.ldv_forward_issues
     where $1::text is null or kind = $1::text order by id desc limit $2::integer`,
    [soort ?? null, limit],
  );
  return rows;
}
