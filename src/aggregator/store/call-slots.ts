import { randomUUID } from 'node:crypto';
import type { Db } from '../../kernel/database/db.ts';
import type { Logger } from '../../kernel/log.ts';
import type { CallTurn, CallTurns } from '../notubiz/call-limiter.ts';

/** Seconds after which the turn of a process that died is another's. */
const TURN_SECONDS = 30;

/** The turns of a supplier, kept in the database. Times are the database's own. @see docs/decisions/0312-turns-at-a-supplier.md */
export function createCallTurns(db: Db, leverancier: string, log: Logger): CallTurns {
  const holder = randomUUID();
  let held = 0;
  const renewal = setInterval(
    () => {
      if (held === 0) return;
      renew(db, leverancier, holder).catch((error: unknown) =>
        log.warn({ err: error, supplier: leverancier }, 'turns at a supplier cannot be kept'),
      );
    },
    (TURN_SECONDS * 1000) / 3,
  ).unref();
  return {
    async take() {
      const { turn, rest } = await takeTurn(db, leverancier, holder);
      if (turn === null) return rest > 0 ? { kind: 'closed', wait: rest } : { kind: 'busy' };
      held += 1;
      const giveBack = async (): Promise<void> => {
        held -= 1;
        await freeTurn(db, { leverancier, turn, holder }).catch((error: unknown) =>
          log.warn({ err: error, supplier: leverancier }, 'a turn at a supplier cannot be given back'),
        );
      };
      return { kind: 'taken', giveBack } satisfies CallTurn;
    },
    closeFor: (wait) =>
      rest(db, leverancier, wait).catch((error: unknown) =>
        log.warn({ err: error, supplier: leverancier }, 'others cannot be told to leave a supplier alone'),
      ),
    close: () => clearInterval(renewal),
  };
}

/** @returns the turn that was taken, if any, and for how many milliseconds the supplier is to be left alone */
async function takeTurn(db: Db, leverancier: string, holder: string): Promise<{ turn: number | null; rest: number }> {
  const { rows } = await db.query<{ turn: number | null; rest: number }>({
    name: 'aggregator-take-turn',
    text: `with rust as (
             select extract(epoch from tot - now())::double precision * 1000 as ms
               from aggregator.leverancier_rust where leverancier = $1::text and tot > now()
           ), vrij as materialized (
             select beurt from aggregator.leverancier_beurt
              where leverancier = $1::text and (tot is null or tot < now()) and not exists (select from rust)
              order by beurt
              limit 1
                for update skip locked
           ), genomen as (
             update aggregator.leverancier_beurt b set houder = $2::text, tot = now() + make_interval(secs => $3::integer)
               from vrij
              where b.leverancier = $1::text and b.beurt = vrij.beurt
          returning b.beurt
           )
           select (select beurt from genomen) as turn, coalesce((select ms from rust), 0) as rest`,
    values: [leverancier, holder, TURN_SECONDS],
  });
  return rows[0] ?? { turn: null, rest: 0 };
}

async function freeTurn(
  db: Db,
  { leverancier, turn, holder }: { leverancier: string; turn: number; holder: string },
): Promise<void> {
  await db.query({
    name: 'aggregator-free-turn',
    text: `update aggregator.leverancier_beurt set houder = null, tot = null
            where leverancier = $1::text and beurt = $2::smallint and houder = $3::text`,
    values: [leverancier, turn, holder],
  });
}

async function renew(db: Db, leverancier: string, holder: string): Promise<void> {
  await db.query({
    name: 'aggregator-renew-turns',
    text: `update aggregator.leverancier_beurt set tot = now() + make_interval(secs => $3::integer)
            where leverancier = $1::text and houder = $2::text`,
    values: [leverancier, holder, TURN_SECONDS],
  });
}

async function rest(db: Db, leverancier: string, wait: number): Promise<void> {
  await db.query({
    name: 'aggregator-rest-supplier',
    text: `insert into aggregator.leverancier_rust as r (leverancier, tot)
           values ($1::text, now() + make_interval(secs => $2::double precision / 1000))
               on conflict (leverancier) do update set tot = greatest(r.tot, excluded.tot)`,
    values: [leverancier, wait],
  });
}
